/** Makes lines out of what was printed, as it comes. Pure: the lines so far go in, the lines with the new ones come out. */

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
}

/** A line that never ends must not grow without end. */
const LINE_CHARACTERS = 20_000;
const bytes = new TextEncoder();

export function addEntries(lines: readonly LogLine[], entries: readonly LogEntry[]): readonly LogLine[] {
  const all = [...lines];
  for (const entry of entries) addEntry(all, entry);
  return all;
}

function addEntry(all: LogLine[], entry: LogEntry): void {
  const { stream, at, leftOutBytes } = entry;
  const parts = entry.text.split("\n");
  let offset = entry.offset;
  parts.forEach((part, index) => {
    const open = index === parts.length - 1;
    const last = all.at(-1);
    const continues = index === 0 && leftOutBytes === 0 && last?.open === true && last.stream === stream;
    if (continues && last.text.length < LINE_CHARACTERS)
      all[all.length - 1] = { ...last, text: last.text + part, open };
    else if (!open || part !== "") {
      all.push({ stream, at, offset, text: part, open, leftOutBytes: index === 0 ? leftOutBytes : 0 });
    }
    offset += bytes.encode(part).length + 1;
  });
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

const ERROR = /\b(?:error|fatal|panic|exception)\b/i;

/** Where somebody who asks why it failed wants to begin to read. */
export function firstError(lines: readonly LogLine[]): number | null {
  const spoken = lines.findIndex(({ text }) => ERROR.test(text));
  const found = spoken >= 0 ? spoken : lines.findIndex(({ stream }) => stream === "stderr");
  return found < 0 ? null : found;
}
