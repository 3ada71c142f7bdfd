/** Tasks that go on for as long as a test wants. */

import { defineTask } from "@signalbox/core";

const ends = new Map<string, () => void>();

/** Runs until `finish` is called with its name; ends at once without one. */
const steered = defineTask({
  kind: "steered",
  run: async (input, { signal, log }) => {
    log("\u001b[32mbegun\u001b[0m");
    const until = untilOf(input);
    if (until === null) return { ended: "at once" };
    await new Promise<void>((resolve, reject) => {
      ends.set(until, resolve);
      signal.addEventListener("abort", () => reject(signal.reason));
    });
    log("finished");
    return { ended: until };
  },
});

const failing = defineTask({
  kind: "failing",
  run: (_, { log }) => {
    log("connecting\n\u001b[31mERROR: deadlock detected\u001b[0m\nsecond line\n");
    throw new Error("deadlock detected");
  },
});

const printers = new Map<string, (text: string) => void>();

/** Prints so many lines and fails; with a name it goes on, and `print` says what it prints. */
const printing = defineTask({
  kind: "printing",
  run: async (input, { signal, log }) => {
    const { lines, until } = input as { readonly lines: number; readonly until?: string };
    for (const block of blocksOf(lines)) log(Buffer.from(block));
    if (until === undefined) throw new Error("disk full");
    printers.set(until, (text) => log(Buffer.from(text)));
    await new Promise<void>((resolve, reject) => {
      ends.set(until, resolve);
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  },
});

export const STEERED_TASKS = [steered, failing, printing] as const;

/** Where a long log has what is looked for in it. */
export const LOG_MARKS = { errorAt: 0.75, needleEvery: 150, colourEvery: 7, progressLine: 11 } as const;

/** Lines as short as can be told apart: so many of longer ones would not be kept. */
function* blocksOf(lines: number): Generator<string> {
  let block = "";
  for (let number = 1; number <= lines; number += 1) {
    block += `${lineOf(number, lines)}\n`;
    if (number % 1_000 !== 0 && number !== lines) continue;
    yield block;
    block = "";
  }
}

function lineOf(number: number, lines: number): string {
  if (number === Math.floor(lines * LOG_MARKS.errorAt)) return "\u001b[31mERROR: disk full\u001b[0m";
  if (number === LOG_MARKS.progressLine) {
    return Array.from({ length: 101 }, (_, percent) => `${percent} %`).join("\r");
  }
  const text = number.toString(36);
  if (number % LOG_MARKS.needleEvery === 0) return `${text} needle`;
  return number <= 200 && number % LOG_MARKS.colourEvery === 0
    ? `\u001b[${31 + (number % 6)}m${text}\u001b[0m`
    : text;
}

export function print(until: string, text: string): void {
  const printer = printers.get(until);
  if (printer === undefined) throw new Error(`Nothing prints as ${until}`);
  printer(text);
}

export function finish(until: string): void {
  ends.get(until)?.();
  ends.delete(until);
}

function untilOf(input: unknown): string | null {
  const named = typeof input === "object" && input !== null && "until" in input;
  return named ? String(input.until) : null;
}
