import { setTimeout as wait } from "node:timers/promises";

export interface UntilOptions {
  /** Far above what is expected: it ends a test that would never end, it measures nothing. */
  readonly withinMs: number;
  readonly everyMs?: number;
  /** Said when time is up: what there was to see instead. */
  readonly instead?: () => Promise<string> | string;
}

/** Looks until there is something to see, and answers it. `null` and `false` mean: not yet. */
export async function until<Seen>(
  what: string,
  look: () => Promise<Seen | null | false> | Seen | null | false,
  { withinMs, everyMs = 50, instead }: UntilOptions,
): Promise<Seen> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const seen = await look();
    if (seen !== null && seen !== false) return seen;
    if (performance.now() >= deadline) {
      const found = instead === undefined ? "" : `; instead: ${await instead()}`;
      throw new Error(`Not within ${withinMs / 1000} s: ${what}${found}`);
    }
    await wait(everyMs);
  }
}
