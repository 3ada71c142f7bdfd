/** Keeps a line of a log one line, of bounded length and without what must not be seen there. */

// JSON escapes those below 0x20 by itself. The rest: DEL and C1, line and paragraph separators, marks of direction.
const UNSAFE = /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
const DATABASE_URL = /\b(postgres(?:ql)?:\/\/)[^\s"\\]+/gi;

/** Takes JSON, where an escape is the same text; the newline at its end stays. */
export function safeLine(json: string): string {
  return json
    .replaceAll(DATABASE_URL, "$1[hidden]")
    .replaceAll(UNSAFE, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** By what it takes of the line: an escape has six bytes where the text has one character. */
export function shortened(text: string, bytes: number): string {
  const sizeOf = (part: string): number => Buffer.byteLength(safeLine(JSON.stringify(part)));
  let kept = text.slice(0, bytes);
  for (let size = sizeOf(kept); size > bytes; size = sizeOf(kept)) {
    kept = kept.slice(0, Math.floor((kept.length * bytes) / size));
  }
  return kept.length === text.length ? text : `${kept}…`;
}
