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

export const STEERED_TASKS = [steered, failing] as const;

export function finish(until: string): void {
  ends.get(until)?.();
  ends.delete(until);
}

function untilOf(input: unknown): string | null {
  const named = typeof input === "object" && input !== null && "until" in input;
  return named ? String(input.until) : null;
}
