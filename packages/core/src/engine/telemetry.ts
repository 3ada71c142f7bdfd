/** Everything an instance tells about itself, in one place: logs, counters and spans hang on these events. */

import type { InstanceId, TaskId, TaskRunId } from "../domain/ids.ts";
import type { TerminalStatus } from "../domain/task-status.ts";

/** Enough to name a task run in a log line. */
export interface NamedTaskRun {
  readonly taskRunId: TaskRunId;
  readonly taskId: TaskId;
  readonly title: string;
  readonly attempt: number;
}

export type SchedulerEvent =
  | { readonly type: "instance.joined"; readonly instanceId: InstanceId }
  | { readonly type: "instance.left"; readonly instanceId: InstanceId }
  /** Its lease could not be renewed: it gave up everything before others could take it. */
  | { readonly type: "instance.fenced"; readonly instanceId: InstanceId; readonly aborted: number }
  /** The database is on another WAL timeline than before: a standby was promoted. Whatever the old one had not sent is gone. */
  | { readonly type: "timeline.changed"; readonly from: number; readonly to: number }
  /** This instance found another one dead. */
  | {
      readonly type: "instance.lost";
      readonly lostInstanceId: InstanceId;
      readonly lostName: string;
      readonly silentMs: number;
    }
  | { readonly type: "task_run.promoted"; readonly taskRunIds: readonly TaskRunId[] }
  /** AVAILABLE ones that may not start any more: paused, outside their window, under new rules, without an executor. */
  | { readonly type: "task_run.demoted"; readonly taskRunIds: readonly TaskRunId[] }
  | { readonly type: "gate.lock_missed" }
  /** A task run could not be judged. It waits on; the others are not held up by it. */
  | { readonly type: "gate.failed"; readonly taskRunId: TaskRunId; readonly error: unknown }
  | (NamedTaskRun & { readonly type: "task_run.claimed"; readonly claimNo: number })
  | (NamedTaskRun & {
      readonly type: "task_run.settled";
      readonly status: TerminalStatus;
      readonly outcome: string;
      readonly message: string | null;
      readonly nextTaskRunId: TaskRunId | null;
      readonly nextInMs: number | null;
    })
  /** A result came for a claim that is not the current one any more; it was discarded. */
  | (NamedTaskRun & { readonly type: "task_run.refused"; readonly claimNo: number })
  | (NamedTaskRun & {
      readonly type: "task_run.rescued";
      readonly fromInstanceId: InstanceId;
      readonly fromName: string;
      readonly status: TerminalStatus;
      readonly nextTaskRunId: TaskRunId | null;
    })
  /** A claim whose answer was lost was given back. */
  | { readonly type: "task_run.handed_back"; readonly taskRunId: TaskRunId; readonly claimNo: number }
  /** The instance ran something that the database says is not its own. */
  | { readonly type: "task_run.aborted"; readonly taskRunId: TaskRunId; readonly claimNo: number }
  | { readonly type: "loop.failed"; readonly loop: string; readonly error: unknown };

export type Emit = (event: SchedulerEvent) => void;
