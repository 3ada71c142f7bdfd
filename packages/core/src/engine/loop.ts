/** The one loop there is; everything else is a pass. Wakes at once, loses no wake-up, survives a throw. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { monotonicMs } from "../executors/monotonic.ts";

export interface LoopOptions {
  readonly name: string;
  /** Upper bound on the rest between two passes. */
  readonly intervalMs: number;
  readonly pass: () => Promise<"rest" | { readonly againInMs: number }>;
  readonly onPassed: (loop: string, tookMs: number) => void;
  readonly onError: (error: unknown, loop: string) => void;
}

export interface Loop {
  /** The first pass is made at once, or after a rest. */
  start: (restMs?: number) => void;
  wake: () => void;
  /** Resolves when the pass that is under way has ended; none begins after it. */
  stop: () => Promise<void>;
}

/** After a throw, and twice as long after each one more: a database that is down or comes up is not hammered by all. */
const AFTER_ERROR_MS = 250;
const AFTER_ERRORS_MS = 5_000;

export function createLoop({ name, intervalMs, pass, onPassed, onError }: LoopOptions): Loop {
  let running: Promise<void> | null = null;
  let stopping = false;
  let woken = false;
  let endRest: (() => void) | null = null;
  let failures = 0;

  const rest = async (ms: number): Promise<void> => {
    if (woken || stopping) return;
    // A timer of nothing takes a millisecond.
    if (ms <= 0) return await nextTurn();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      endRest = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    endRest = null;
  };

  const run = async (restMs: number): Promise<void> => {
    if (restMs > 0) await rest(restMs);
    while (!stopping) {
      woken = false;
      try {
        const begunAtMs = monotonicMs();
        const result = await pass();
        failures = 0;
        onPassed(name, monotonicMs() - begunAtMs);
        // Jitter keeps instances that were deployed together from polling together.
        await rest(
          result === "rest"
            ? intervalMs * (0.8 + Math.random() * 0.4)
            : Math.min(result.againInMs, intervalMs),
        );
      } catch (error) {
        onError(error, name);
        woken = false;
        failures += 1;
        const most = Math.min(AFTER_ERROR_MS * 2 ** failures, AFTER_ERRORS_MS, intervalMs);
        await rest(most * (0.5 + Math.random() * 0.5));
      }
    }
  };

  return {
    start: (restMs = 0) => {
      stopping = false;
      running ??= run(restMs);
    },
    wake: () => {
      woken = true;
      endRest?.();
      // Once is enough: whoever wakes it often in one turn of the event loop does so for every task.
      endRest = null;
    },
    stop: async () => {
      stopping = true;
      endRest?.();
      await running;
      running = null;
    },
  };
}

/** Several that are started, woken and stopped as one. */
export function inParallel(loops: readonly Loop[]): Loop {
  return {
    start: (restMs) => {
      for (const loop of loops) loop.start(restMs);
    },
    wake: () => {
      for (const loop of loops) loop.wake();
    },
    stop: async () => {
      await Promise.all(loops.map(async (loop) => await loop.stop()));
    },
  };
}
