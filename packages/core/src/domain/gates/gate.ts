/** What a gate is given and what it answers. A gate is pure: it sees a view of the facts, never the database. */

import type { RunId, TaskId, TaskRunId } from "../ids.ts";
import type { LinePlace } from "../line.ts";
import type { Resource, ResourceMode, ResourceName } from "../resource.ts";
import type { LimitScope, PauseScope, QueueName, WindowScope } from "../scope.ts";
import type { Version } from "../version.ts";
import type { WaitingCause } from "../waiting-cause.ts";

/** A pending task run that asks to be admitted. */
export interface Candidate extends LinePlace {
  readonly taskId: TaskId;
  readonly runId: RunId | null;
  readonly kind: string;
  readonly queue: QueueName;
  readonly concurrencyKey: string | null;
  readonly rate: string | null;
  readonly runAt: Date | null;
  readonly version: Version | null;
  /** It may start below a version that is DONE. */
  readonly outOfOrder: boolean;
  readonly resources: readonly Resource[];
}

/** What rules can be put on, of one candidate or of many. */
export interface Ruled {
  readonly queues: Iterable<QueueName>;
  readonly runIds: Iterable<RunId>;
  readonly resources: Iterable<ResourceName>;
}

export function ruledOf({ queue, runId, resources }: Candidate): Ruled {
  return {
    queues: [queue],
    runIds: runId === null ? [] : [runId],
    resources: resources.map(({ name }) => name),
  };
}

/** One who waits at a resource and at nothing else. */
export interface LineEntry extends LinePlace {
  readonly mode: ResourceMode;
  readonly version: Version | null;
}

export interface ResourceView {
  /** The task run that has it alone, if any. */
  readonly exclusiveHolder: TaskRunId | null;
  /** The task it is kept for after its holder was lost with its instance. */
  readonly reservedFor: TaskId | null;
  /** Some of those that share it; `sharedCount` is how many there are. */
  readonly sharedHolders: readonly TaskRunId[];
  readonly sharedCount: number;
  /** The front of its line, and the first of the whole line that wants it alone. */
  readonly line: readonly LineEntry[];
  /** There is more of the line than what `line` holds. */
  readonly lineGoesOn: boolean;
  /** There may be more that want it alone than those in `line`. */
  readonly exclusiveGoesOn: boolean;
  readonly lowestOpenVersion: { readonly version: Version; readonly taskRunId: TaskRunId } | null;
  /** The largest that has ended DONE. */
  readonly doneVersion: Version | null;
}

export interface LimitView {
  /** 0: unlimited, and nobody is counted. */
  readonly limit: number;
  /** Task runs of this scope that are AVAILABLE or RUNNING. */
  readonly active: number;
}

export interface RateView {
  readonly amount: number;
  readonly perMs: number;
  /** How many may start now. */
  readonly free: number;
  /** When the next slot is free; null: somebody has taken it and not started yet. */
  readonly nextFreeAt: Date | null;
}

export interface PauseView {
  readonly since: Date;
  readonly by: string | null;
  readonly reason: string | null;
}

export interface StopView {
  readonly code: string;
  readonly detail: string | null;
  readonly since: Date;
}

/** What the windows of one scope say at this moment. */
export type WindowView =
  | { readonly kind: "open"; readonly until: Date | null }
  | {
      readonly kind: "closed";
      readonly because: "maintenance" | "freeze";
      readonly opensAt: Date | null;
    };

export interface GateView {
  readonly now: Date;
  /** Something that one of the candidates is under is paused. */
  readonly hasPauses: boolean;
  /** Something that one of the candidates is under has windows. */
  readonly hasWindows: boolean;
  /** How many of one run may be AVAILABLE at once. */
  readonly fairShare: number;
  resource(name: ResourceName): ResourceView;
  limit(scope: LimitScope): LimitView;
  /** Task runs of this run that are AVAILABLE: promoted, and not claimed yet. */
  availableOf(runId: RunId): number;
  rate(name: string): RateView;
  pause(scope: PauseScope): PauseView | null;
  stops(taskId: TaskId): readonly StopView[];
  window(scope: WindowScope): WindowView;
  /** Whether a live instance can run this kind. */
  isServed(kind: string): boolean;
}

/** Nothing: the gate is open. Otherwise one cause per thing that blocks. */
export type Gate = (candidate: Candidate, view: GateView) => readonly WaitingCause[];

/**
 * The instance that ran this task was lost while it held a resource alone, and the resource is kept
 * for the task. It goes on before anything else on its resources: whoever came later, with a smaller
 * version or an earlier place in line, would wait for that resource and it for them, for ever.
 */
export function continuesAfterLoss(candidate: Candidate, view: GateView): boolean {
  return candidate.resources.some(({ name }) => view.resource(name).reservedFor === candidate.taskId);
}
