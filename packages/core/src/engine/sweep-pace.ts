/**
 * When a pass also looks for what nothing has woken: all that waits, a bite at a time, and what came under older rules. A part of
 * the promoter, without I/O.
 */

import type { TaskRunId } from "../domain/ids.ts";
import type { PromoteRequest, PromotionPass } from "./promoter.ts";

/** How often the whole of what waits is looked at again, as a net under wakes that were lost by a bug. */
const SWEEP_MS = 30_000;
/** Between two bites, however many passes there are meanwhile: a long backlog does not slow what was woken. */
const BITE_MS = 100;

export type Looks = Pick<PromoteRequest, "sweepAfter" | "straysToo">;
type Found = Pick<Extract<PromotionPass, { kind: "passed" }>, "straysLeft" | "sweptTo" | "sweepOver">;

export class SweepPace {
  readonly #straysEveryMs: number;
  #sweptTo: TaskRunId | null = null;
  #isUnderWay = false;
  #nextBiteAtMs: number;
  #nextStraysAtMs: number;

  constructor(straysEveryMs: number, nowMs: number) {
    this.#straysEveryMs = straysEveryMs;
    this.#nextBiteAtMs = nowMs + SWEEP_MS;
    this.#nextStraysAtMs = nowMs;
  }

  next(nowMs: number): Looks {
    if (nowMs >= this.#nextBiteAtMs) return { sweepAfter: this.#sweptTo, straysToo: true };
    // What came with a late transaction under older rules has told nobody: no wake was written for it.
    return { straysToo: nowMs >= this.#nextStraysAtMs };
  }

  passed(looks: Looks, { straysLeft, sweptTo, sweepOver }: Found, nowMs: number): void {
    if (looks.straysToo === true) this.#nextStraysAtMs = nowMs + (straysLeft ? 0 : this.#straysEveryMs);
    if (looks.sweepAfter === undefined) return;
    this.#sweptTo = sweptTo;
    this.#isUnderWay = !sweepOver;
    this.#nextBiteAtMs = nowMs + (sweepOver ? SWEEP_MS : BITE_MS);
  }

  /** Null: no sweep is under way. */
  nextBiteInMs(nowMs: number): number | null {
    return this.#isUnderWay ? Math.max(0, this.#nextBiteAtMs - nowMs) : null;
  }
}
