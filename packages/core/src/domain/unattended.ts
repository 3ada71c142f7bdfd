/**
 * Why nobody is at work on a task run that no gate holds: AVAILABLE and not claimed, let go and not polled, RUNNING on an
 * instance that is lost, or missing where it would be found. Pure: the store gives the facts.
 */

import type { QueueName } from "./scope.ts";

/** One code per case, each with what is known about it. */
export type UnattendedCause =
  /** AVAILABLE, and there are free slots: the next claim takes it, or one that goes before it. */
  | { readonly code: "NOT_CLAIMED"; readonly freeSlots: number }
  /** AVAILABLE, and every instance that knows its kind has all its slots taken. */
  | { readonly code: "NO_FREE_SLOT"; readonly instances: number }
  /** AVAILABLE, and no live instance knows its kind any more: a pass sends it back to PENDING. */
  | { readonly code: "NO_EXECUTOR"; readonly kind: string }
  /** AVAILABLE under older rules of its queue: no claim takes it, a pass sends it back to PENDING. */
  | { readonly code: "RULES_CHANGED"; readonly queue: QueueName }
  /** AVAILABLE, and its window has closed: no claim takes it, a pass sends it back to PENDING. */
  | { readonly code: "WINDOW_CLOSED"; readonly closedAt: Date }
  /** Let go: it goes on outside until somebody asks. */
  | { readonly code: "NOT_POLLED"; readonly pollAt: Date; readonly deadline: Date }
  /** Let go, and no live instance knows its kind: nobody asks, and nobody ends it at its deadline. */
  | { readonly code: "NO_POLLER"; readonly kind: string; readonly deadline: Date }
  /** RUNNING, and the lease of its instance is over: it is about to be rescued. Null: its row is gone. */
  | { readonly code: "LEASE_OVER"; readonly leaseUntil: Date | null }
  /** Its row is not in the work set of its status: nobody finds it. `checkInvariants` tells of it too. */
  | { readonly code: "NOT_IN_WORK_SET"; readonly workSet: "waiting" | "ready" | "outside_job" };

/** An AVAILABLE task run as a claim finds it. */
export interface ReadyView {
  readonly outdated: boolean;
  readonly closedAt: Date | null;
}

/** Why no claim can take it, however many slots are free; null: one could. */
export function whyUnclaimable(ready: ReadyView | null, queue: QueueName): UnattendedCause | null {
  if (ready === null) return { code: "NOT_IN_WORK_SET", workSet: "ready" };
  if (ready.outdated) return { code: "RULES_CHANGED", queue };
  return ready.closedAt === null ? null : { code: "WINDOW_CLOSED", closedAt: ready.closedAt };
}

/** Of those that know its kind: who could take it has a free slot. */
export function whyUnclaimed(
  claimers: readonly { readonly freeSlots: number }[],
  kind: string,
): UnattendedCause {
  if (claimers.length === 0) return { code: "NO_EXECUTOR", kind };
  const freeSlots = claimers.reduce((sum, claimer) => sum + claimer.freeSlots, 0);
  return freeSlots === 0
    ? { code: "NO_FREE_SLOT", instances: claimers.length }
    : { code: "NOT_CLAIMED", freeSlots };
}

/** An outside job that nobody has. */
export interface JobView {
  readonly pollAt: Date;
  readonly deadline: Date;
  /** A live instance knows its kind. */
  readonly served: boolean;
}

export function whyUnpolled(job: JobView | null, kind: string): UnattendedCause {
  if (job === null) return { code: "NOT_IN_WORK_SET", workSet: "outside_job" };
  const { pollAt, deadline } = job;
  return job.served ? { code: "NOT_POLLED", pollAt, deadline } : { code: "NO_POLLER", kind, deadline };
}
