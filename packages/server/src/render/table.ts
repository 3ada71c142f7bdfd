/** Columns by spaces only, so that a table can be copied and grepped. */

import { stripVTControlCharacters } from "node:util";

const GAP = "  ";

/** One column of a list: its name in lower case is also how it is asked for. */
export interface Column<Row> {
  readonly name: string;
  readonly text: (row: Row) => string;
  /** Only where there is room for it, or by name. */
  readonly wide?: true;
}

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

/** How many columns of a terminal it takes. */
export function widthOf(cell: string): number {
  return graphemesOf(stripVTControlCharacters(cell)).reduce(
    (width, grapheme) => width + widthOfGrapheme(grapheme),
    0,
  );
}

export function graphemesOf(text: string): readonly string[] {
  return [...GRAPHEMES.segment(text)].map(({ segment }) => segment);
}

export function widthOfGrapheme(grapheme: string): number {
  return WIDE.test(grapheme) ? 2 : 1;
}
