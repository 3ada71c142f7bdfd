/**
 * Watches over this process: whether its event loop gets to its work, and how many executions ignore that
 * they were told to stop. Both are told when they change.
 */

import { monotonicMs } from "../executors/monotonic.ts";
import type { Emit } from "./telemetry.ts";

export interface SelfWatchOptions {
  readonly slots: number;
  /** How many slots are stuck just now. */
  readonly countStuck: () => number;
  readonly emit: Emit;
  /** Default: a second. */
  readonly lagLimitMs?: number;
}

export interface SelfWatch {
  /** Whether the event loop was kept busy for too long, and has not been free for as long since. */
  readonly isLagging: () => boolean;
  readonly start: () => void;
  readonly stop: () => void;
}

const LAG_LIMIT_MS = 1_000;
/**
 * A timer of our own: `monitorEventLoopDelay` forgets its last sample when it is reset, so that it does not see
 * what begins right after, and without a reset its maximum never comes down.
 */
const TICK_MS = 50;

export function createSelfWatch(options: SelfWatchOptions): SelfWatch {
  const { slots, countStuck, emit, lagLimitMs = LAG_LIMIT_MS } = options;
  let timer: NodeJS.Timeout | null = null;
  let tickedAtMs = 0;
  let laggedAtMs: number | null = null;
  let stuckBefore = 0;

  const judgeLag = (lagMs: number, nowMs: number): void => {
    if (lagMs > lagLimitMs) {
      laggedAtMs = nowMs;
      emit({ type: "event_loop.lagged", lagMs });
    } else if (laggedAtMs !== null && nowMs - laggedAtMs >= lagLimitMs) {
      laggedAtMs = null;
      emit({ type: "event_loop.recovered" });
    }
  };
  const tick = (): void => {
    const nowMs = monotonicMs();
    judgeLag(nowMs - tickedAtMs - TICK_MS, nowMs);
    tickedAtMs = nowMs;
    const stuck = countStuck();
    if (stuck !== stuckBefore) emit({ type: "slots.stuck", stuck, slots });
    stuckBefore = stuck;
  };
  return {
    isLagging: () => laggedAtMs !== null,
    start: () => {
      tickedAtMs = monotonicMs();
      // The loops keep the process alive, this does not.
      timer ??= setInterval(tick, TICK_MS).unref();
    },
    stop: () => {
      if (timer !== null) clearInterval(timer);
      timer = null;
    },
  };
}
