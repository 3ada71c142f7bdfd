/** Makes lines out of what was printed, as it comes. */

import type { LogEntry } from "@signalbox/contract";

export interface LogLine {
  readonly stream: LogEntry["stream"];
  /** Where it begins, in bytes as they were printed. */
  readonly offset: number;
  readonly at: string;
  readonly text: string;
  /** Its end has not come yet. */
  readonly open: boolean;
  /** Bytes before it that were printed and are not kept. */
  readonly leftOutBytes: number;
  /** From 1; null behind what was left out: nobody knows how many lines that had. */
  readonly number: number | null;
}

/** A line that never ends must not grow without end. */
const LINE_CHARACTERS = 20_000;
const bytes = new TextEncoder();

/** Adds to the given lines in place: a log has up to hundreds of thousands, and comes in many parts. */
export function addEntry(lines: LogLine[], entry: LogEntry): void {
  const { stream, at, leftOutBytes } = entry;
  const parts = entry.text.split("\n");
  let offset = entry.offset;
  parts.forEach((part, index) => {
    const open = index === parts.length - 1;
    const last = lines.at(-1);
    const continues = index === 0 && leftOutBytes === 0 && last?.open === true && last.stream === stream;
    if (continues && last.text.length < LINE_CHARACTERS)
      lines[lines.length - 1] = { ...last, text: lastState(last.text + part), open };
    else if (!open || part !== "") {
      const leftOut = index === 0 ? leftOutBytes : 0;
      const number = numberAfter(last, leftOut);
      lines.push({ stream, at, offset, text: lastState(part), open, leftOutBytes: leftOut, number });
    }
    offset += byteLength(part) + 1;
  });
}

/** A carriage return begins a line anew: of a progress bar its last state is left, however often it moved. */
function lastState(text: string): string {
  const ended = text.replace(/\r+$/, "");
  const from = ended.lastIndexOf("\r") + 1;
  return from === 0 ? text : text.slice(from);
}

function numberAfter(last: LogLine | undefined, leftOutBytes: number): number | null {
  if (leftOutBytes > 0) return null;
  return last === undefined ? 1 : last.number === null ? null : last.number + 1;
}

/** Most text has none, and to encode each line costs more than all the rest. */
const LONGER_THAN_A_BYTE = /[\u0080-\uffff]/;

function byteLength(text: string): number {
  return LONGER_THAN_A_BYTE.test(text) ? bytes.encode(text).length : text.length;
}

/** The line in which a byte lies: the last one that does not begin behind it. */
export function lineAt(lines: readonly LogLine[], offset: number): number {
  let [low, high] = [0, lines.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((lines[middle]?.offset ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}

/** The letter at the end of a colour is none of the word behind it. */
const COLOUR = `${String.fromCharCode(27)}\\[[\\d;]*m`;
const ERROR = new RegExp(`(?:\\b|${COLOUR})(?:error|fatal|panic|exception)\\b`, "i");

/** Where somebody who asks why it failed wants to begin to read. */
export function firstError(lines: readonly LogLine[]): number | null {
  const spoken = lines.findIndex(({ text }) => ERROR.test(text));
  const found = spoken >= 0 ? spoken : lines.findIndex(({ stream }) => stream === "stderr");
  return found < 0 ? null : found;
}

/** The line that an address names, by its number or by a byte in it. Null: it names none. */
export function linkedLine(lines: readonly LogLine[], hash: string): number | null {
  const number = /^#L(\d{1,9})$/.exec(hash)?.[1];
  if (number !== undefined) {
    const index = Number(number) - 1;
    return lines[index]?.number === index + 1 ? index : null;
  }
  const offset = /^#o(\d{1,15})$/.exec(hash)?.[1];
  return offset === undefined ? null : lineAt(lines, Number(offset));
}

/** What links to it: its number, or where that is not known the byte at which it begins. */
export function linkTo({ number, offset }: LogLine): string {
  return number === null ? `#o${offset}` : `#L${number}`;
}
