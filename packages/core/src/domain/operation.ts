/** A cancel or a retry of many as an operation: instances carry it on bite by bite, and everybody can see how far it is. */

import type { Count } from "./count.ts";
import type { OperationId, RunId, TaskRunId } from "./ids.ts";
import type { TaskRunStatus } from "./task-status.ts";

/** What is done to each of them; it means what the same call means for one. */
export type OperationVerb = "cancel" | "retry";
/** RUNNING: it goes on. DONE: to its end. ABORTED: somebody wanted no more of it; what it had done stays. */
export type OperationStatus = "RUNNING" | "DONE" | "ABORTED";

export const OPERATION_VERBS: readonly OperationVerb[] = ["cancel", "retry"];
export const OPERATION_STATUSES: readonly OperationStatus[] = ["RUNNING", "DONE", "ABORTED"];

/** Which task runs an operation is about, as a list would show them. Everything that is given must fit, and something must be given. */
export interface OperationFilter {
  /** Full ids of task runs, at most 1000. They stand alone: no other condition beside them. */
  readonly ids?: readonly TaskRunId[];
  /** Default: any. Those that the verb can do nothing about are passed over. */
  readonly status?: readonly TaskRunStatus[];
  readonly runId?: RunId;
  readonly kind?: string;
  readonly queue?: string;
  readonly tag?: string;
  /** Only those that were enqueued since then. */
  readonly enqueuedSince?: Date;
}

/** What is asked for. */
export interface OperationRequest {
  readonly verb: OperationVerb;
  readonly filter: OperationFilter;
}

/**
 * Why nothing can be done about one. `ENDED`: it has ended, and cannot be canceled. `CANCELING`: it was asked to stop before.
 * `OPEN`: it has not ended, and cannot be retried. `DONE`: it succeeded. `LATER_ATTEMPT`: another attempt of its task followed
 * it. `CHANGED`: it was no longer as the filter wants it when its turn came. `NOT_FOUND`: no task run has this id.
 */
export type SkipReason = "ENDED" | "CANCELING" | "OPEN" | "DONE" | "LATER_ATTEMPT" | "CHANGED" | "NOT_FOUND";
export const SKIP_REASONS: readonly SkipReason[] = [
  "ENDED",
  "CANCELING",
  "OPEN",
  "DONE",
  "LATER_ATTEMPT",
  "CHANGED",
  "NOT_FOUND",
];

/** How many of a status fit the filter, and why nothing can be done about them; null: something can. */
export interface OperationGroup {
  /** Null: there is none of these ids. */
  readonly status: TaskRunStatus | null;
  readonly reason: SkipReason | null;
  readonly count: number;
}

/** What a filter fits at this moment. It is counted up to a bound; when the operation comes to them it looks again. */
export interface OperationExpectation {
  readonly matched: Count;
  readonly eligible: Count;
  readonly groups: readonly OperationGroup[];
}

/** The same with the first of those that something can be done about, newest first. */
export interface OperationPreview extends OperationExpectation {
  readonly verb: OperationVerb;
  readonly first: readonly {
    readonly taskRunId: TaskRunId;
    readonly title: string;
    readonly status: TaskRunStatus;
  }[];
}

/** An operation and how far it is. */
export interface Operation {
  readonly operationId: OperationId;
  readonly verb: OperationVerb;
  readonly filter: OperationFilter;
  readonly by: string | null;
  readonly reason: string | null;
  readonly status: OperationStatus;
  /** What the filter fitted when it was asked for; what it does may differ from that. */
  readonly expected: OperationExpectation;
  /** About so many something was done. */
  readonly done: number;
  /** About so many nothing could be done when their turn came, by why. */
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>;
  /** So many the database refused to change. */
  readonly failed: number;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
  /** Who aborted it, and why; null where nobody did. */
  readonly aborted: { readonly by: string | null; readonly reason: string | null } | null;
  /** What went wrong with its last turn, which is tried again; null where nothing did. */
  readonly problem: string | null;
  readonly rowVersion: number;
}

/** Which operations a list has. */
export interface OperationListFilter {
  readonly status?: readonly OperationStatus[];
  /** From 1 to 500. Default: 50. */
  readonly limit?: number;
  /** `next` of the page before. */
  readonly before?: OperationId;
}

/** Operations, newest first. */
export interface OperationPage {
  readonly operations: readonly Operation[];
  /** Give it as `before` to get the next page; null on the last one. */
  readonly next: OperationId | null;
}

/** One that an operation could not do. */
export interface OperationItem {
  readonly itemNo: number;
  readonly taskRunId: TaskRunId;
  /** Null: its task run is gone. */
  readonly title: string | null;
  readonly result: "skipped" | "failed";
  /** A `SkipReason`, or what the database said of it as an SQLSTATE. */
  readonly reason: string;
  readonly detail: string | null;
}

/** Which of them. */
export interface OperationItemFilter {
  readonly result?: "skipped" | "failed";
  /** From 1 to 500. Default: 50. */
  readonly limit?: number;
  /** `next` of the page before. */
  readonly after?: number;
}

/** In the order in which the operation came to them; only the first 1000 are kept. */
export interface OperationItemPage {
  readonly items: readonly OperationItem[];
  readonly next: number | null;
}
