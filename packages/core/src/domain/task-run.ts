import type { InstanceId, RunId, TaskId, TaskRunId } from "./ids.ts";
import type { Resource } from "./resource.ts";
import type { QueueName } from "./scope.ts";
import type { TaskRunStatus } from "./task-status.ts";
import type { Version } from "./version.ts";
import type { WaitingCode } from "./waiting-cause.ts";

/** A task run as callers see it, with what they need of its task. */
export interface TaskRun {
  readonly taskRunId: TaskRunId;
  readonly taskId: TaskId;
  readonly runId: RunId | null;
  readonly kind: string;
  readonly queue: QueueName;
  readonly title: string;
  readonly tags: readonly string[];
  readonly attempt: number;
  /**
   * How many there can be in all before the task has failed for good: by its retry policy, and one more for each that ended with
   * its instance. A retry by hand may go beyond the policy; it is never less than `attempt`.
   */
  readonly attempts: number;
  readonly status: TaskRunStatus;
  /** 0 is the most urgent, 9 the least; -1 is a task that goes on after its instance was lost. */
  readonly priority: number;
  readonly runAt: Date | null;
  readonly version: Version | null;
  readonly resources: readonly Resource[];
  readonly concurrencyKey: string | null;
  readonly rate: string | null;
  /** The gate under which it is parked while it is PENDING; null before a pass has looked at it. */
  readonly blockedOn: WaitingCode | null;
  readonly enqueuedAt: Date;
  readonly availableAt: Date | null;
  readonly claimedAt: Date | null;
  readonly claimedBy: InstanceId | null;
  readonly instanceName: string | null;
  readonly claimNo: number | null;
  readonly cancelRequestedAt: Date | null;
  readonly finishedAt: Date | null;
  /** A stable code that says how it ended. */
  readonly outcome: string | null;
  readonly rowVersion: number;
}

/** With what only a single look asks for. */
export interface TaskRunDetail extends TaskRun {
  readonly input: unknown;
  /** How long it was parked at which gates, in milliseconds. */
  readonly waitedMs: Readonly<Partial<Record<WaitingCode, number>>>;
  readonly output: unknown;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly cancelRequestedBy: string | null;
  readonly cancelReason: string | null;
}

/** Which task runs `list` answers; all that is given must hold. */
export interface TaskRunFilter {
  readonly status?: readonly TaskRunStatus[];
  readonly runId?: RunId;
  readonly kind?: string;
  readonly queue?: QueueName;
  readonly tag?: string;
  /** How it ended, such as `LEASE_LOST`: one of these. */
  readonly outcome?: readonly string[];
  /** Only the newest attempt of each task: with `status: ["FAILED"]` what nobody and nothing tries again. */
  readonly newest?: boolean;
  /** From 1 to 500. Default: 50. A page may be shorter, and still have a `next`. */
  readonly limit?: number;
  /** `next` of the page before, in the same order. */
  readonly before?: TaskRunId;
  /** Which come first; the oldest only of what is PENDING. Default: "newest". */
  readonly order?: "newest" | "oldest";
}

/** One page of `list`. */
export interface TaskRunPage {
  readonly taskRuns: readonly TaskRun[];
  /** Give it as `before` to get the next page; null on the last one. */
  readonly next: TaskRunId | null;
}

/** What stands where, at a glance. Counts only what is open: the finished are history. */
export interface Overview {
  readonly computedAt: Date;
  /** Of the database. Another one: a standby was promoted, and what was known of rows before may have been undone. */
  readonly timeline: number;
  /** Where each count ends: as many as this means as many or more. */
  readonly countedUpTo: number;
  /** PENDING task runs by the gate under which they are parked; NOT_EVALUATED: no pass has looked yet. */
  readonly waiting: Readonly<Partial<Record<WaitingCode, number>>>;
  readonly available: number;
  /** Also what was let go and is nobody's, so that it may be more than those of the instances together. */
  readonly running: number;
  readonly instances: readonly InstanceView[];
}

/** An instance as the database knows it; a dead one is shown for ten minutes. */
export interface InstanceView {
  readonly instanceId: InstanceId;
  readonly name: string;
  readonly state: "LIVE" | "DRAINING" | "DEAD";
  readonly kinds: readonly string[];
  readonly slots: number;
  /** What takes up its slots, as far as the database knows. A poll takes none. */
  readonly running: number;
  readonly startedAt: Date;
  readonly beatAt: Date;
  readonly leaseUntil: Date;
  /** When it left by itself, of one that is DEAD; null: it was lost. */
  readonly leftAt: Date | null;
  /** Who has asked it to drain, when and why; null: nobody, it is LIVE or leaves by itself. */
  readonly drainRequest: {
    readonly since: Date;
    readonly by: string | null;
    readonly reason: string | null;
  } | null;
}
