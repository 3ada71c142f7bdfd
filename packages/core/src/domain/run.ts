import type { RunId } from "./ids.ts";
import type { TaskRunStatus, TerminalStatus } from "./task-status.ts";

/** Where a run is: RUNNING while a task of it is open, also before the first has started; then as its tasks ended. */
export type RunStatus = "RUNNING" | TerminalStatus;

export const RUN_STATUSES: readonly RunStatus[] = ["RUNNING", "DONE", "FAILED", "CANCELED"];

/** A run as callers see it. */
export interface Run {
  readonly runId: RunId;
  readonly title: string;
  readonly status: RunStatus;
  /** How many of its task runs may be AVAILABLE or RUNNING at once; 0 is unlimited. */
  readonly limit: number;
  /** Tasks that are PENDING, AVAILABLE or RUNNING. */
  readonly openTasks: number;
  /** Tasks that ended FAILED and are not tried again; the attempts before them do not count. */
  readonly failedTasks: number;
  readonly canceledTasks: number;
  /** Since when, by whom and why it is paused; null: it is not. */
  readonly paused: {
    readonly since: Date;
    readonly by: string | null;
    readonly reason: string | null;
  } | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
  readonly rowVersion: number;
}

/** With what only a single look asks for. */
export interface RunDetail extends Run {
  /** Its tasks by the status of their newest task run. What has been pruned is not among them. */
  readonly tasks: Readonly<Record<TaskRunStatus, number>>;
}

/** Which runs `listRuns` answers; all that is given must hold. */
export interface RunFilter {
  readonly status?: readonly RunStatus[];
  /** From 1 to 500. Default: 50. */
  readonly limit?: number;
  /** `next` of the page before. */
  readonly before?: RunId;
}

/** One page of `listRuns`. */
export interface RunPage {
  readonly runs: readonly Run[];
  /** Give it as `before` to get the next page; null on the last one. */
  readonly next: RunId | null;
}
