/**
 * The ids of tasks that one statement inserts. It draws one for the tasks and one for their task runs, and the others are
 * counted on from these (ADR 0007). So the statement answers with the first ids of many.
 */

/** What comes before the part that is counted: time and version. */
export const HEAD_DIGITS = 16;
/** Eight digits are counted. Of them these bits are drawn; the variant stands before them, with room to count. */
export const DRAWN_BITS = 0x1fff_ffff;
export const VARIANT = 0x8000_0000;

/** Where it begins in an id as it is written, with its hyphens. */
const NUMBER = 19;
const TAIL = NUMBER + 9;

/** The one that comes so many after the first. */
export function idAfter(first: string, after: number): string {
  const number = Number.parseInt(first.slice(NUMBER, NUMBER + 4) + first.slice(NUMBER + 5, TAIL), 16) + after;
  const digits = number.toString(16);
  return `${first.slice(0, NUMBER)}${digits.slice(0, 4)}-${digits.slice(4)}${first.slice(TAIL)}`;
}
