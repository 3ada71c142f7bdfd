/**
 * When a pass also looks for what nothing has woken: all that waits, a bite at a time, and what came under older rules. A part of
 * the promoter, without I/O.
 */

import type { TaskRunId } from "../domain/ids.ts";

/** How often the whole of what waits is looked at again, as a net under wakes that were lost by a bug. */
const SWEEP_MS = 30_000;
/** Between two bites at least, however many passes there are meanwhile. */
const LEAST_REST_MS = 100;
/** And so many times as long as the last one took: beside a long backlog the net may take a twentieth of an instance's time. */
const RESTS_PER_BITE = 19;
/** But no longer: that it took long may be the fault of what else the pass had to wait for. */
const MOST_REST_MS = 1_000;

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

  /** One that throws is not taken again with the next pass: what was woken must not wait for the net to be mended. */
  next(nowMs: number): Looks {
    // What came with a late transaction under older rules has told nobody: no wake was written for it.
    const sweeps = nowMs >= this.#nextBiteAtMs;
    const straysToo = sweeps || nowMs >= this.#nextStraysAtMs;
    if (straysToo) this.#nextStraysAtMs = nowMs + this.#straysEveryMs;
    if (!sweeps) return { straysToo };
    this.#bittenAtMs = nowMs;
    this.#nextBiteAtMs = nowMs + SWEEP_MS;
    return { sweepAfter: this.#sweptTo, straysToo };
  }

  /** Somebody else had the lock: nothing was looked at. */
  missed(looks: Looks, nowMs: number): void {
    if (looks.straysToo) this.#nextStraysAtMs = nowMs;
    if (looks.sweepAfter !== undefined) this.#nextBiteAtMs = nowMs;
  }

  passed(looks: Looks, { straysLeft, sweptTo, sweepOver }: Found, nowMs: number): void {
    if (looks.straysToo) this.#nextStraysAtMs = nowMs + (straysLeft ? 0 : this.#straysEveryMs);
    if (looks.sweepAfter === undefined) return;
    this.#sweptTo = sweptTo;
    this.#isUnderWay = !sweepOver;
    const restMs = Math.max(LEAST_REST_MS, RESTS_PER_BITE * (nowMs - this.#bittenAtMs));
    this.#nextBiteAtMs = nowMs + (sweepOver ? SWEEP_MS : Math.min(MOST_REST_MS, restMs));
  }

  /** When the next pass is due where nobody wakes it. `nextDueMs`: when time alone opens a gate. Null: there is no hurry. */
  againInMs(nextDueMs: number | null, nowMs: number): number | null {
    const nextBiteMs = this.#isUnderWay ? Math.max(0, this.#nextBiteAtMs - nowMs) : null;
    if (nextDueMs === null) return nextBiteMs;
    return nextBiteMs === null ? nextDueMs : Math.min(nextDueMs, nextBiteMs);
  }
}
