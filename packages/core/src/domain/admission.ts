/**
 * The facts of one promotion pass as they change with each decision: what was admitted a moment ago
 * counts against the next candidate. This is what keeps one pass from breaking a limit by itself.
 */

import type { Candidate, GateView, LineEntry, ResourceView, RunView } from "./gates/gate.ts";
import type { RunId, TaskId, TaskRunId } from "./ids.ts";
import { comparePlaces } from "./line.ts";
import type { PromotionSnapshot, ResourceSnapshot, RunSnapshot } from "./promotion-snapshot.ts";
import type { Resource, ResourceName } from "./resource.ts";
import type { WaitingCause } from "./waiting-cause.ts";

const EXCLUSIVE_SLOT = 0;

/** What an admitted task run holds from now on. */
export interface Promotion {
  readonly taskRunId: TaskRunId;
  readonly runSlot: { readonly runId: RunId; readonly slot: number } | null;
  readonly resourceSlots: readonly ResourceSlot[];
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

interface RunState extends RunView {
  active: number;
  freeSlots: number[];
}

export class Admission implements GateView {
  readonly now: Date;
  readonly #resources: Map<ResourceName, ResourceState>;
  readonly #runs: Map<RunId, RunState>;

  constructor(snapshot: PromotionSnapshot) {
    this.now = snapshot.now;
    this.#resources = new Map([...snapshot.resources].map(([name, view]) => [name, resourceState(view)]));
    this.#runs = new Map([...snapshot.runs].map(([runId, view]) => [runId, runState(view)]));
  }

  resource(name: ResourceName): ResourceState {
    const known = this.#resources.get(name);
    if (known === undefined) throw new Error(`The snapshot lacks the resource "${name}"`);
    return known;
  }

  run(runId: RunId): RunState {
    const known = this.#runs.get(runId);
    if (known === undefined) throw new Error(`The snapshot lacks the run ${runId}`);
    return known;
  }

  admit(candidate: Candidate): Promotion {
    // The slot first: it may be missing, and then nothing must look taken.
    const runSlot = candidate.runId === null ? null : this.#takeRunSlot(candidate.runId);
    const resourceSlots = candidate.resources.map((wanted) => this.#take(wanted, candidate));
    return { taskRunId: candidate.taskRunId, runSlot, resourceSlots };
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

  #takeRunSlot(runId: RunId): { readonly runId: RunId; readonly slot: number } {
    const run = this.run(runId);
    const slot = run.freeSlots.shift();
    if (slot === undefined) throw new Error(`The snapshot names too few free slots of run ${runId}`);
    run.active += 1;
    return { runId, slot };
  }
}

function leaveLine(resource: ResourceState, { taskRunId }: Candidate): void {
  resource.line = resource.line.filter((entry) => entry.taskRunId !== taskRunId);
}

function resourceState(view: ResourceSnapshot): ResourceState {
  return { ...view, sharedHolders: [...view.sharedHolders], line: view.line.toSorted(comparePlaces) };
}

function runState(view: RunSnapshot): RunState {
  return { ...view, freeSlots: [...view.freeSlots] };
}
