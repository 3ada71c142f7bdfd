/** Wires everything together; the only file that may. */

import { hostname } from "node:os";
import type { CancelCounts, CancelFilter, RetryCounts, RetryFilter } from "../domain/bulk.ts";
import { SchedulerError } from "../domain/errors.ts";
import type { Explanation } from "../domain/explanation.ts";
import { isUuid, type RunId, type TaskId, type TaskRunId } from "../domain/ids.ts";
import type { LogEntry, LogPage } from "../domain/log.ts";
import type { Overview, TaskRunDetail, TaskRunFilter, TaskRunPage } from "../domain/task-run.ts";
import type { TaskSpec } from "../domain/task-spec.ts";
import type { TaskRunStatus } from "../domain/task-status.ts";
import type { Executor } from "../executors/executor.ts";
import { joinTransaction, openPool, type Pool } from "../store/database.ts";
import { readOverview } from "../store/instances/overview.ts";
import { checkInvariants, type InvariantReport } from "../store/invariants/check.ts";
import { readLog } from "../store/logs/read.ts";
import { migrate } from "../store/migrations/migrate.ts";
import { requireSchema } from "../store/migrations/require-schema.ts";
import { changeRunLimit } from "../store/runs/limit.ts";
import { findTaskRun } from "../store/task-runs/find.ts";
import { listTaskRuns, readTaskRun } from "../store/task-runs/read.ts";
import { cancelMany, cancelOnce, cancelRun } from "./canceler.ts";
import { createEngine, type EngineDeps } from "./engine.ts";
import { notifyInside, prepareEnqueue, requireLimit, wakesFor } from "./enqueuer.ts";
import { explainOnce } from "./explainer.ts";
import type { InstanceHealth } from "./health.ts";
import { createLogFollower, type LogFollower } from "./log-follower.ts";
import { type Retried, retryMany, retryOnce } from "./retrier.ts";
import { type Rules, ruleKeeper } from "./rule-keeper.ts";
import { resolveSettings, type SchedulerOptions, type SchedulerSettings } from "./settings.ts";
import type { Emit } from "./telemetry.ts";
import { createWakeups, type Wakeups } from "./wakeups.ts";

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

/** Who asks for a cancel, and why; recorded with it. */
export interface CancelOptions {
  readonly by?: string;
  readonly reason?: string;
}

/** An instance of the scheduler. Enqueuing and asking need no `start`: that is only for executing. */
export interface Scheduler extends Rules {
  /** Brings the schema up to date. Safe to call from any number of processes at once. */
  readonly migrate: () => Promise<{ readonly applied: readonly string[] }>;
  /**
   * Joins the cluster: promotes, claims, executes, rescues. Once per scheduler; refused while the schema is not up to
   * date. It may be tried again after it was rejected.
   */
  readonly start: () => Promise<void>;
  /**
   * Leaves it: claims nothing more, waits for what runs up to `drainMs`, then tells it to end, and resolves when nothing
   * of it is RUNNING any more. A handler that ignores its signal for `obeyMs` is left behind: it fails with HANDLER_STUCK.
   */
  readonly stop: () => Promise<void>;
  /** Whether this instance does its share, by what it knows itself: for a readiness probe. Asks nobody. */
  readonly health: () => InstanceHealth;
  /** Resolves when the task is committed, or written in your transaction. Refuses what is not valid: INVALID_TASK, INVALID_INPUT. */
  readonly enqueue: (spec: TaskSpec, options?: EnqueueOptions) => Promise<Enqueued>;
  /** All or none, in one transaction and few statements: for many tasks at once. */
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
  /** Why a task or task run is where it is: every gate, passed or blocking. Takes a full id or a unique prefix. */
  readonly explain: (id: string) => Promise<Explanation>;
  /** One task run (or the newest one of a task). Takes a full id or a unique prefix. */
  readonly get: (id: string) => Promise<TaskRunDetail>;
  /** Newest first, page by page. */
  readonly list: (filter?: TaskRunFilter) => Promise<TaskRunPage>;
  /** How much waits at which gate, how much is available and running, and which instances there are. */
  readonly overview: () => Promise<Overview>;
  /** What a task run has printed, from `from` on: whole entries, at most `limit` (default 100). Takes a full id or a unique prefix. */
  readonly readLog: (id: string, options?: ReadLogOptions) => Promise<LogPage>;
  /** The same as it grows. Ends when the task run has ended and all was given, or when `signal` is aborted. */
  readonly followLog: (id: string, options?: FollowLogOptions) => AsyncIterable<LogEntry>;
  /** In force when it resolves; whoever is above a lowered limit already stays. 0: unlimited. */
  readonly setRunLimit: (runId: RunId, limit: number) => Promise<void>;
  /**
   * Looks for broken promises in the database, in the open work and in what began or ended since `since`
   * (default: an hour ago). Reads only.
   */
  readonly checkInvariants: (options?: { readonly since?: Date }) => Promise<InvariantReport>;
}

