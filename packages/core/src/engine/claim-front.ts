/**
 * Where the next claim begins to look. Rows of `ready` that were taken stay in its index until they are cleared away, and
 * somebody who leaves a transaction open keeps the server from that: each claim would pass over all of them. So one that
 * follows another which got all it wanted begins in each queue where that one did. A part of the claimer, without I/O.
 */

import { LAST_PRIORITY } from "../domain/task-spec.ts";
import type { Offer, ReadyFront } from "../store/task-runs/claim.ts";

/** What comes late with a slow commit, is given back by somebody else, or is the first in its queue waits for so long at most. */
const WHOLE_EVERY_MS = 250;

export class ClaimFront {
  #fronts: readonly ReadyFront[] | null = null;
  #wholeAtMs = Number.NEGATIVE_INFINITY;
  #isBounded = false;

  /** The last claim did not look at everything. Said once. */
  wasBounded(): boolean {
    const was = this.#isBounded;
    this.#isBounded = false;
    return was;
  }

  /** For a claim that is sent now. Null: it looks at everything. */
  next(nowMs: number): readonly ReadyFront[] | null {
    const fronts = nowMs - this.#wholeAtMs < WHOLE_EVERY_MS ? this.#fronts : null;
    this.#fronts = null;
    this.#isBounded = fronts !== null;
    if (fronts === null) this.#wholeAtMs = nowMs;
    return fronts;
  }

  /** What came of it: what it could have taken, and that it got all it wanted. */
  gotAll(offers: readonly Offer[], wanted: number): void {
    // Behind a front that had too few, those with later priorities are next: the next claim must see them.
    if (offers.some(({ count, upTo }) => count < wanted && upTo < LAST_PRIORITY)) return;
    this.#fronts = offers.map(({ kind, queue, since, count, lastPriority }) => ({
      kind,
      queue,
      since,
      // Whoever has a later priority may be older than those that are offered now, and comes after them nevertheless.
      upTo: count < wanted || lastPriority === null ? LAST_PRIORITY : lastPriority,
    }));
  }
}
