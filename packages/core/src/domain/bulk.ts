/** What a bulk cancel or retry is about, and what it answers. Every condition that is given must be met. */

import { SchedulerError } from "./errors.ts";
import { isUuid, type RunId } from "./ids.ts";
import { requireName } from "./task-spec.ts";

/** What a bulk cancel is about; everything that is given must fit. */
export interface CancelFilter {
  /** Full ids of tasks (whatever attempt of them is open) or task runs. */
  readonly ids?: readonly string[];
  readonly runId?: RunId;
  readonly kind?: string;
  /** Default: all three. */
  readonly status?: readonly ("PENDING" | "AVAILABLE" | "RUNNING")[];
}

/** How many there were of each answer. */
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

export function requireCancelFilter(filter: CancelFilter): void {
  const { ids, runId, kind, status } = filter;
  if (ids === undefined && runId === undefined && kind === undefined && status === undefined)
    refuse("is empty; give ids, runId, kind or status");
  requireStatuses(status, ["PENDING", "AVAILABLE", "RUNNING"]);
  requireNames({ kind });
  requireRunId(runId);
}

export function requireRetryFilter(filter: RetryFilter): void {
  const { ids, runId, kind, status, enqueuedSince } = filter;
  // What has ended is found by its run, its id or its time: there is no index on the kind or the status of history.
  if (ids === undefined && runId === undefined && enqueuedSince === undefined)
    refuse("says not where to look; give ids, runId or enqueuedSince");
  requireStatuses(status, ["FAILED", "CANCELED"]);
  requireNames({ kind });
  requireRunId(runId);
  if (enqueuedSince !== undefined && Number.isNaN(enqueuedSince.getTime()))
    refuse("has an enqueuedSince that is no instant");
}

function requireStatuses(given: readonly string[] | undefined, known: readonly string[]): void {
  const [strange] = (given ?? []).filter((status) => !known.includes(status));
  if (strange !== undefined) refuse(`cannot be for status ${strange}, only for ${known.join(", ")}`);
  if (given?.length === 0) refuse(`names no status; give ${known.join(", ")} or leave it out`);
}

/** What can be the name of nothing is a mistake of whoever asks, not a search that finds nothing. */
export function requireNames(names: Readonly<Record<string, string | undefined>>): void {
  for (const [field, name] of Object.entries(names))
    if (name !== undefined) requireName(name, (problem) => refuse(`has a ${field} that ${problem}`));
}

function requireRunId(runId: RunId | undefined): void {
  if (runId !== undefined && !isUuid(runId)) throw new SchedulerError("RUN_NOT_FOUND", { runId });
}

function refuse(problem: string): never {
  throw new SchedulerError("INVALID_FILTER", { problem });
}

/** Each id once, so many at a time. */
export function inBites(ids: readonly string[], size: number): readonly (readonly string[])[] {
  const distinct = [...new Set(ids.map((id) => id.toLowerCase()))];
  return Array.from({ length: Math.ceil(distinct.length / size) }, (_, index) =>
    distinct.slice(index * size, (index + 1) * size),
  );
}
