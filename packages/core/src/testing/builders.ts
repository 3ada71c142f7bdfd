/**
 * Builds the objects of the domain for tests, with defaults that stand in nobody's way: a candidate that
 * no gate concerns, a resource that is free, a run without a limit. Say only what the test is about.
 */

import { Admission, limitScopesOf } from "../domain/admission.ts";
import type { Candidate, GateView, LineEntry } from "../domain/gates/gate.ts";
import { asTaskId, asTaskRunId } from "../domain/ids.ts";
import type {
  LimitSnapshot,
  PromotionSnapshot,
  RateSnapshot,
  ResourceSnapshot,
} from "../domain/promotion-snapshot.ts";
import type { ResourceName } from "../domain/resource.ts";
import type { LimitScope } from "../domain/scope.ts";
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
    kind: "echo",
    queue: "default",
    concurrencyKey: null,
    rate: null,
    priority: 5,
    enqueuedUs: 0,
    runAt: null,
    version: null,
    outOfOrder: false,
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
    doneVersion: null,
    nextSharedSlot: FIRST_SHARED_SLOT + sharedCount,
    ...fields,
  };
}

/** Without a limit, unless told otherwise; its active task runs have the lowest slots. */
export function limitSnapshot(fields: Partial<LimitSnapshot> = {}): LimitSnapshot {
  const limit = fields.limit ?? 0;
  const active = fields.active ?? 0;
  const free = limit === 0 ? SLOTS_WITHOUT_LIMIT : Math.max(0, limit - active);
  return { limit, active, freeSlots: Array.from({ length: free }, (_, index) => active + index), ...fields };
}

/** One a second, and its slot is free. */
export function rateSnapshot(fields: Partial<RateSnapshot> = {}): RateSnapshot {
  return { amount: 1, perMs: 1_000, freeSlots: [0], nextFreeAt: null, ...fields };
}

export interface SnapshotFields extends Partial<Omit<PromotionSnapshot, "resources" | "limits" | "rates">> {
  /** By name. What a candidate names and is missing here is free. */
  readonly resources?: Readonly<Record<ResourceName, Partial<ResourceSnapshot>>>;
  /** By scope. What a candidate names and is missing here has no limit; a key has a limit of one. */
  readonly limits?: Readonly<Partial<Record<LimitScope, Partial<LimitSnapshot>>>>;
  /** By name. */
  readonly rates?: Readonly<Record<string, Partial<RateSnapshot>>>;
}

/** Every kind that a candidate names is served, unless `servedKinds` says otherwise. */
export function snapshot(fields: SnapshotFields = {}): PromotionSnapshot {
  const { candidates = [], resources = {}, limits = {}, rates = {}, ...given } = fields;
  const names = candidates.flatMap((one) => one.resources.map(({ name }) => name));
  const scopes = candidates.flatMap(limitScopesOf).filter((scope) => !scope.startsWith("queue:"));
  const rateNames = candidates.flatMap(({ rate }) => rate ?? []);
  return {
    now: NOON,
    candidates,
    resources: new Map(
      [...names, ...Object.keys(resources)].map((name) => [name, resourceSnapshot(resources[name])]),
    ),
    limits: new Map(
      [...scopes, ...(Object.keys(limits) as LimitScope[])].map((scope) => [
        scope,
        limitSnapshot({ ...(scope.startsWith("key:") ? { limit: 1 } : {}), ...limits[scope] }),
      ]),
    ),
    rates: new Map([...rateNames, ...Object.keys(rates)].map((name) => [name, rateSnapshot(rates[name])])),
    available: new Map(),
    fairShare: 100,
    pauses: new Map(),
    stops: new Map(),
    windows: new Map(),
    servedKinds: new Set(candidates.map(({ kind }) => kind)),
    ...given,
  };
}

/** What a gate sees of a snapshot before anything is admitted; what is missing is free. */
export function gateView(fields: SnapshotFields = {}): GateView {
  const facts = snapshot(fields);
  const view = new Admission(facts);
  return {
    now: facts.now,
    fairShare: facts.fairShare,
    hasPauses: view.hasPauses,
    hasWindows: view.hasWindows,
    resource: (name) => facts.resources.get(name) ?? resourceSnapshot(),
    limit: (scope) => facts.limits.get(scope) ?? limitSnapshot({ limit: scope.startsWith("key:") ? 1 : 0 }),
    availableOf: (runId) => view.availableOf(runId),
    rate: (name) => {
      const { freeSlots, ...rate } = facts.rates.get(name) ?? rateSnapshot();
      return { ...rate, free: freeSlots.length };
    },
    pause: (scope) => view.pause(scope),
    stops: (taskId) => view.stops(taskId),
    window: (scope) => view.window(scope),
    isServed: (kind) => fields.servedKinds?.has(kind) ?? true,
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
    log: () => {},
    processes: { makeFolder: refuseProcess, start: refuseProcess },
    progress: () => {},
    keepHandle: async () => {},
    ...fields,
  };
}

async function refuseProcess(): Promise<never> {
  throw new Error("Only an instance can start processes; give the context some of your own");
}
