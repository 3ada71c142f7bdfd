/** When the next attempt may start. Pure: the caller brings the random number. */

/** How long an attempt waits after the one that failed; the actual delay is between half and the whole of it. */
export interface Backoff {
  /** Before the second attempt. */
  readonly firstMs: number;
  /** Each further attempt waits this many times longer. */
  readonly factor: number;
  /** It never waits longer. */
  readonly maxMs: number;
}

export const DEFAULT_BACKOFF: Backoff = { firstMs: 1_000, factor: 2, maxMs: 600_000 };

/**
 * `failures` is how many attempts have failed, at least 1; `random` is in [0, 1). Between half and the
 * whole of the exponential delay, so that tasks that failed together do not come back together.
 */
export function backoffMs(backoff: Backoff, failures: number, random: number): number {
  // A power beyond every number would make of a first delay of 0 not 0 but NaN.
  const growth = Math.min(Number.MAX_VALUE, backoff.factor ** (failures - 1));
  const whole = Math.min(backoff.maxMs, backoff.firstMs * growth);
  return Math.round(whole * (0.5 + random / 2));
}
