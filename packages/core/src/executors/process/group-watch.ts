/** When the warden must do what to a process group. Pure: the warden's clock and its groups come as arguments. */

import type { LeaseBeat, WardenCause } from "./warden-messages.ts";

/** Without a good beat for this part of the lease the group gets TERM … */
const TERM_PART = 0.75;
/** … and after this part KILL: before anybody else may begin the same work. */
const KILL_PART = 0.916;

export interface WatchedGroup {
  readonly graceMs: number;
  /** Monotonic time at which it has run for too long; Infinity: never. */
  readonly deadlineAtMs: number;
  /** From then to KILL, at most: whoever told it to end before may have given it more. */
  readonly deadlineGraceMs: number;
  readonly termSentAtMs: number | null;
  readonly killSent: boolean;
}

export type NextAct =
  | { readonly act: "term"; readonly because: WardenCause }
  | { readonly act: "kill" }
  /** Monotonic time of the next act; null: there is none. */
  | { readonly act: null; readonly atMs: number | null };

export function nextAct(group: WatchedGroup, lease: LeaseBeat, nowMs: number): NextAct {
  if (group.killSent) return { act: null, atMs: null };
  const killAtMs = lease.renewedAtMs + lease.leaseMs * KILL_PART;
  if (group.termSentAtMs === null) {
    const termAtMs = lease.renewedAtMs + lease.leaseMs * TERM_PART;
    // The lease goes first: without it nobody may say any more that it ran for too long.
    if (nowMs >= termAtMs) return { act: "term", because: "lease" };
    if (nowMs >= group.deadlineAtMs) return { act: "term", because: "run_timeout" };
    return { act: null, atMs: Math.min(termAtMs, group.deadlineAtMs) };
  }
  const lateKillAtMs = Math.max(group.termSentAtMs, group.deadlineAtMs) + group.deadlineGraceMs;
  const atMs = Math.min(group.termSentAtMs + group.graceMs, lateKillAtMs, killAtMs);
  return nowMs >= atMs ? { act: "kill" } : { act: null, atMs };
}

/** A start that was asked for while the lease still held, and read when it did not. */
export function isTooLate(lease: LeaseBeat, nowMs: number): boolean {
  return nowMs >= lease.renewedAtMs + lease.leaseMs * TERM_PART;
}
