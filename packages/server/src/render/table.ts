/** Columns by spaces only, so that a table can be copied and grepped. */

import { stripVTControlCharacters } from "node:util";

const GAP = "  ";

export function renderTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  return alignColumns([header, ...rows]);
}

export function alignColumns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, widthOf(cell));
  }
  return rows.map((row) =>
    row
      .map((cell, index) => pad(cell, widths[index] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
}

function pad(cell: string, width: number): string {
  return cell + " ".repeat(Math.max(0, width - widthOf(cell)));
}

const GRAPHEMES = new Intl.Segmenter();
const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}]/u;

function widthOf(cell: string): number {
  const graphemes = [...GRAPHEMES.segment(stripVTControlCharacters(cell))];
  return graphemes.reduce((width, { segment }) => width + (WIDE.test(segment) ? 2 : 1), 0);
}
