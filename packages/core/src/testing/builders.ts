/**
 * Builds the objects of the domain for tests, with defaults that stand in nobody's way: a candidate that
 * no gate concerns, a resource that is free, a run without a limit. Say only what the test is about.
 */

import type { Candidate, GateView, LineEntry } from "../domain/gates/gate.ts";
import { asRunId, asTaskId, asTaskRunId } from "../domain/ids.ts";
import type { PromotionSnapshot, ResourceSnapshot, RunSnapshot } from "../domain/promotion-snapshot.ts";
import type { ResourceName } from "../domain/resource.ts";
import type { ExecutionContext } from "../executors/executor.ts";

/** The instant at which a built snapshot was read. */
export const NOON: Date = new Date("2026-11-15T12:00:00.000Z");

/** Slot 0 of a resource is for the one that has it alone. */
const FIRST_SHARED_SLOT = 1;
const SLOTS_WITHOUT_LIMIT = 100;

/** Its task is named after its `taskRunId`. Those enqueued at the same instant stand in line by their ids. */
export function candidate(fields: Partial<Candidate> = {}): Candidate {
  const taskRunId = fields.taskRunId ?? asTaskRunId("task-run");
  return {
    taskRunId,
    taskId: asTaskId(`task of ${taskRunId}`),
    runId: null,
    priority: 5,
    enqueuedUs: 0,
    runAt: null,
    version: null,
    resources: [],
    ...fields,
  };
}

export function lineEntry(fields: Partial<LineEntry> = {}): LineEntry {
  return {
    taskRunId: asTaskRunId("in-line"),
    priority: 5,
    enqueuedUs: 0,
    version: null,
    mode: "exclusive",
    ...fields,
  };
}

/** Free, unless told otherwise; `sharedCount` and the next slot follow from `sharedHolders`. */
export function resourceSnapshot(fields: Partial<ResourceSnapshot> = {}): ResourceSnapshot {
  const sharedHolders = fields.sharedHolders ?? [];
  const sharedCount = fields.sharedCount ?? sharedHolders.length;
  return {
    exclusiveHolder: null,
    reservedFor: null,
    sharedHolders,
    sharedCount,
    line: [],
    lineGoesOn: false,
    exclusiveGoesOn: fields.lineGoesOn ?? false,
    lowestOpenVersion: null,
    nextSharedSlot: FIRST_SHARED_SLOT + sharedCount,
    ...fields,
  };
}

/** Without a limit, unless told otherwise; its active task runs have the lowest slots. */
export function runSnapshot(fields: Partial<RunSnapshot> = {}): RunSnapshot {
  const limit = fields.limit ?? 0;
  const active = fields.active ?? 0;
  const free = limit === 0 ? SLOTS_WITHOUT_LIMIT : Math.max(0, limit - active);
  return { limit, active, freeSlots: Array.from({ length: free }, (_, index) => active + index), ...fields };
}

export interface SnapshotFields {
  readonly now?: Date;
  readonly candidates?: readonly Candidate[];
  /** By name. What a candidate names and is missing here is free. */
  readonly resources?: Readonly<Record<ResourceName, Partial<ResourceSnapshot>>>;
  /** By run id. What a candidate names and is missing here has no limit. */
  readonly runs?: Readonly<Record<string, Partial<RunSnapshot>>>;
}

export function snapshot(fields: SnapshotFields = {}): PromotionSnapshot {
  const { now = NOON, candidates = [], resources = {}, runs = {} } = fields;
  const names = candidates.flatMap((one) => one.resources.map(({ name }) => name));
  const runIds = candidates.flatMap(({ runId }) => runId ?? []);
  return {
    now,
    candidates,
    resources: new Map(
      [...names, ...Object.keys(resources)].map((name) => [name, resourceSnapshot(resources[name])]),
    ),
    runs: new Map(
      [...runIds, ...Object.keys(runs)].map((runId) => [asRunId(runId), runSnapshot(runs[runId])]),
    ),
  };
}

/** What a gate sees of a snapshot before anything is admitted; what is missing is free. */
export function gateView(fields: SnapshotFields = {}): GateView {
  const { now, resources, runs } = snapshot(fields);
  return {
    now,
    resource: (name) => resources.get(name) ?? resourceSnapshot(),
    run: (runId) => runs.get(runId) ?? runSnapshot(),
  };
}

/** What an executor is given, to try one without a scheduler. */
export function executionContext(fields: Partial<ExecutionContext> = {}): ExecutionContext {
  return {
    taskRunId: asTaskRunId("task-run"),
    taskId: asTaskId("task"),
    attempt: 1,
    fence: 1,
    signal: new AbortController().signal,
    ...fields,
  };
}
