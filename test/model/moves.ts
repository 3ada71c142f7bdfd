/** What each move of a task run makes of the oracle's memory. */

import {
  inLineOrder,
  isActive,
  isServed,
  type Model,
  type ModelTask,
  type ModelTaskRun,
  modeAt,
  newestOf,
  queueLimit,
  taskRunsOf,
} from "./model.ts";

export interface Next {
  readonly interruptions: number;
  readonly later: boolean;
  /** What it held alone is kept for the task. */
  readonly keeps: boolean;
}

export function addAttempt(task: ModelTask, { interruptions, later }: Omit<Next, "keeps">): ModelTaskRun {
  const taskRun: ModelTaskRun = {
    task,
    attempt: task.attempts.length + 1,
    interruptions,
    priority: task.kept.size > 0 ? -1 : task.wish.priority,
    taskRunId: "",
    enqueuedUs: 0,
    availableUs: 0,
    status: "PENDING",
    outcome: null,
    deferrals: 0,
    later,
    canceling: false,
    parked: later ? { gate: "RUN_AT", key: "" } : null,
    claimNo: null,
    claimedBy: null,
    letGo: false,
    job: null,
    holds: new Set(),
  };
  task.attempts.push(taskRun);
  return taskRun;
}

export function end(
  taskRun: ModelTaskRun,
  status: "DONE" | "FAILED" | "CANCELED",
  outcome: string,
  next: Next | null = null,
): void {
  const { task, holds } = taskRun;
  if (next?.keeps === true) {
    for (const { name } of task.wish.resources) {
      if (holds.has(`resource:${name}`) && modeAt(taskRun, name) === "exclusive") task.kept.add(name);
    }
  }
  holds.clear();
  Object.assign(taskRun, { status, outcome, parked: null, job: null });
  if (next === null) task.kept.clear();
  else addAttempt(task, next);
}

/** Not started: it ends. Running: it is asked to. */
export function cancel(taskRun: ModelTaskRun): "canceled" | "canceling" | "ended" {
  if (taskRun.status !== "PENDING" && !isActive(taskRun)) return "ended";
  taskRun.canceling = true;
  if (taskRun.status === "RUNNING") {
    hasten(taskRun);
    return "canceling";
  }
  end(taskRun, "CANCELED", "CANCELED");
  return "canceled";
}

/** Whoever polls next is to end it; an instance that has it is told. */
function hasten({ job }: ModelTaskRun): void {
  if (job !== null && job.poll !== "never") job.poll = "due";
}

export function backToPending(taskRun: ModelTaskRun, later = false): void {
  taskRun.holds.clear();
  const parked = later ? { gate: "RUN_AT" as const, key: "" } : null;
  Object.assign(taskRun, { status: "PENDING", claimedBy: null, later, parked, job: null });
}

export function admit(taskRun: ModelTaskRun, model: Model): void {
  const { run, wish } = taskRun.task;
  if (run !== null) taskRun.holds.add(`run:${run.runId}`);
  if (queueLimit(model, wish.queue) > 0) taskRun.holds.add(`queue:${wish.queue}`);
  if (wish.concurrencyKey !== null) taskRun.holds.add(`key:${wish.concurrencyKey}`);
  for (const { name } of wish.resources) taskRun.holds.add(`resource:${name}`);
  Object.assign(taskRun, { status: "AVAILABLE", parked: null });
}

/** What no live instance can run does not stay AVAILABLE once somebody looks. */
export function demoteUnserved(model: Model): readonly ModelTaskRun[] {
  return demote(model, ({ task }) => !isServed(model, task.wish.kind));
}

/** Answers whom. */
export function demote(model: Model, which: (taskRun: ModelTaskRun) => boolean): readonly ModelTaskRun[] {
  const those = available(model).filter(which);
  for (const taskRun of those) backToPending(taskRun);
  return those;
}

function available(model: Model): readonly ModelTaskRun[] {
  return taskRunsOf(model).filter(({ status }) => status === "AVAILABLE");
}

/** Its start does not count any more: it was handed back. */
export function unstart(taskRun: ModelTaskRun, model: Model): void {
  const at = model.rateStarts.lastIndexOf(taskRun);
  if (at >= 0) model.rateStarts.splice(at, 1);
}

export interface RunTally {
  readonly status: string;
  readonly open: number;
  readonly failed: number;
  readonly canceled: number;
}

export function tally(tasks: readonly ModelTask[]): RunTally {
  const count = (...statuses: readonly string[]): number =>
    tasks.filter((task) => statuses.includes(newestOf(task).status)).length;
  const [open, failed, canceled] = [
    count("PENDING", "AVAILABLE", "RUNNING"),
    count("FAILED"),
    count("CANCELED"),
  ];
  if (open > 0) return { status: "RUNNING", open, failed, canceled };
  const status = failed > 0 ? "FAILED" : canceled > 0 ? "CANCELED" : "DONE";
  return { status, open, failed, canceled };
}

/** In the order in which a queue gives them out. */
export function inClaimOrder(taskRuns: readonly ModelTaskRun[]): readonly ModelTaskRun[] {
  return inLineOrder(taskRuns).toSorted((a, b) => {
    if (a.priority !== b.priority) return a.priority - b.priority;
    if (a.availableUs !== b.availableUs) return a.availableUs - b.availableUs;
    return a.taskRunId < b.taskRunId ? -1 : 1;
  });
}
