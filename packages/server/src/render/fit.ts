/** Makes lines fit a terminal. Pure. */

import { COLOR, RESET } from "./escape.ts";
import { graphemesOf, widthOf, widthOfGrapheme } from "./table.ts";

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** Cut where it would wrap. Colours do not count, and do not leak out of a line that was cut. */
export function fitLine(line: string, columns: number, ellipsis: string): string {
  if (widthOf(line) <= columns) return line;
  let left = columns - widthOf(ellipsis);
  let fitted = "";
  for (const [index, part] of line.split(COLOR).entries()) {
    // The odd ones are the colours.
    const pieces = index % 2 === 0 ? graphemesOf(part) : [];
    fitted += index % 2 === 0 ? "" : part;
    for (const grapheme of pieces) {
      left -= widthOfGrapheme(grapheme);
      if (left < 0) return `${fitted}${ellipsis}${index === 0 ? "" : RESET}`;
      fitted += grapheme;
    }
  }
  return fitted;
}

/** As many as there is room for, and how many are not shown. The last line is left to the cursor. */
export function fitLines(
  lines: readonly string[],
  { columns, rows }: Size,
  unicode: boolean,
): readonly string[] {
  const ellipsis = unicode ? "…" : "...";
  const room = Math.max(1, rows - 1);
  const shown =
    lines.length <= room
      ? lines
      : [...lines.slice(0, room - 1), `${ellipsis} ${lines.length - room + 1} more lines`];
  return shown.map((line) => fitLine(line, Math.max(1, columns - 1), ellipsis));
}
