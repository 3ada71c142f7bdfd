/**
 * The state machine of a task run, as one table, with its names, wire numbers and the status of a task. The statements
 * spell out their own guards; the check of S1 and the tests hold them to this table.
 */

/** Stable numbers on the wire; they never change and are never used again for something else. */
export const STATUS_NUMBER = {
  STATUS_UNSPECIFIED: 0,
  PENDING: 1,
  RUNNING: 2,
  DONE: 3,
  FAILED: 4,
  CANCELED: 5,
  NOT_STARTED: 6,
  SKIPPED: 7,
  AVAILABLE: 8,
} as const;

/** Where a task run is: waiting at gates, free to be claimed, at work, or ended in one of three ways. */
export type TaskRunStatus = "PENDING" | "AVAILABLE" | "RUNNING" | "DONE" | "FAILED" | "CANCELED";
/** What has ended never changes again. */
export type TerminalStatus = "DONE" | "FAILED" | "CANCELED";
/** A task also knows two statuses that no task run has. */
export type TaskStatus = TaskRunStatus | "NOT_STARTED" | "SKIPPED";

/** The order in which people see them. */
export const TASK_RUN_STATUSES: readonly TaskRunStatus[] = [
  "PENDING",
  "AVAILABLE",
  "RUNNING",
  "DONE",
  "FAILED",
  "CANCELED",
];
export const TASK_STATUSES: readonly TaskStatus[] = ["NOT_STARTED", ...TASK_RUN_STATUSES, "SKIPPED"];
/** A person can still do something about these. */
export const ACTIONABLE_STATUSES: readonly TaskStatus[] = [
  "NOT_STARTED",
  "PENDING",
  "AVAILABLE",
  "RUNNING",
  "FAILED",
  "CANCELED",
];
export const TERMINAL_TASK_STATUSES: readonly TaskStatus[] = ["DONE", "SKIPPED"];

const MOVES: Readonly<Record<TaskRunStatus, readonly TaskRunStatus[]>> = {
  // FAILED from here is QUEUE_TIMEOUT, or OUT_OF_ORDER.
  PENDING: ["AVAILABLE", "CANCELED", "FAILED"],
  // Back to PENDING: paused, window closed, limit introduced, no executor left.
  AVAILABLE: ["RUNNING", "PENDING", "CANCELED", "FAILED"],
  // PENDING is a hand-back or a deferral, RUNNING a new claim on an outside job. A retry is a new task run.
  RUNNING: ["DONE", "FAILED", "CANCELED", "PENDING", "RUNNING"],
  DONE: [],
  FAILED: [],
  CANCELED: [],
};

/** A task run begins in one of these. */
export const FIRST_STATUSES: readonly TaskRunStatus[] = ["PENDING", "AVAILABLE"];
export const OPEN_STATUSES: readonly TaskRunStatus[] = ["PENDING", "AVAILABLE", "RUNNING"];

export function canMove(from: TaskRunStatus, to: TaskRunStatus): boolean {
  return MOVES[from].includes(to);
}

export function isTerminal(status: TaskRunStatus): status is TerminalStatus {
  return MOVES[status].length === 0;
}

/** A task has no status column: it is skipped, or not started, or what its newest task run is. */
export function taskStatus(skipped: boolean, newestTaskRun: TaskRunStatus | null): TaskStatus {
  if (skipped) return "SKIPPED";
  return newestTaskRun ?? "NOT_STARTED";
}
