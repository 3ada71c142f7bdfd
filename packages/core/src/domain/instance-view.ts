import type { InstanceView, TaskRun } from "./task-run.ts";

/** The instances of `overview`, without its counts. */
export interface InstanceList {
  readonly computedAt: Date;
  readonly instances: readonly InstanceView[];
}

/** One instance with what it holds. */
export interface InstanceDetail extends InstanceView {
  readonly computedAt: Date;
  /** RUNNING and claimed by it, newest first; also what it only polls. */
  readonly taskRuns: readonly TaskRun[];
  /** It holds more than these. */
  readonly cut: boolean;
}
