/**
 * How far back the next claim looks. Rows of `ready` that were taken stay in its index until they are cleared away, and
 * somebody who leaves a transaction open keeps the server from that: each claim would pass over all of them. So one that
 * follows another which got all it wanted begins where that one did. Pure; a part of the claimer.
 */

/** What comes late, with a slow commit or back from somebody else's claim, and what stands behind in another queue waits for so long at most. */
const WHOLE_EVERY_MS = 250;
/** The database reads its clock later than we do ours. */
const LATENESS_MS = 250;

export class ClaimFront {
  /** When the oldest became AVAILABLE of those that the last one got; null: it did not get all it wanted. */
  #oldestAtMs: number | null = null;
  #wholeAtMs = Number.NEGATIVE_INFINITY;

  /** For a claim that is sent now: it looks at what became AVAILABLE within this time. Null: at everything. */
  withinMs(nowMs: number): number | null {
    if (this.#oldestAtMs === null || nowMs - this.#wholeAtMs >= WHOLE_EVERY_MS) return null;
    return nowMs - this.#oldestAtMs + LATENESS_MS;
  }

  /** What came of it. */
  got(sent: {
    readonly atMs: number;
    readonly withinMs: number | null;
    /** Of those it got, how long they had been AVAILABLE. */
    readonly availableMs: readonly number[];
    readonly isAll: boolean;
  }): void {
    if (sent.withinMs === null) this.#wholeAtMs = sent.atMs;
    this.#oldestAtMs = sent.isAll ? sent.atMs - Math.max(0, ...sent.availableMs) : null;
  }
}
