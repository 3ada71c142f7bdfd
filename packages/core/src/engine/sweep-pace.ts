/**
 * When a pass also looks for what nothing has woken: all that waits, a bite at a time, and what came under older rules. A part of
 * the promoter, without I/O.
 */

import type { TaskRunId } from "../domain/ids.ts";

/** How often the whole of what waits is looked at again, as a net under wakes that were lost by a bug. */
const SWEEP_MS = 30_000;
/** Between two bites at least, however many passes there are meanwhile. */
const REST_MS = 100;
/** And so many times as long as the last one took: beside a long backlog the net may take a twentieth of the time, not a fifth. */
const RESTS_PER_BITE = 19;

/** What a pass is to look at besides, as its request says it. */
interface Looks {
  readonly sweepAfter?: TaskRunId | null;
  readonly straysToo: boolean;
}

/** What came of these, as a pass answers it. */
interface Found {
  readonly straysLeft: boolean;
  readonly sweptTo: TaskRunId | null;
  readonly sweepOver: boolean;
}

export class SweepPace {
  readonly #straysEveryMs: number;
  #sweptTo: TaskRunId | null = null;
  #isUnderWay = false;
  #bittenAtMs = 0;
  #nextBiteAtMs: number;
  #nextStraysAtMs: number;

  constructor(straysEveryMs: number, nowMs: number) {
    this.#straysEveryMs = straysEveryMs;
    this.#nextBiteAtMs = nowMs + SWEEP_MS;
    this.#nextStraysAtMs = nowMs;
  }

  next(nowMs: number): Looks {
    if (nowMs >= this.#nextBiteAtMs) {
      this.#bittenAtMs = nowMs;
      return { sweepAfter: this.#sweptTo, straysToo: true };
    }
    // What came with a late transaction under older rules has told nobody: no wake was written for it.
    return { straysToo: nowMs >= this.#nextStraysAtMs };
  }

  passed(looks: Looks, { straysLeft, sweptTo, sweepOver }: Found, nowMs: number): void {
    if (looks.straysToo) this.#nextStraysAtMs = nowMs + (straysLeft ? 0 : this.#straysEveryMs);
    if (looks.sweepAfter === undefined) return;
    this.#sweptTo = sweptTo;
    this.#isUnderWay = !sweepOver;
    const restMs = Math.max(REST_MS, RESTS_PER_BITE * (nowMs - this.#bittenAtMs));
    this.#nextBiteAtMs = nowMs + (sweepOver ? SWEEP_MS : restMs);
  }

  /** Null: no sweep is under way. */
  nextBiteInMs(nowMs: number): number | null {
    return this.#isUnderWay ? Math.max(0, this.#nextBiteAtMs - nowMs) : null;
  }
}