/**
 * Makes an instance. Nothing happens yet, and no connection is opened before the first call. Always `stop` it in the
 * end, started or not: that closes its connections. Throws a RangeError for an option that cannot be.
 */
export function createScheduler(options: SchedulerOptions): Scheduler {
  const settings = resolveSettings(options, `${hostname()}-${process.pid}`);
  const executors = byKind(settings.tasks);
  const emit = quietly(settings.onEvent);
  const pool = openPool({
    url: settings.databaseUrl,
    size: settings.poolSize,
    queryTimeoutMs: settings.queryTimeoutMs,
    applicationName: `signalbox ${settings.name}`.slice(0, 63),
    onConnectionLost: (error) => emit({ type: "connection.lost", error }),
  });
  const wakeups = createWakeups(pool, settings.directUrl, emit);
  const follower = createLogFollower(pool);
  wakeups.on("signalbox_log", follower.wake);
  return {
    ...lifecycle({ pool, settings, executors, wakeups, emit }),
    ...enqueues(pool, executors, wakeups),
    ...interventions(pool, wakeups),
    ...requests(pool, settings, wakeups),
    ...ruleKeeper(pool, wakeups),
    ...logReads(pool, follower),
  };
}

type Lifecycle = Pick<Scheduler, "migrate" | "start" | "stop" | "health">;

function lifecycle(deps: EngineDeps): Lifecycle {
  const { pool, settings, wakeups } = deps;
  const engine = createEngine(deps);
  let starting: Promise<void> | null = null;
  let stopping: Promise<void> | null = null;
  const begin = async (): Promise<void> => {
    await requireSchema(pool);
    await engine.start();
  };
  const end = async (): Promise<void> => {
    // A start that is under way is waited for: half a start cannot be stopped.
    const started =
      (await starting?.then(
        () => true,
        () => false,
      )) === true;
    if (started) await engine.stop();
    await wakeups.stop();
    await pool.close();
  };
  return {
    migrate: async () => await migrate({ url: settings.directUrl }),
    start: async () => {
      if (starting !== null || stopping !== null) {
        throw new SchedulerError("ALREADY_STARTED", { instanceName: settings.name });
      }
      starting = begin();
      try {
        await starting;
      } catch (error) {
        starting = null;
        throw error;
      }
    },
    stop: async () => {
      stopping ??= end();
      await stopping;
    },
    health: engine.health,
  };
}

function enqueues(
  pool: Pool,
  executors: ReadonlyMap<string, Executor>,
  wakeups: Wakeups,
): Pick<Scheduler, "enqueue" | "enqueueMany"> {
  const enqueueMany: Scheduler["enqueueMany"] = async (specs, { run, transaction, idempotencyKey } = {}) => {
    const newRun = run === undefined ? null : { title: run.title, limit: run.limit ?? 0 };
    const request = { specs, run: newRun, idempotencyKey: idempotencyKey ?? null };
    const write = await prepareEnqueue(request, executors);
    if (transaction !== undefined) {
      const tx = joinTransaction(transaction);
      const enqueued = await write(tx);
      await notifyInside(tx, enqueued.taskRuns);
      return enqueued;
    }
    const enqueued = await pool.transaction(write);
    for (const channel of wakesFor(enqueued.taskRuns)) wakeups.send(channel);
    return enqueued;
  };
  return {
    enqueueMany,
    enqueue: async (spec, given) => {
      const { taskRuns } = await enqueueMany([spec], given);
      const [enqueued] = taskRuns;
      if (enqueued === undefined) throw new Error("One task was given and none came back");
      return enqueued;
    },
  };
}

type Interventions = Pick<Scheduler, "cancel" | "cancelMany" | "cancelRun" | "retry" | "retryMany">;

