/**
 * The facts of one promotion pass as they change with each decision: what was admitted a moment ago
 * counts against the next candidate. This is what keeps one pass from breaking a limit by itself.
 */

import type {
  Candidate,
  GateView,
  LimitView,
  LineEntry,
  PauseView,
  RateView,
  ResourceView,
  StopView,
  WindowView,
} from "./gates/gate.ts";
import { openUntil } from "./gates/window.ts";
import type { RunId, TaskId, TaskRunId } from "./ids.ts";
import { comparePlaces } from "./line.ts";
import type { PromotionSnapshot, ResourceSnapshot } from "./promotion-snapshot.ts";
import type { Resource, ResourceName } from "./resource.ts";
import {
  keyScope,
  type LimitScope,
  type PauseScope,
  queueScope,
  runScope,
  type WindowScope,
} from "./scope.ts";
import type { WaitingCause } from "./waiting-cause.ts";

const EXCLUSIVE_SLOT = 0;
const UNLIMITED: LimitView = { limit: 0, active: 0 };

/** What an admitted task run holds from now on. */
export interface Promotion {
  readonly taskRunId: TaskRunId;
  readonly limitSlots: readonly LimitSlot[];
  readonly resourceSlots: readonly ResourceSlot[];
  readonly rateSlot: { readonly rate: string; readonly slot: number } | null;
  /** It must be claimed before this instant; null: whenever. */
  readonly openUntil: Date | null;
}

export interface LimitSlot {
  readonly scope: LimitScope;
  readonly slot: number;
}

export interface ResourceSlot {
  readonly name: ResourceName;
  readonly slot: number;
  /** The slot was kept for this task after its instance was lost: it changes hands, it is not taken anew. */
  readonly wasReserved: boolean;
}

interface ResourceState extends ResourceView {
  exclusiveHolder: TaskRunId | null;
  reservedFor: TaskId | null;
  sharedHolders: TaskRunId[];
  sharedCount: number;
  line: LineEntry[];
  nextSharedSlot: number;
}

interface LimitState extends LimitView {
  active: number;
  freeSlots: number[];
}

interface RateState extends RateView {
  free: number;
  freeSlots: number[];
}

export class Admission implements GateView {
  readonly now: Date;
  readonly fairShare: number;
  readonly hasPauses: boolean;
  readonly hasWindows: boolean;
  readonly #snapshot: PromotionSnapshot;
  readonly #resources: Map<ResourceName, ResourceState>;
  readonly #limits: Map<LimitScope, LimitState>;
  readonly #rates: Map<string, RateState>;
  readonly #available: Map<RunId, number>;

