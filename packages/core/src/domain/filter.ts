/** What a list, a bulk cancel or a bulk retry is asked for: no condition that is given may be passed over. */

import type { CancelFilter, RetryFilter } from "./bulk.ts";
import { called, numberOrCalled } from "./called.ts";
import { SchedulerError } from "./errors.ts";
import { asStored, isUuid, type RunId, type TaskRunId } from "./ids.ts";
import { isDate, isInstant, NO_INSTANT } from "./instant.ts";
import { shownName } from "./json-value.ts";
import {
  OPERATION_STATUSES,
  type OperationFilter,
  type OperationItemFilter,
  type OperationListFilter,
} from "./operation.ts";
import type { ResourceFilter } from "./resource-view.ts";
import { RUN_STATUSES, type RunFilter } from "./run.ts";
import {
  flag,
  instant,
  isGiven,
  isObject,
  isReadable,
  joinPath,
  listOf,
  number,
  type Shape,
  text,
  UNREADABLE,
} from "./shape.ts";
import type { TaskRunFilter } from "./task-run.ts";
import { requireName } from "./task-spec.ts";
import { TASK_RUN_STATUSES } from "./task-status.ts";

/** How many of a list come at once, where nothing is said and at most. */
export const DEFAULT_PAGE = 50;
export const LARGEST_PAGE = 500;

const CONDITIONS: Readonly<
  Record<
    | keyof CancelFilter
    | keyof OperationFilter
    | keyof ResourceFilter
    | keyof RetryFilter
    | keyof RunFilter
    | keyof TaskRunFilter,
    Shape
  >
> = {
  ids: listOf(text, "a list of ids"),
  runId: text,
  kind: text,
  status: listOf(text, "a list of statuses"),
  enqueuedSince: instant,
  queue: text,
  tag: text,
  outcome: listOf(text, "a list of outcomes"),
  newest: flag,
  limit: number,
  before: text,
  order: text,
  search: text,
  after: text,
};

export function resolveCancelFilter(filter: CancelFilter): CancelFilter {
  const given = givenOf(filter, ["ids", "runId", "kind", "status"]);
  if (Object.keys(given).length === 0) refuse("is empty; give ids, runId, kind or status");
  requireStatuses(given.status, ["PENDING", "AVAILABLE", "RUNNING"]);
  requireNames({ kind: given.kind });
  return withRunAsStored(given);
}

export function resolveRetryFilter(filter: RetryFilter): RetryFilter {
  const given = givenOf(filter, ["ids", "runId", "kind", "status", "enqueuedSince"]);
  const { ids, runId, kind, status, enqueuedSince } = given;
  // What has ended is found by its run, its id or its time: there is no index on the kind or the status of history.
  if (ids === undefined && runId === undefined && enqueuedSince === undefined)
    refuse("says not where to look; give ids, runId or enqueuedSince");
  requireStatuses(status, ["FAILED", "CANCELED"]);
  requireNames({ kind });
  if (enqueuedSince !== undefined) requireInstant("enqueuedSince", enqueuedSince);
  return withRunAsStored(given);
}

export function resolveListFilter(filter: TaskRunFilter): TaskRunFilter {
  const given = givenOf(filter, [
    "status",
    "runId",
    "kind",
    "queue",
    "tag",
    "outcome",
    "newest",
    "limit",
    "before",
    "order",
  ]);
  const { before, kind, queue, tag, outcome = [], limit, status, order } = given;
  requireKnown(status, TASK_RUN_STATUSES);
  if (limit !== undefined) requireWithin("limit", limit, 1, LARGEST_PAGE);
  requireNames({ kind, queue, tag });
  for (const each of outcome) requireNames({ outcome: each });
  if (before !== undefined && !isUuid(before)) throw new SchedulerError("TASK_NOT_FOUND", { id: before });
  if (order !== undefined) requireOrder(order, status);
  return withRunAsStored(given);
}

/** What waits is in the order of its age in a work set of its own; of the rest only the newest are found at once. */
function requireOrder(order: string, status: TaskRunFilter["status"]): void {
  if (order !== "newest" && order !== "oldest")
    refuse(`has an order (${shownName(order)}) that is not newest or oldest`);
  const onlyPending = status?.length === 1 && status[0] === "PENDING";
  if (order === "oldest" && !onlyPending)
    refuse("can have the oldest first of what is PENDING only; give status PENDING");
}

export function resolveRunFilter(filter: RunFilter): RunFilter {
  const given = givenOf(filter, ["status", "limit", "before"]);
  const { status, limit, before } = given;
  requireKnown(status, RUN_STATUSES);
  if (limit !== undefined) requireWithin("limit", limit, 1, LARGEST_PAGE);
  if (before !== undefined && !isUuid(before)) throw new SchedulerError("RUN_NOT_FOUND", { runId: before });
  return given;
}

export function resolveResourceFilter(filter: ResourceFilter): ResourceFilter {
  const given = givenOf(filter, ["search", "limit", "after"]);
  const { search, limit, after } = given;
  if (limit !== undefined) requireWithin("limit", limit, 1, LARGEST_PAGE);
  // Every name begins with nothing.
  requireNames({ search: search === "" ? undefined : search, after });
  return given;
}

