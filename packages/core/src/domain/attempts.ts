import type { TaskId } from "./ids.ts";
import type { TaskRun } from "./task-run.ts";

/** Which attempts of a task `listAttempts` answers. */
export interface AttemptFilter {
  /** From 1 to 500. Default: 50. */
  readonly limit?: number;
  /** `next` of the page before. */
  readonly before?: number;
}

/** The task runs of one task, newest first. */
export interface AttemptPage {
  readonly taskId: TaskId;
  readonly taskRuns: readonly TaskRun[];
  /** Give it as `before` to get the next page; null on the last one. */
  readonly next: number | null;
}
