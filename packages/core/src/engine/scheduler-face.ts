/** What a caller sees of a scheduler: its calls, what they take and what they answer. */

import type { AttemptFilter, AttemptPage } from "../domain/attempts.ts";
import type { CancelCounts, CancelFilter, RetryCounts, RetryFilter } from "../domain/bulk.ts";
import type { Explanation } from "../domain/explanation.ts";
import type { InstanceId, OperationId, RunId, TaskId, TaskRunId } from "../domain/ids.ts";
import type { InstanceDetail, InstanceList } from "../domain/instance-view.ts";
import type { LogEntry, LogPage } from "../domain/log.ts";
import type { LogSearch, LogSearchOptions } from "../domain/log-search.ts";
import type {
  Operation,
  OperationItemFilter,
  OperationItemPage,
  OperationListFilter,
  OperationPage,
  OperationPreview,
  OperationRequest,
} from "../domain/operation.ts";
import type { QueueList } from "../domain/queue-view.ts";
import type { ResourceName } from "../domain/resource.ts";
import type { ResourceDetail, ResourceFilter, ResourcePage } from "../domain/resource-view.ts";
import type { RulesInForce } from "../domain/rules-in-force.ts";
import type { RunDetail, RunFilter, RunPage } from "../domain/run.ts";
import type { Overview, TaskRunDetail, TaskRunFilter, TaskRunPage } from "../domain/task-run.ts";
import type { TaskSpec } from "../domain/task-spec.ts";
import type { TaskRunStatus } from "../domain/task-status.ts";
import type { InvariantReport } from "../store/invariants/check.ts";
import type { MigrationReport } from "../store/migrations/migration-report.ts";
import type { Deferred } from "./deferrer.ts";
import type { InstanceHealth } from "./health.ts";
import type { Retried } from "./retrier.ts";
import type { RuleRequest, Rules } from "./rule-keeper.ts";

/** A `pg` client on which you sent BEGIN, or anything with the same `query`. Never a pool: each statement of that commits by itself. */
export interface CallerTransaction {
  query(statement: { text: string; values: unknown[] }): Promise<{ rows: unknown[] }>;
}

/** How a task is enqueued. */
export interface EnqueueOptions {
  /** The task is there exactly when this transaction of yours commits. Default: it is there when the call resolves. */
  readonly transaction?: CallerTransaction;
  /**
   * Makes the call safe to repeat, also after an answer that was lost: the same key with the same request answers what
   * it answered the first time and enqueues nothing. Remembered for at least 30 days.
   */
  readonly idempotencyKey?: string;
}

/** How several tasks are enqueued. */
export interface EnqueueManyOptions extends EnqueueOptions {
  /** Puts all of them into one new run, which ends when the last of them has ended. Default: each stands alone. */
  readonly run?: {
    readonly title: string;
    /** How many of its task runs may be AVAILABLE or RUNNING at once. Default: 0, unlimited. */
    readonly limit?: number;
  };
}

/** A task as it was enqueued: AVAILABLE where no gate can apply to it. */
export interface Enqueued {
  readonly taskId: TaskId;
  readonly taskRunId: TaskRunId;
  readonly status: Extract<TaskRunStatus, "PENDING" | "AVAILABLE">;
}

/** Tasks as they were enqueued. */
export interface EnqueuedMany {
  /** Null where no run was asked for. */
  readonly runId: RunId | null;
  /** In the order of the specs. */
  readonly taskRuns: readonly Enqueued[];
}

/** What a cancel came to; `cancel` says what each of them means. */
export type CancelAnswer = "canceled" | "canceling" | "ended";

/** Which part of a log is read. */
export interface ReadLogOptions {
  /** `next` of the page before. Default: 0, the beginning. */
  readonly from?: number;
  /** Default: 100, at most 1000. */
  readonly limit?: number;
}

/** From where a log is followed, and until when. */
export interface FollowLogOptions extends Pick<ReadLogOptions, "from"> {
  readonly signal?: AbortSignal;
}

/** How much of the rules is read. */
export interface ReadRulesOptions {
  /** How many rules of each list, from 1 to 100,000. Default: 1000. */
  readonly limit?: number;
}

/** How far what is open is counted. */
export interface OverviewOptions {
  /** From 1 to 10,000,000, the default. Counting takes longer the more there is; a page that asks often needs no more than "10,000 or more". */
  readonly countUpTo?: number;
}

/** Who asks for a cancel, and why; recorded with it. */
export interface CancelOptions {
  readonly by?: string;
  readonly reason?: string;
}

