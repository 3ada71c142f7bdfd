/** The oracle's own reading of the gates: everything that keeps a pending task run from going, in the order of parking. */

import {
  type Cause,
  type GateName,
  holdersOf,
  isAhead,
  isLive,
  isOpen,
  isServed,
  keyLimit,
  type Model,
  type ModelTaskRun,
  modeAt,
  newestOf,
  queueLimit,
  rateFree,
  taskRunsOf,
  type WindowState,
} from "./model.ts";
import { RATE, STOP } from "./steps.ts";

/** Who stands in the lines of its resources. */
export type InLine = (other: ModelTaskRun) => boolean;

export const parkedAtResource: InLine = ({ status, parked }) =>
  status === "PENDING" && parked?.gate === "RESOURCE_BUSY";

const SMALLEST_SHARE = 20;

type Keys = (taskRun: ModelTaskRun, model: Model, inLine: InLine) => readonly string[];

const GATES: Readonly<Record<GateName, Keys>> = {
  RUN_AT: ({ later }) => (later ? [""] : []),
  STOPPED: ({ task }) => (task.stops.has(STOP) ? [task.taskId] : []),
  PAUSED: (taskRun, { paused }) => pausableScopes(taskRun).filter((scope) => paused.has(scope)),
  NO_EXECUTOR: ({ task }, model) => (isServed(model, task.wish.kind) ? [] : [task.wish.kind]),
  WINDOW: (taskRun, { windows }) => windowScopes(taskRun).filter((scope) => isClosed(windows.get(scope))),
  OUT_OF_ORDER: largerDone,
  VERSION_ORDER: smallerVersions,
  RUN_LIMIT: ({ task: { run } }, model) => {
    if (run === null || run.limit === 0) return [];
    return holdersOf(model, `run:${run.runId}`).length >= run.limit ? [run.runId] : [];
  },
  QUEUE_LIMIT: ({ task: { wish } }, model) => {
    const limit = queueLimit(model, wish.queue);
    return limit > 0 && holdersOf(model, `queue:${wish.queue}`).length >= limit ? [wish.queue] : [];
  },
  KEY_LIMIT: ({ task: { wish } }, model) => {
    const key = wish.concurrencyKey;
    if (key === null) return [];
    return holdersOf(model, `key:${key}`).length >= keyLimit(model, key) ? [key] : [];
  },
  FAIR_SHARE: fairShare,
  RATE_LIMIT: ({ task }, model) => (task.wish.rated && rateFree(model) <= 0 ? [RATE] : []),
  RESOURCE_BUSY: (taskRun, model, inLine) =>
    taskRun.task.wish.resources
      .map(({ name }) => name)
      .filter((name) => isHeldAgainst(taskRun, name, model) || isBehind(taskRun, name, model, inLine)),
};

export const GATE_NAMES: readonly GateName[] = Object.keys(GATES) as GateName[];

export function causesOf(taskRun: ModelTaskRun, model: Model, inLine: InLine): readonly Cause[] {
  return GATE_NAMES.flatMap((gate) => GATES[gate](taskRun, model, inLine).map((key) => ({ gate, key })));
}

function pausableScopes(taskRun: ModelTaskRun): readonly string[] {
  const { run, wish } = taskRun.task;
  const ofRun = run === null ? [] : [`run:${run.runId}`];
  return [`queue:${wish.queue}`, ...ofRun, ...wish.resources.map(({ name }) => `resource:${name}`)];
}

export function windowScopes({ task: { wish } }: ModelTaskRun): readonly string[] {
  return [`queue:${wish.queue}`, ...wish.resources.map(({ name }) => `resource:${name}`)];
}

function isClosed(state: WindowState | undefined): boolean {
  return state === "frozen" || state === "maintenance over";
}

/** Its window has closed since it was promoted: it may not start any more, whether or not somebody has seen that. */
export function isShut(taskRun: ModelTaskRun, { windows }: Model): boolean {
  return (
    taskRun.status === "AVAILABLE" && windowScopes(taskRun).some((scope) => isClosed(windows.get(scope)))
  );
}

/** Part by part, as numbers. */
export function isSmallerVersion(a: string, b: string): boolean {
  const [left, right] = [a.split(".").map(Number), b.split(".").map(Number)];
  for (const [index, part] of left.entries()) {
    const other = right[index];
    if (other === undefined) return false;
    if (part !== other) return part < other;
  }
  return left.length < right.length;
}

/** Something larger has ended DONE there. */
function largerDone(taskRun: ModelTaskRun, model: Model): readonly string[] {
  const { version, resources, outOfOrder } = taskRun.task.wish;
  if (version === null || outOfOrder || continuesAfterLoss(taskRun)) return [];
  const former = model.pruned.map(newestOf);
  const larger = [...taskRunsOf(model), ...former].filter((other) => {
    const theirs = other.task.wish.version;
    return other.status === "DONE" && theirs !== null && isSmallerVersion(version, theirs);
  });
  return resources
    .map(({ name }) => name)
    .filter((name) => larger.some((other) => modeAt(other, name) !== null));
}

function smallerVersions(taskRun: ModelTaskRun, model: Model): readonly string[] {
  const { version, resources } = taskRun.task.wish;
  if (version === null || continuesAfterLoss(taskRun)) return [];
  const smaller = taskRunsOf(model).filter((other) => {
    const theirs = other.task.wish.version;
    return isOpen(other) && theirs !== null && isSmallerVersion(theirs, version);
  });
  return resources
    .map(({ name }) => name)
    .filter((name) => smaller.some((other) => modeAt(other, name) !== null));
}

/** A resource is kept for its task: it goes before all others there. */
function continuesAfterLoss({ task }: ModelTaskRun): boolean {
  return task.kept.size > 0;
}

function fairShare({ task: { run } }: ModelTaskRun, model: Model): readonly string[] {
  if (run === null) return [];
  const slots = model.instances.filter(isLive).reduce((sum, each) => sum + each.slots, 0);
  const available = holdersOf(model, `run:${run.runId}`).filter(({ status }) => status === "AVAILABLE");
  return available.length >= Math.max(SMALLEST_SHARE, 2 * slots) ? [run.runId] : [];
}

function isHeldAgainst(taskRun: ModelTaskRun, name: string, model: Model): boolean {
  const holders = holdersOf(model, `resource:${name}`);
  if (holders.some((holder) => modeAt(holder, name) === "exclusive")) return true;
  if (model.tasks.some((task) => task !== taskRun.task && task.kept.has(name))) return true;
  return modeAt(taskRun, name) === "exclusive" && holders.length > 0;
}

/** Somebody ahead in the line with whom it could not go together. One with a larger version waits for it, not it for that one. */
function isBehind(taskRun: ModelTaskRun, name: string, model: Model, inLine: InLine): boolean {
  if (continuesAfterLoss(taskRun)) return false;
  const { version } = taskRun.task.wish;
  return taskRunsOf(model).some((other) => {
    if (other === taskRun || !inLine(other) || modeAt(other, name) === null) return false;
    if (!isAhead(other, taskRun)) return false;
    if (modeAt(other, name) === "shared" && modeAt(taskRun, name) === "shared") return false;
    const theirs = other.task.wish.version;
    const waitsForUs = version !== null && theirs !== null && isSmallerVersion(version, theirs);
    return !waitsForUs || other.priority < 0;
  });
}
