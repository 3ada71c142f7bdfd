/**
 * The oracle's memory: what must be in the database, by the rules alone. Written without the product's own decisions,
 * so that the two can disagree. Ids and stamps are the only things it learns from the database.
 */

import { type Kind, RATE, type Wish } from "./steps.ts";

export type Status = "PENDING" | "AVAILABLE" | "RUNNING" | "DONE" | "FAILED" | "CANCELED";
export type GateName =
  | "RUN_AT"
  | "STOPPED"
  | "PAUSED"
  | "NO_EXECUTOR"
  | "WINDOW"
  | "OUT_OF_ORDER"
  | "VERSION_ORDER"
  | "RUN_LIMIT"
  | "QUEUE_LIMIT"
  | "KEY_LIMIT"
  | "FAIR_SHARE"
  | "RATE_LIMIT"
  | "RESOURCE_BUSY";

/** A gate that blocks, and what it is about. */
export interface Cause {
  readonly gate: GateName;
  readonly key: string;
}

export interface ModelTask {
  readonly number: number;
  readonly taskId: string;
  readonly wish: Wish;
  readonly run: ModelRun | null;
  readonly stops: Set<string>;
  readonly attempts: ModelTaskRun[];
  /** Resources that are kept for it since an instance was lost with them, until it ends. */
  readonly kept: Set<string>;
  pruned: boolean;
}

export interface ModelTaskRun {
  readonly task: ModelTask;
  readonly attempt: number;
  readonly interruptions: number;
  priority: number;
  /** "" until it was seen. */
  taskRunId: string;
  enqueuedUs: number;
  availableUs: number;
  status: Status;
  outcome: string | null;
  deferrals: number;
  later: boolean;
  canceling: boolean;
  parked: Cause | null;
  claimNo: number | null;
  claimedBy: string | null;
  /** An outside job has gone on with it once. */
  letGo: boolean;
  job: ModelJob | null;
  /** Of its run, queue, key and resources. */
  readonly holds: Set<string>;
}

/** What goes on outside, or would after a loss. */
export interface ModelJob {
  handle: string;
  /** When it is polled next; never: an instance has it. */
  poll: "never" | "due" | "later" | "at the deadline";
  overdue: boolean;
  /** Instances that were lost with it since it was last asked. */
  losses: number;
}

export interface ModelRun {
  readonly runId: string;
  /** Also those that were pruned: it has counted them. */
  readonly tasks: ModelTask[];
  limit: number;
}

export interface ModelInstance {
  readonly instanceId: string;
  readonly name: string;
  readonly kinds: readonly Kind[];
  readonly slots: number;
  state: "LIVE" | "DRAINING" | "DEAD";
  expired: boolean;
  /** Its process has ended: it does nothing any more, and nobody was told. */
  gone: boolean;
  /** What it believes to run. */
  readonly held: Map<ModelTaskRun, Hold>;
  /** What it has ended by its own memory alone, and under which claim: the database has forgotten. */
  readonly undone: Map<ModelTaskRun, number>;
}

export interface Hold {
  readonly claimNo: number;
  /** It was told to stop. */
  told: boolean;
  handle: "none" | "unsure" | "kept";
  /** It is to be asked after, and this was known when it was taken; null: it is executed. */
  readonly job: { readonly overdue: boolean; readonly cancelRequested: boolean } | null;
}

/** Inside a maintenance window or after it, inside a freeze or after it. */
export type WindowState = "maintained" | "maintenance over" | "frozen" | "freeze over";

export interface Model {
  readonly tasks: ModelTask[];
  /** They are gone. What they did stays done. */
  readonly pruned: ModelTask[];
  readonly runs: ModelRun[];
  readonly instances: ModelInstance[];
  readonly queueLimits: Map<string, number>;
  readonly keyLimits: Map<string, number>;
  readonly paused: Set<string>;
  readonly windows: Map<string, WindowState>;
  rateAmount: number;
  /** Starts within the period. */
  readonly rateStarts: ModelTaskRun[];
  lastClaimNo: number;
}

export function emptyModel(): Model {
  return {
    tasks: [],
    pruned: [],
    runs: [],
    instances: [],
    queueLimits: new Map(),
    keyLimits: new Map(),
    paused: new Set(),
    windows: new Map(),
    rateAmount: 0,
    rateStarts: [],
    lastClaimNo: 0,
  };
}

export function taskRunsOf(model: Model): readonly ModelTaskRun[] {
  return model.tasks.flatMap(({ attempts }) => attempts);
}

export function newestOf({ attempts, number }: ModelTask): ModelTaskRun {
  const newest = attempts.at(-1);
  if (newest === undefined) throw new Error(`Task ${number} has no attempt`);
  return newest;
}

export function isOpen({ status }: ModelTaskRun): boolean {
  return status === "PENDING" || isActive({ status });
}

export function isActive({ status }: Pick<ModelTaskRun, "status">): boolean {
  return status === "AVAILABLE" || status === "RUNNING";
}

/** Its claim is the current one. */
export function isHeldBy(
  { status, claimNo, claimedBy }: ModelTaskRun,
  instanceId: string,
  hold: Pick<Hold, "claimNo">,
): boolean {
  return status === "RUNNING" && claimNo === hold.claimNo && claimedBy === instanceId;
}

export function isLive({ state, expired }: ModelInstance): boolean {
  return state === "LIVE" && !expired;
}

export function isServed(model: Model, kind: Kind): boolean {
  return model.instances.some((instance) => isLive(instance) && instance.kinds.includes(kind));
}

export function queueLimit(model: Model, queue: string): number {
  return model.queueLimits.get(queue) ?? 0;
}

/** Of the key itself, or of its group; one where nobody has said anything. */
export function keyLimit(model: Model, key: string): number {
  const group = `${key.slice(0, key.indexOf(":"))}:*`;
  return model.keyLimits.get(key) ?? model.keyLimits.get(group) ?? 1;
}

export function holdersOf(model: Model, scope: string): readonly ModelTaskRun[] {
  return taskRunsOf(model).filter(({ holds }) => holds.has(scope));
}

export function modeAt({ task }: ModelTaskRun, resource: string): "exclusive" | "shared" | null {
  return task.wish.resources.find(({ name }) => name === resource)?.mode ?? null;
}

export function rateFree(model: Model): number {
  const taken = taskRunsOf(model).filter(({ status, task }) => status === "AVAILABLE" && task.wish.rated);
  return model.rateAmount - taken.length - model.rateStarts.length;
}

/** Priority, then when it was enqueued, then the id. */
export function isAhead(a: ModelTaskRun, b: ModelTaskRun): boolean {
  if (a.priority !== b.priority) return a.priority < b.priority;
  if (a.enqueuedUs !== b.enqueuedUs) return a.enqueuedUs < b.enqueuedUs;
  return a.taskRunId < b.taskRunId;
}

export function inLineOrder(taskRuns: readonly ModelTaskRun[]): readonly ModelTaskRun[] {
  return taskRuns.toSorted((a, b) => (isAhead(a, b) ? -1 : 1));
}

export function labelOf({ task, attempt }: ModelTaskRun): string {
  return `task ${task.number} attempt ${attempt}`;
}

export function rateOf({ rated }: Wish): string | null {
  return rated ? RATE : null;
}
