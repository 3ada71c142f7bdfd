/** When the warden must do what to a process group. Pure: the warden's clock and its groups come as arguments. */

import type { LeaseBeat } from "./warden-messages.ts";

/** Without a good beat for this part of the lease the group gets TERM … */
const TERM_PART = 0.75;
/** … and after this part KILL: before anybody else may begin the same work. */
const KILL_PART = 0.916;

export interface WatchedGroup {
  readonly graceMs: number;
  readonly termSentAtMs: number | null;
  readonly killSent: boolean;
}

export interface NextAct {
  readonly act: "term" | "kill" | null;
  /** Monotonic time of the next act; null: there is none. */
  readonly atMs: number | null;
}

export function nextAct(group: WatchedGroup, lease: LeaseBeat, nowMs: number): NextAct {
  if (group.killSent) return { act: null, atMs: null };
  const killAtMs = lease.renewedAtMs + lease.leaseMs * KILL_PART;
  if (group.termSentAtMs === null) {
    const termAtMs = lease.renewedAtMs + lease.leaseMs * TERM_PART;
    return nowMs >= termAtMs ? { act: "term", atMs: nowMs } : { act: null, atMs: termAtMs };
  }
  const atMs = Math.min(group.termSentAtMs + group.graceMs, killAtMs);
  return nowMs >= atMs ? { act: "kill", atMs } : { act: null, atMs };
}

/** A start that was asked for while the lease still held, and read when it did not. */
export function isTooLate(lease: LeaseBeat, nowMs: number): boolean {
  return nowMs >= lease.renewedAtMs + lease.leaseMs * TERM_PART;
}
