/** What a bulk cancel or retry is about, and what it answers. Every condition that is given must be met. */

import type { RunId } from "./ids.ts";

/** What a bulk cancel is about; everything that is given must fit. */
export interface CancelFilter {
  /** Full ids of tasks (whatever attempt of them is open) or task runs. */
  readonly ids?: readonly string[];
  readonly runId?: RunId;
  readonly kind?: string;
  /** Default: all three. */
  readonly status?: readonly ("PENDING" | "AVAILABLE" | "RUNNING")[];
}

/** How many there were of each answer. Of `ids` each counts once: a task and its task run are one. */
export interface CancelCounts {
  /** They had not started. */
  readonly canceled: number;
  /** They run and have been told. */
  readonly canceling: number;
  /** They had ended already, or were not as the filter wants them when the cancel came to them. */
  readonly ended: number;
  /** No task or task run has this id. */
  readonly notFound: number;
}

/** What a bulk retry is about: tasks that ended FAILED or CANCELED and fit everything that is given. */
export interface RetryFilter {
  /** Full ids of tasks or task runs; of a task run only where it is the newest of its task. */
  readonly ids?: readonly string[];
  readonly runId?: RunId;
  readonly kind?: string;
  /** Default: FAILED only. */
  readonly status?: readonly ("FAILED" | "CANCELED")[];
  /** Only attempts that were enqueued since then. Needed where neither `ids` nor `runId` is given. */
  readonly enqueuedSince?: Date;
}

/** What a bulk retry came to. */
export interface RetryCounts {
  readonly retried: number;
  /** Of the ids: not FAILED or CANCELED (whatever `status` asks for), or not the newest attempt. */
  readonly notRetryable: number;
  /** No task or task run has this id. */
  readonly notFound: number;
}

/** Each id once, so many at a time. */
export function inBites(ids: readonly string[], size: number): readonly (readonly string[])[] {
  const distinct = [...new Set(ids.map((id) => id.toLowerCase()))];
  return Array.from({ length: Math.ceil(distinct.length / size) }, (_, index) =>
    distinct.slice(index * size, (index + 1) * size),
  );
}
