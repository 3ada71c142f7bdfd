/** How often a stream was lost of late, and how long to wait before it is opened again. Pure. */

const OFTEN = 3;
const WITHIN_MS = 30_000;
const REST_MS = [500, 1_000, 2_000, 5_000] as const;

export interface JudgedFailure {
  readonly failedAt: readonly number[];
  /** Tabs should poll meanwhile. */
  readonly often: boolean;
  /** Varied by the caller: not all browsers at the same moment, where a server has ended. */
  readonly restMs: number;
}

/** That it was open in between does not count: one that breaks again and again after its first word is no better. */
export function judgeFailure(failedAt: readonly number[], now: number): JudgedFailure {
  const lately = [...failedAt.filter((at) => now - at < WITHIN_MS), now];
  const restMs = REST_MS[Math.min(lately.length, REST_MS.length) - 1] ?? 0;
  return { failedAt: lately, often: lately.length >= OFTEN, restMs };
}