/** Until when something is deferred, by whom and why; one of the two times. */
export interface DeferOptions extends CancelOptions {
  /** Not before this instant, which must lie ahead. */
  readonly runAt?: Date;
  /** So long from now, by the database's clock; at most a year. */
  readonly delayMs?: number;
}

/** Who asks for an operation and why, and what makes it safe to ask twice. */
export interface OperationOptions extends CancelOptions {
  /** The same key with the same request answers the operation of the first call. Remembered for at least 30 days. */
  readonly idempotencyKey?: string;
}

/**
 * An instance of the scheduler. Enqueuing and asking need no `start`: that is only for executing. Every call checks its
 * arguments before it sends anything, and rejects with DATABASE_UNREACHABLE while there is no database.
 */
export interface Scheduler extends Rules {
  /** Brings the schema up to date. Safe to call from any number of processes at once. */
  readonly migrate: () => Promise<{ readonly applied: readonly string[] }>;
  /** What `migrate` has applied and what it would apply, in its order. Only reads. */
  readonly migrations: () => Promise<readonly MigrationReport[]>;
  /**
   * Joins the cluster: promotes, claims, executes, rescues. Once per scheduler; refused while the schema is not up to
   * date. It may be tried again after it was rejected.
   */
  readonly start: () => Promise<void>;
  /**
   * Leaves it: claims nothing more, waits for what runs up to `drainMs`, then tells it to end, and resolves when nothing
   * of it is RUNNING any more. A handler that ignores its signal for `obeyMs` is left behind: it fails with HANDLER_STUCK.
   * What says that it always ends has 10 s more, and so have processes; then its lease runs out by itself. A result that
   * the database does not take is tried again for 5 s.
   */
  readonly stop: () => Promise<void>;
  /** Whether this instance does its share, by what it knows itself: for a readiness probe. Asks nobody. */
  readonly health: () => InstanceHealth;
  /**
   * Resolves when the task is committed, or written in your transaction. Refuses what is not valid: INVALID_TASK,
   * INVALID_INPUT. ANSWER_LOST: it is not known whether it is there; repeat it with the idempotency key that it had.
   */
  readonly enqueue: (spec: TaskSpec, options?: EnqueueOptions) => Promise<Enqueued>;
  /**
   * All or none, in one transaction and few statements: for many tasks at once, at most 100,000. ANSWER_LOST: as with
   * `enqueue`, it is not known whether they are there.
   */
  readonly enqueueMany: (specs: readonly TaskSpec[], options?: EnqueueManyOptions) => Promise<EnqueuedMany>;
  /**
   * Asks a task or task run to stop. Resolves once the request is recorded, not once the work has ended.
   * `canceled`: it had not started. `canceling`: it runs and has been told. `ended`: too late, nothing changed.
   */
  cancel(id: string, options?: CancelOptions): Promise<CancelAnswer>;
  /** Cancels all that the filter names, a bite at a time. A call that breaks off has done a part of it: repeat it. */
  readonly cancelMany: (filter: CancelFilter, options?: CancelOptions) => Promise<CancelCounts>;
  /** Cancels what is open of a run, which ends with it. */
  readonly cancelRun: (runId: RunId, options?: CancelOptions) => Promise<CancelCounts>;
  /**
   * One more attempt for a task that FAILED or was CANCELED, whatever its policy says. Takes the id of a task, or of its
   * newest task run. Of a run that had ended it is an open task again, and the run is RUNNING until it ends.
   */
  readonly retry: (id: string, options?: { readonly by?: string }) => Promise<Retried>;
  /** The same for all that the filter names. A call that breaks off has done a part of it: repeat it. */
  readonly retryMany: (filter: RetryFilter, options?: { readonly by?: string }) => Promise<RetryCounts>;
  /**
   * Gives a task run that has not started another run time: it is PENDING until then. Takes the id of a task or a task run.
   * NOT_DEFERRABLE where it runs or has ended.
   */
  readonly defer: (id: string, options: DeferOptions) => Promise<Deferred>;
  /** What an operation would be about at this moment, and the first five of it. Counted up to a bound. */
  readonly previewOperation: (request: OperationRequest) => Promise<OperationPreview>;
  /**
   * Cancels or retries all that the filter fits, as an operation: it resolves when that is recorded, and started instances
   * carry it on from there, also after the death of any of them. EMPTY_FILTER where the filter says nothing.
   */
  readonly startOperation: (request: OperationRequest, options?: OperationOptions) => Promise<Operation>;
  /** How far it is. Takes a full id; so do the next two. OPERATION_NOT_FOUND where it is of none. */
  readonly getOperation: (operationId: OperationId) => Promise<Operation>;
  /** What it could not do and why, in the order in which it came to them. The first 1000 are kept. */
  readonly listOperationItems: (
    operationId: OperationId,
    filter?: OperationItemFilter,
  ) => Promise<OperationItemPage>;
  /** It goes on no further; what it has done stays. False: it was over. */
  readonly abortOperation: (operationId: OperationId, request?: RuleRequest) => Promise<boolean>;
  /** Operations, newest first, page by page; an ended one for at least 30 days. */
  readonly listOperations: (filter?: OperationListFilter) => Promise<OperationPage>;
  /** Why a task or task run is where it is: every gate, passed or blocking. Takes a full id or a unique prefix. */
  readonly explain: (id: string) => Promise<Explanation>;
  /** One task run (or the newest one of a task). Takes a full id or a unique prefix. */
  readonly get: (id: string) => Promise<TaskRunDetail>;
  /** Newest first, or oldest (`order`), page by page. TOO_SLOW where a statement takes longer than 5 s, as for every list. */
  readonly list: (filter?: TaskRunFilter) => Promise<TaskRunPage>;
  /** All task runs of the task that an id means, newest first, page by page. Takes a full id or a unique prefix. */
  readonly listAttempts: (id: string, filter?: AttemptFilter) => Promise<AttemptPage>;
  /**
   * One run: its status, its limit, whether it is paused, and how many of its tasks are in which status. Takes a full id;
   * RUN_NOT_FOUND where it is of no run. Counts its tasks, so that it takes longer for a run with very many.
   */
  readonly getRun: (runId: RunId) => Promise<RunDetail>;
  /** Runs, newest first, page by page; without the counts that `getRun` makes. */
  readonly listRuns: (filter?: RunFilter) => Promise<RunPage>;
  /**
   * Every rule in force: limits and weights of queues, limits of keys, rates, pauses, windows, stops and reservations,
   * each with since when, by whom and why where that is kept. As of one moment, whatever is changed meanwhile.
   */
  readonly readRules: (options?: ReadRulesOptions) => Promise<RulesInForce>;
  /**
   * Every queue that has rules or open work, with its rules and how much of it waits, is available and runs. Of very much
   * work only a part is looked at; the counts say so.
   */
  readonly listQueues: () => Promise<QueueList>;
  /** Resources by name, page by page: who has each, how many wait for it, and its rules. */
  readonly listResources: (filter?: ResourceFilter) => Promise<ResourcePage>;
  /** One resource with its holders and its line. Any name is one: a resource that nobody has named is free. */
  readonly getResource: (name: ResourceName) => Promise<ResourceDetail>;
  /** Every instance that lives, and for ten minutes each that died. */
  readonly listInstances: () => Promise<InstanceList>;
  /** One instance with up to 200 of the task runs that it holds. Takes a full id. INSTANCE_NOT_FOUND where there is none. */
  readonly getInstance: (instanceId: InstanceId) => Promise<InstanceDetail>;
  /** How much waits at which gate, how much is available and running, and which instances there are. */
  readonly overview: (options?: OverviewOptions) => Promise<Overview>;
  /** What a task run has printed, from `from` on: whole entries, at most `limit` (default 100). Takes a full id or a unique prefix. */
  readonly readLog: (id: string, options?: ReadLogOptions) => Promise<LogPage>;
  /** The same as it grows. Ends when the task run has ended and all was given, or when `signal` is aborted. */
  readonly followLog: (id: string, options?: FollowLogOptions) => AsyncIterable<LogEntry>;
  /**
   * The lines of the whole log that contain a text, whatever its case. Takes a full id or a unique prefix. TOO_SLOW where a
   * statement takes longer than 15 s.
   */
  readonly searchLog: (id: string, options: LogSearchOptions) => Promise<LogSearch>;
  /** In force when it resolves; whoever is above a lowered limit already stays. 0: unlimited. */
  readonly setRunLimit: (runId: RunId, limit: number) => Promise<void>;
  /**
   * Asks an instance to claim nothing more, in whichever process it runs: what it runs goes on, and when that has ended it can be
   * stopped without harm. Takes its full id. Counts from its next look; its own `health` says so with its next beat. False: it was
   * draining before, or is dead.
   */
  readonly drainInstance: (instanceId: InstanceId, request?: RuleRequest) => Promise<boolean>;
  /**
   * Takes that back, also where it has lost its lease and is about to come back under another id. False: nobody had asked it, it
   * leaves by itself, or it has come back already and was asked for the same under its new id.
   */
  readonly callInstanceBack: (instanceId: InstanceId) => Promise<boolean>;
  /**
   * Looks for broken promises in the database, in the open work and in what began or ended since `since`
   * (default: an hour ago). Reads only.
   */
  readonly checkInvariants: (options?: { readonly since?: Date }) => Promise<InvariantReport>;
}