function interventions(pool: Pool, wakeups: Wakeups): Interventions {
  const asked = ({ by, reason }: CancelOptions = {}) => ({ by: by ?? null, reason: reason ?? null });
  const wakeFor = (counts: CancelCounts): CancelCounts => {
    if (counts.canceled > 0) wakeups.send("signalbox_gate");
    if (counts.canceling > 0) wakeups.send("signalbox_cancel");
    return counts;
  };
  return {
    cancel: async (id, options) => {
      const answer = await cancelOnce(pool, id, asked(options));
      if (answer === "canceled") wakeups.send("signalbox_gate");
      if (answer === "canceling") wakeups.send("signalbox_cancel");
      return answer;
    },
    cancelMany: async (filter, options) => wakeFor(await cancelMany(pool, filter, asked(options))),
    cancelRun: async (runId, options) => wakeFor(await cancelRun(pool, runId, asked(options))),
    retry: async (id, { by } = {}) => {
      const retried = await retryOnce(pool, id, by ?? null);
      wakeups.send("signalbox_gate");
      return retried;
    },
    retryMany: async (filter, { by } = {}) => {
      const counts = await retryMany(pool, filter, by ?? null);
      if (counts.retried > 0) wakeups.send("signalbox_gate");
      return counts;
    },
  };
}

function requests(
  pool: Pool,
  settings: SchedulerSettings,
  wakeups: Wakeups,
): Omit<
  Scheduler,
  keyof Lifecycle | keyof Interventions | keyof Rules | keyof LogReads | "enqueue" | "enqueueMany"
> {
  return {
    explain: async (id) => await explainOnce(pool, id),
    get: async (id) => {
      const { taskRunId } = await findTaskRun(pool, id);
      const taskRun = await readTaskRun(pool, taskRunId);
      if (taskRun === null) throw new SchedulerError("TASK_NOT_FOUND", { id });
      return taskRun;
    },
    list: async (filter = {}) => {
      const { runId, before } = filter;
      if (runId !== undefined && !isUuid(runId)) throw new SchedulerError("RUN_NOT_FOUND", { runId });
      if (before !== undefined && !isUuid(before)) throw new SchedulerError("TASK_NOT_FOUND", { id: before });
      return await listTaskRuns(pool, filter);
    },
    overview: async () => await pool.snapshot(readOverview),
    setRunLimit: async (runId, limit) => {
      requireLimit(limit);
      if (!isUuid(runId)) throw new SchedulerError("RUN_NOT_FOUND", { runId });
      const found = await pool.transaction(async (tx) => await changeRunLimit(tx, runId, limit));
      if (!found) throw new SchedulerError("RUN_NOT_FOUND", { runId });
      wakeups.send("signalbox_gate");
    },
    checkInvariants: async ({ since } = {}) =>
      await pool.snapshot(
        async (tx) =>
          await checkInvariants(tx, {
            since: since ?? new Date(Date.now() - 3_600_000),
            rescueWithinMs: settings.graceMs + 10 * settings.beatMs,
          }),
      ),
  };
}

const DEFAULT_LOG_PAGE = 100;
const LARGEST_LOG_PAGE = 1_000;

type LogReads = Pick<Scheduler, "readLog" | "followLog">;

function logReads(pool: Pool, follower: LogFollower): LogReads {
  return {
    readLog: async (id, { from = 0, limit = DEFAULT_LOG_PAGE } = {}) => {
      requireWithin("from", from, 0, Number.MAX_SAFE_INTEGER);
      requireWithin("limit", limit, 1, LARGEST_LOG_PAGE);
      const { taskRunId } = await findTaskRun(pool, id);
      return await readLog(pool, taskRunId, { from, limit });
    },
    followLog: async function* followLog(id, { from = 0, signal } = {}) {
      requireWithin("from", from, 0, Number.MAX_SAFE_INTEGER);
      const { taskRunId } = await findTaskRun(pool, id);
      yield* follower.follow(taskRunId, { from, signal: signal ?? null });
    },
  };
}

function requireWithin(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new RangeError(`${name} (${value}) must be a whole number from ${least} to ${most}`);
}

/** A listener that throws must not stop a loop or strand a claim. */
function quietly(listener: Emit): Emit {
  return (event) => {
    try {
      listener(event);
    } catch {
      // It was told; what it makes of it is its own business.
    }
  };
}

function byKind(executors: readonly Executor[]): ReadonlyMap<string, Executor> {
  const map = new Map<string, Executor>();
  for (const executor of executors) {
    if (map.has(executor.kind)) throw new SchedulerError("DUPLICATE_EXECUTOR", { kind: executor.kind });
    map.set(executor.kind, executor);
  }
  return map;
}
