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

/** Two digits of each byte. To write a number of 32 bits in digits takes as long as all else about an id. */
const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Answers the one that comes so many after the first. */
export function idsAfter(first: string): (after: number) => string {
  const start = Number.parseInt(first.slice(NUMBER, NUMBER + 4) + first.slice(NUMBER + 5, TAIL), 16);
  const head = first.slice(0, NUMBER);
  const tail = first.slice(TAIL);
  return (after) => {
    const number = start + after;
    return `${head}${digits(number >>> 24)}${digits(number >>> 16)}-${digits(number >>> 8)}${digits(number)}${tail}`;
  };
}

function digits(number: number): string {
  return DIGITS[number & 0xff] ?? "";
}