  constructor(snapshot: PromotionSnapshot) {
    this.now = snapshot.now;
    this.fairShare = snapshot.fairShare;
    this.hasPauses = snapshot.pauses.size > 0;
    this.hasWindows = snapshot.windows.size > 0;
    this.#snapshot = snapshot;
    this.#resources = mapValues(snapshot.resources, resourceState);
    this.#limits = mapValues(snapshot.limits, (view) => ({ ...view, freeSlots: [...view.freeSlots] }));
    this.#rates = mapValues(snapshot.rates, (view) => ({
      ...view,
      free: view.freeSlots.length,
      freeSlots: [...view.freeSlots],
    }));
    this.#available = new Map(snapshot.available);
  }

  resource(name: ResourceName): ResourceState {
    const known = this.#resources.get(name);
    if (known === undefined) throw new Error(`The snapshot lacks the resource "${name}"`);
    return known;
  }

  limit(scope: LimitScope): LimitView {
    const known = this.#limits.get(scope);
    if (known !== undefined) return known;
    if (scope.startsWith("queue:")) return UNLIMITED;
    throw new Error(`The snapshot lacks ${scope}`);
  }

  availableOf(runId: RunId): number {
    return this.#available.get(runId) ?? 0;
  }

  rate(name: string): RateState {
    const known = this.#rates.get(name);
    if (known === undefined) throw new Error(`The snapshot lacks the rate "${name}"`);
    return known;
  }

  pause(scope: PauseScope): PauseView | null {
    return this.#snapshot.pauses.get(scope) ?? null;
  }

  stops(taskId: TaskId): readonly StopView[] {
    return this.#snapshot.stops.get(taskId) ?? [];
  }

  window(scope: WindowScope): WindowView {
    return this.#snapshot.windows.get(scope) ?? { kind: "open", until: null };
  }

  isServed(kind: string): boolean {
    return this.#snapshot.servedKinds.has(kind);
  }

  admit(candidate: Candidate): Promotion {
    const { taskRunId, runId, resources } = candidate;
    const scopes = limitScopesOf(candidate);
    // Before anything is taken: a slot may be missing, and then nothing must look taken.
    if (scopes.some((scope) => this.#limits.get(scope)?.freeSlots.length === 0))
      throw new Error(`The snapshot names too few free slots for ${taskRunId}`);
    if (runId !== null) this.#available.set(runId, this.availableOf(runId) + 1);
    return {
      taskRunId,
      limitSlots: scopes.flatMap((scope) => this.#takeSlot(scope)),
      rateSlot: this.#takeRateSlot(candidate.rate),
      resourceSlots: resources.map((wanted) => this.#take(wanted, candidate)),
      openUntil: openUntil(candidate, this),
    };
  }

  /** Whoever waits for a resource stands in the line of all of its resources; whoever waits for something else, in none. */
  keepWaiting(candidate: Candidate, cause: WaitingCause): void {
    for (const { name, mode } of candidate.resources) {
      const resource = this.resource(name);
      leaveLine(resource, candidate);
      if (cause.code === "RESOURCE_BUSY") {
        const { taskRunId, priority, enqueuedUs, version } = candidate;
        resource.line.push({ taskRunId, priority, enqueuedUs, version, mode });
        resource.line.sort(comparePlaces);
      }
    }
  }

  #take(wanted: Resource, candidate: Candidate): ResourceSlot {
    const resource = this.resource(wanted.name);
    leaveLine(resource, candidate);
    if (wanted.mode === "exclusive") {
      const wasReserved = resource.reservedFor === candidate.taskId;
      resource.reservedFor = null;
      resource.exclusiveHolder = candidate.taskRunId;
      return { name: wanted.name, slot: EXCLUSIVE_SLOT, wasReserved };
    }
    resource.sharedHolders.push(candidate.taskRunId);
    resource.sharedCount += 1;
    return { name: wanted.name, slot: resource.nextSharedSlot++, wasReserved: false };
  }

  #takeSlot(scope: LimitScope): readonly LimitSlot[] {
    const limit = this.#limits.get(scope);
    const slot = limit?.freeSlots.shift();
    if (limit === undefined || slot === undefined) return [];
    limit.active += 1;
    return [{ scope, slot }];
  }

  #takeRateSlot(name: string | null): Promotion["rateSlot"] {
    if (name === null) return null;
    const rate = this.rate(name);
    const slot = rate.freeSlots.shift();
    if (slot === undefined) throw new Error(`The snapshot names too few free slots of the rate "${name}"`);
    rate.free -= 1;
    return { rate: name, slot };
  }
}

/** Where a task run takes a slot. A queue without a limit is not in the snapshot, and nothing is taken there. */
export function limitScopesOf({ runId, queue, concurrencyKey }: Candidate): readonly LimitScope[] {
  const scopes: LimitScope[] = runId === null ? [] : [runScope(runId)];
  scopes.push(queueScope(queue));
  if (concurrencyKey !== null) scopes.push(keyScope(concurrencyKey));
  return scopes;
}

function leaveLine(resource: ResourceState, { taskRunId }: Candidate): void {
  if (resource.line.length > 0)
    resource.line = resource.line.filter((entry) => entry.taskRunId !== taskRunId);
}

function resourceState(view: ResourceSnapshot): ResourceState {
  return { ...view, sharedHolders: [...view.sharedHolders], line: view.line.toSorted(comparePlaces) };
}

function mapValues<Key, From, To>(map: ReadonlyMap<Key, From>, change: (from: From) => To): Map<Key, To> {
  return new Map([...map].map(([key, value]) => [key, change(value)]));
}