const OPERATION_CONDITIONS = ["ids", "status", "runId", "kind", "queue", "tag", "enqueuedSince"] as const;
/** As many as an operation keeps of what it could not do, so that these can be given to another one. */
const MOST_IDS = 1_000;

export function resolveOperationFilter(filter: OperationFilter): OperationFilter {
  const given = givenOf(filter, OPERATION_CONDITIONS);
  if (Object.keys(given).length === 0)
    throw new SchedulerError("EMPTY_FILTER", { conditions: OPERATION_CONDITIONS.join(", ") });
  const { ids, status, kind, queue, tag, enqueuedSince } = given;
  if (ids !== undefined) return { ids: resolveIds(ids, Object.keys(given)) };
  requireStatuses(status, TASK_RUN_STATUSES);
  requireNames({ kind, queue, tag });
  if (enqueuedSince !== undefined) requireInstant("enqueuedSince", enqueuedSince);
  return withRunAsStored(given);
}

function resolveIds(ids: readonly TaskRunId[], conditions: readonly string[]): readonly TaskRunId[] {
  if (conditions.length > 1) refuse("has ids and other conditions; give one or the other");
  if (ids.length === 0) refuse("names no id; give ids of task runs, or other conditions");
  if (ids.length > MOST_IDS)
    refuse(
      `names ${ids.length} ids, at most ${MOST_IDS}; give conditions that fit them, or several operations`,
    );
  const strange = ids.find((id) => !isUuid(id));
  if (strange !== undefined)
    refuse(`has an id that is none: ${shownName(strange)}; give full ids of task runs`);
  return [...new Set(ids.map(asStored))].toSorted();
}

export function resolveOperationListFilter(filter: OperationListFilter): OperationListFilter {
  const given = givenOf(filter, ["status", "limit", "before"]);
  const { status, limit, before } = given;
  requireKnown(status, OPERATION_STATUSES);
  if (limit !== undefined) requireWithin("limit", limit, 1, LARGEST_PAGE);
  if (before !== undefined && !isUuid(before))
    throw new SchedulerError("OPERATION_NOT_FOUND", { operationId: before });
  return given;
}

export function requireItemFilter({ limit, after }: OperationItemFilter): void {
  if (limit !== undefined) requireWithin("limit", limit, 1, LARGEST_PAGE);
  if (after !== undefined) requireWithin("after", after, 0, MOST_IDS);
}

/**
 * Null counts as not given, as undefined does. A condition that nobody knows cannot be kept, and without it the filter
 * means more than whoever wrote it.
 */
function givenOf<Filter extends object>(
  filter: Filter,
  known: readonly (keyof Filter & keyof typeof CONDITIONS)[],
): Filter {
  requireObject(filter);
  const names: readonly string[] = known;
  const strange = Object.entries(filter).find(([key, value]) => isGiven(value) && !names.includes(key));
  if (strange !== undefined) refuse(`has no condition ${shownName(strange[0])}, only ${names.join(", ")}`);
  const given = known.map((key) => [key, copyOf(filter[key])] as const).filter(([, value]) => isGiven(value));
  for (const [key, value] of given) {
    const misfit = CONDITIONS[key](value);
    if (misfit !== null) refuse(`at ${joinPath(key, misfit.at)} ${misfit.problem}`);
  }
  return Object.fromEntries(given) as Filter;
}

/** A bulk call goes on for a while, and the caller's list or Date may have changed by then. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return [...(value as readonly unknown[])];
  return isDate(value) ? new Date(value) : value;
}

function requireObject(filter: unknown): void {
  if (!isReadable(filter)) refuse(UNREADABLE.problem);
  if (!isObject(filter)) refuse(`is ${called(filter)}; give an object`);
}

function requireStatuses(given: readonly string[] | undefined, known: readonly string[]): void {
  requireKnown(given, known);
  if (given?.length === 0) refuse(`names no status; give ${known.join(", ")} or leave it out`);
}

function requireKnown(given: readonly string[] | undefined, known: readonly string[]): void {
  const [strange] = (given ?? []).filter((status) => !known.includes(status));
  if (strange !== undefined) refuse(`cannot be for status ${strange}, only for ${known.join(", ")}`);
}

export function requireWithin(field: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  refuse(`has a ${field} (${numberOrCalled(value)}) that is not a whole number from ${least} to ${most}`);
}

export function requireInstant(field: string, value: Date): void {
  if (!isInstant(value)) refuse(`has a ${field} that ${NO_INSTANT}`);
}

/** What can be the name of nothing is a mistake of whoever asks, not a search that finds nothing. */
function requireNames(names: Readonly<Record<string, string | undefined>>): void {
  for (const [field, name] of Object.entries(names))
    if (name !== undefined) requireName(name, (problem) => refuse(`has a ${field} that ${problem}`));
}

function withRunAsStored<Filter extends { readonly runId?: RunId }>(filter: Filter): Filter {
  const { runId } = filter;
  if (runId === undefined) return filter;
  if (!isUuid(runId)) throw new SchedulerError("RUN_NOT_FOUND", { runId });
  return { ...filter, runId: asStored(runId) };
}

function refuse(problem: string): never {
  throw new SchedulerError("INVALID_FILTER", { problem });
}
