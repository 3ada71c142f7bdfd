/**
 * Everything an instance tells about itself, in one place: logs, counters and spans hang on these events.
 *
 * Events are data. A length ends in `Ms`: where it is between two stamps of a task run it is by the database's
 * clock, else by this process's monotonic one. `error` is what was thrown, whatever that is.
 */

import type { InstanceId, OperationId, TaskId, TaskRunId } from "../domain/ids.ts";
import type { OperationVerb } from "../domain/operation.ts";
import type { TerminalStatus } from "../domain/task-status.ts";
import type { DatabaseState } from "../store/database-state.ts";

/** Enough to name a task run in a log line. */
export interface NamedTaskRun {
  readonly taskRunId: TaskRunId;
  readonly taskId: TaskId;
  readonly kind: string;
  readonly title: string;
  readonly attempt: number;
}

/** One thing that happened on this instance; docs/reference/telemetry.md has them all. */
export type SchedulerEvent =
  | { readonly type: "instance.joined"; readonly instanceId: InstanceId }
  /** It was told to stop: it claims nothing more and waits for what it executes. */
  | { readonly type: "instance.draining"; readonly instanceId: InstanceId; readonly executing: number }
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
  | { readonly type: "lease.renewed"; readonly instanceId: InstanceId; readonly tookMs: number }
  /** A beat failed. The lease holds on for `trustedForMs`; then everything is given up. */
  | {
      readonly type: "lease.renewal_failed";
      readonly instanceId: InstanceId;
      readonly trustedForMs: number;
      readonly error: unknown;
    }
  | { readonly type: "task_run.promoted"; readonly taskRunIds: readonly TaskRunId[] }
  /** AVAILABLE ones that may not start any more: paused, outside their window, under new rules, without an executor. */
  | { readonly type: "task_run.demoted"; readonly taskRunIds: readonly TaskRunId[] }
  | { readonly type: "gate.lock_missed" }
  /** A task run could not be judged. It waits on; the others are not held up by it. */
  | { readonly type: "gate.failed"; readonly taskRunId: TaskRunId; readonly error: unknown }
  | (NamedTaskRun & {
      readonly type: "task_run.claimed";
      readonly claimNo: number;
      /** Since it was enqueued, or since its run time where that is later. */
      readonly waitedMs: number;
      /** Since it became AVAILABLE: how long no instance had a free slot for it, or heard of it. */
      readonly availableMs: number;
    })
  | (NamedTaskRun & {
      readonly type: "task_run.settled";
      readonly status: TerminalStatus;
      readonly outcome: string;
      readonly message: string | null;
      /** How long its execution took on this instance; of an outside job, since it was started. */
      readonly ranMs: number;
      readonly nextTaskRunId: TaskRunId | null;
      readonly nextInMs: number | null;
    })
  /** It asked for a later time, without spending an attempt. */
  | (NamedTaskRun & {
      readonly type: "task_run.deferred";
      readonly deferrals: number;
      readonly runInMs: number;
      readonly reason: string | null;
    })
  /** An outside job goes on with it; its slot is free. */
  | (NamedTaskRun & {
      readonly type: "task_run.let_go";
      readonly pollInMs: number;
      readonly deadlineInMs: number;
    })
  /** Its outside job was asked and still runs, or could not be asked. */
  | (NamedTaskRun & {
      readonly type: "task_run.polled";
      readonly pollInMs: number;
      readonly problem: string | null;
    })
  /** What a lost instance had is an outside job now, or still: others go on with it. */
  | (NamedTaskRun & {
      readonly type: "task_run.resumed";
      readonly fromInstanceId: InstanceId;
      readonly fromName: string;
    })
  /** A larger version is DONE on the resource: it has FAILED without a start. */
  | (NamedTaskRun & {
      readonly type: "task_run.out_of_order";
      readonly resource: string;
      readonly version: string;
      readonly doneVersion: string;
    })
  /** It waited for longer than it may. */
  | (NamedTaskRun & { readonly type: "task_run.queue_timed_out"; readonly nextTaskRunId: TaskRunId | null })
  /** A process of it runs. With its start time the pid names it for ever, where the system tells (Linux). */
  | (NamedTaskRun & {
      readonly type: "process.started";
      readonly claimNo: number;
      readonly pid: number;
      readonly startTime: string | null;
    })
  /** Nothing of the group of a process is left. */
  | (NamedTaskRun & {
      readonly type: "process.ended";
      readonly claimNo: number;
      readonly pid: number;
      readonly startTime: string | null;
      readonly exitCode: number | null;
      readonly signal: string | null;
      /** Where that was not its own doing. */
      readonly because: "lease" | "run_timeout" | "warden_lost" | null;
      /** It was told to end before it did. */
      readonly told: boolean;
    })
  /** It ignores its signal: it is settled, and its slot stays taken until it ends. */
  | (NamedTaskRun & {
      readonly type: "task_run.stuck";
      readonly claimNo: number;
      /** How many of the instance's executions are stuck now. */
      readonly stuck: number;
    })
  /** It ran for too long while it blocked the main loop: the lease's thread has settled it. */
  | (NamedTaskRun & { readonly type: "task_run.overdue"; readonly claimNo: number })
  /** It has ended at last: its slot is free again. */
  | (NamedTaskRun & { readonly type: "task_run.unstuck"; readonly claimNo: number; readonly stuck: number })
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
  /** An operation was carried on to its end; its counts are with the operation itself. */
  | {
      readonly type: "operation.done";
      readonly operationId: OperationId;
      readonly verb: OperationVerb;
    }
  /** What had been kept long enough is gone. */
  | {
      readonly type: "retention.pruned";
      readonly tasks: number;
      readonly taskRuns: number;
      readonly runs: number;
      readonly idempotencyKeys: number;
      readonly operations: number;
    }
  /** Executions that were told to stop and go on all the same keep their slots. Told whenever their number changes. */
  | { readonly type: "slots.stuck"; readonly stuck: number; readonly slots: number }
  /** A pass of a loop ended well. No event of a loop for a minute means that it hangs. */
  | { readonly type: "loop.passed"; readonly loop: string; readonly tookMs: number }
  | { readonly type: "loop.failed"; readonly loop: string; readonly error: unknown }
  /** Something kept this process busy: nothing else was done meanwhile, the lease's thread excepted. */
  | { readonly type: "event_loop.lagged"; readonly lagMs: number }
  | { readonly type: "event_loop.recovered" }
  /** An idle connection of the pool broke. One that was in use fails its statement instead. */
  | { readonly type: "connection.lost"; readonly error: unknown }
  /** Nobody hears wake-ups any more: polling goes on. */
  | { readonly type: "listener.lost"; readonly error: unknown }
  | { readonly type: "listener.regained"; readonly deafMs: number }
  /** A look at the database, about once a minute. */
  | (DatabaseState & {
      readonly type: "database.watched";
      /** That transaction has been open for more than five minutes: until it ends, no dead row can be cleaned up. */
      readonly overlong: boolean;
    });

export type Emit = (event: SchedulerEvent) => void;

/** Nobody listens. What is told of every task is not even made then: compare with this before. */
export const unheard: Emit = () => {};
