/** Wires everything together; the only file that may. */

import { hostname } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { resolveAsked, resolveAskedBy } from "../domain/asked.ts";
import { placesBehindVersions } from "../domain/behind-version.ts";
import type { CancelCounts } from "../domain/bulk.ts";
import { SchedulerError } from "../domain/errors.ts";
import { requireInstant } from "../domain/filter.ts";
import { asStored, isUuid } from "../domain/ids.ts";
import { requireId, requireOptions } from "../domain/require-shape.ts";
import { isGiven } from "../domain/shape.ts";
import type { Executor } from "../executors/executor.ts";
import { joinTransaction, openPool, type Pool } from "../store/database.ts";
import { placeOf } from "../store/database-place.ts";
import { tellDriverError } from "../store/driver-error.ts";
import { CLOSE_PATIENCE_MS } from "../store/end-client.ts";
import { checkInvariants } from "../store/invariants/check.ts";
import { readAppliedSteps } from "../store/migrations/applied-steps.ts";
import { migrate } from "../store/migrations/migrate.ts";
import { reportMigrations } from "../store/migrations/migration-report.ts";
import { readMigrations } from "../store/migrations/read-migrations.ts";
import { requireSchema } from "../store/migrations/require-schema.ts";
import { changeRunLimit } from "../store/runs/limit.ts";
import { KEEP_PLANS } from "../store/session.ts";
import { findTaskRun } from "../store/task-runs/find.ts";
import { readTaskRun } from "../store/task-runs/read.ts";
import { CHECK_OPTIONS, ENQUEUE_MANY_OPTIONS, ENQUEUE_OPTIONS } from "./argument-shapes.ts";
import { boundedPool, listBound, searchBound } from "./bounded-pool.ts";
import { callersPool } from "./callers-pool.ts";
import { cancelMany, cancelOnce, cancelRun } from "./canceler.ts";
import { deferrer } from "./deferrer.ts";
import { drainer } from "./drainer.ts";
import { createEngine, type EngineDeps } from "./engine.ts";
import { createSingleEnqueues, type SingleEnqueues } from "./enqueue-together.ts";
import { notifyInside, prepareEnqueue, requireLimit } from "./enqueuer.ts";
import { explainOnce } from "./explainer.ts";
import { ignoreRejection } from "./ignore-rejection.ts";
import { instanceReader } from "./instance-reader.ts";
import { createLogFollower, type LogFollower } from "./log-follower.ts";
import { logReader } from "./log-reader.ts";
import { operationKeeper, operationReader } from "./operation-keeper.ts";
import { overviewReader } from "./overview-reader.ts";
import { createPlainInsert, type PlainInsert } from "./plain-insert.ts";
import { queueReader } from "./queue-reader.ts";
import { resourceReader } from "./resource-reader.ts";
import { retryMany, retryOnce } from "./retrier.ts";
import { ruleKeeper } from "./rule-keeper.ts";
import { ruleReader } from "./rule-reader.ts";
import { runReader } from "./run-reader.ts";
import type { Scheduler } from "./scheduler-face.ts";
import { resolveSettings, type SchedulerOptions, type SchedulerSettings } from "./settings.ts";
import { taskRunReader } from "./task-run-reader.ts";
import type { Emit } from "./telemetry.ts";
import { createWakeups, type Wakeups, wakesFor } from "./wakeups.ts";

/**
 * Makes an instance. Nothing happens yet, and no connection is opened before the first call. Always `stop` it in the
 * end, started or not: that closes its connections. Throws INVALID_ARGUMENT for an option that cannot be.
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
  const place = placeText(settings.databaseUrl);
  const forCallers = callersPool(pool, place, settings.name);
  const tooSlow = "it took longer than queryTimeoutMs; call again, or raise it";
  const insertPlain = createPlainInsert(forCallers, wakeups);
  const singles = createSingleEnqueues({
    insert: insertPlain,
    patienceMs: settings.queryTimeoutMs,
    unreachable: () => new SchedulerError("DATABASE_UNREACHABLE", { place, problem: tooSlow }),
  });
  const follower = createLogFollower(forCallers);
  wakeups.on("signalbox_log", follower.wake);
  return {
    ...lifecycle({ pool, settings, executors, wakeups, emit }, forCallers, singles),
    ...enqueues(forCallers, executors, wakeups, { singles, insertPlain }),
    ...interventions(forCallers, wakeups),
    ...requests(forCallers, settings, wakeups),
    ...reads(forCallers, settings, follower),
    ...ruleKeeper(forCallers, wakeups, emit),
    ...drainer(forCallers, wakeups),
    ...deferrer(forCallers, wakeups),
    ...operationKeeper(forCallers, wakeups),
  };
}

type Lifecycle = Pick<Scheduler, "migrate" | "migrations" | "start" | "stop" | "health">;

function lifecycle(deps: EngineDeps, forCallers: Pool, singles: SingleEnqueues): Lifecycle {
  const { settings, wakeups } = deps;
  const engine = createEngine(deps);
  let starting: Promise<void> | null = null;
  let stopping: Promise<void> | null = null;
  let stopped = false;
  const begin = async (): Promise<void> => {
    await requireSchema(forCallers);
    await told(settings.databaseUrl, engine.start());
  };
  const end = async (): Promise<void> => {
    // A start that is under way is waited for: half a start cannot be stopped.
    const started =
      (await starting?.then(
        () => true,
        () => false,
      )) === true;
    if (started) await engine.stop();
    // Who has called before is answered, as anybody else whose call is under way.
    await Promise.race([singles.answered(), wait(CLOSE_PATIENCE_MS, undefined, { ref: false })]);
    await wakeups.stop();
    stopped = true;
    await forCallers.close();
  };
  return {
    migrate: async () => {
      // It has a connection of its own, so no pool refuses it.
      if (stopped) throw new SchedulerError("SCHEDULER_STOPPED", { instanceName: settings.name });
      return await told(settings.directUrl, migrate({ url: settings.directUrl }));
    },
    migrations: async () => reportMigrations(readMigrations(), await readAppliedSteps(forCallers)),
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

function placeText(url: string): string {
  return placeOf(url) ?? "its URL";
}

/** What is done again from the beginning is not lost half way: whatever breaks, it is tried again as a whole. */
async function told<Answer>(url: string, work: Promise<Answer>): Promise<Answer> {
  try {
    return await work;
  } catch (error) {
    throw tellDriverError(error, placeText(url), { mayBeDone: false }) ?? error;
  }
}

function enqueues(
  pool: Pool,
  executors: ReadonlyMap<string, Executor>,
  wakeups: Wakeups,
  { singles, insertPlain }: { readonly singles: SingleEnqueues; readonly insertPlain: PlainInsert },
): Pick<Scheduler, "enqueue" | "enqueueMany"> {
  const enqueueMany: Scheduler["enqueueMany"] = async (specs, options) => {
    const { run, transaction, idempotencyKey } = options ?? {};
    const newRun = isGiven(run) ? { title: run.title, limit: run.limit ?? 0 } : null;
    const request = { specs, run: newRun, idempotencyKey: idempotencyKey ?? null };
    const { write, plain } = await prepareEnqueue(request, executors);
    if (isGiven(transaction)) {
      const tx = joinTransaction(transaction);
      const enqueued = await write(tx);
      await notifyInside(tx, enqueued.taskRuns);
      return enqueued;
    }
    if (plain !== null) {
      const [first] = plain;
      const isAlone = first !== undefined && plain.length === 1;
      const taskRuns = isAlone
        ? [await singles.enqueue(first)]
        : await insertPlain(plain, placesBehindVersions(plain));
      return { runId: null, taskRuns };
    }
    const enqueued = await pool.transaction(write, KEEP_PLANS);
    for (const channel of wakesFor(enqueued.taskRuns)) wakeups.send(channel);
    return enqueued;
  };
  return {
    enqueueMany: async (specs, options) => {
      requireOptions("INVALID_TASK", options, ENQUEUE_MANY_OPTIONS);
      return await enqueueMany(specs, options);
    },
    enqueue: async (spec, given) => {
      requireOptions("INVALID_TASK", given, ENQUEUE_OPTIONS);
      const { taskRuns } = await enqueueMany([spec], given);
      const [enqueued] = taskRuns;
      if (enqueued === undefined) throw new Error("One task was given and none came back");
      return enqueued;
    },
  };
}

type Interventions = Pick<Scheduler, "cancel" | "cancelMany" | "cancelRun" | "retry" | "retryMany">;

function interventions(pool: Pool, wakeups: Wakeups): Interventions {
  const wakeFor = (counts: CancelCounts): CancelCounts => {
    if (counts.canceled > 0) wakeups.send("signalbox_gate");
    if (counts.canceling > 0) wakeups.send("signalbox_cancel");
    return counts;
  };
  return {
    cancel: async (id, options) => {
      requireId("id", id);
      const answer = await cancelOnce(pool, id, resolveAsked(options));
      if (answer === "canceled") wakeups.send("signalbox_gate");
      if (answer === "canceling") wakeups.send("signalbox_cancel");
      return answer;
    },
    cancelMany: async (filter, options) => wakeFor(await cancelMany(pool, filter, resolveAsked(options))),
    cancelRun: async (runId, options) => {
      requireId("runId", runId);
      return wakeFor(await cancelRun(pool, runId, resolveAsked(options)));
    },
    retry: async (id, options) => {
      requireId("id", id);
      const retried = await retryOnce(pool, id, resolveAskedBy(options));
      wakeups.send("signalbox_gate");
      return retried;
    },
    retryMany: async (filter, options) => {
      const counts = await retryMany(pool, filter, resolveAskedBy(options));
      if (counts.retried > 0) wakeups.send("signalbox_gate");
      return counts;
    },
  };
}

function requests(
  pool: Pool,
  settings: SchedulerSettings,
  wakeups: Wakeups,
): Pick<Scheduler, "explain" | "get" | "setRunLimit" | "checkInvariants"> {
  return {
    explain: async (id) => {
      requireId("id", id);
      return await explainOnce(pool, id);
    },
    get: async (id) => {
      requireId("id", id);
      const { taskRunId } = await findTaskRun(pool, id);
      const taskRun = await readTaskRun(pool, taskRunId);
      if (taskRun === null) throw new SchedulerError("TASK_NOT_FOUND", { id });
      return taskRun;
    },
    setRunLimit: async (runId, limit) => {
      requireId("runId", runId);
      requireLimit(limit);
      if (!isUuid(runId)) throw new SchedulerError("RUN_NOT_FOUND", { runId });
      const found = await pool.transaction(async (tx) => await changeRunLimit(tx, asStored(runId), limit));
      if (!found) throw new SchedulerError("RUN_NOT_FOUND", { runId });
      wakeups.send("signalbox_gate");
    },
    checkInvariants: async (options) => {
      requireOptions("INVALID_ARGUMENT", options, CHECK_OPTIONS);
      const since = options?.since ?? new Date(Date.now() - 3_600_000);
      requireInstant("since", since);
      const rescueWithinMs = settings.graceMs + 10 * settings.beatMs;
      return await pool.snapshot(async (tx) => await checkInvariants(tx, { since, rescueWithinMs }));
    },
  };
}

type Reads = Pick<
  Scheduler,
  | "list"
  | "listAttempts"
  | "overview"
  | "listRuns"
  | "getRun"
  | "readRules"
  | "listQueues"
  | "listResources"
  | "getResource"
  | "listInstances"
  | "getInstance"
  | "readLog"
  | "followLog"
  | "searchLog"
  | "previewOperation"
  | "getOperation"
  | "listOperations"
  | "listOperationItems"
>;

function reads(pool: Pool, settings: SchedulerSettings, follower: LogFollower): Reads {
  const lists = boundedPool(pool, listBound(settings.queryTimeoutMs));
  const searches = boundedPool(pool, searchBound(settings.searchTimeoutMs));
  return {
    ...taskRunReader(lists),
    ...runReader(lists),
    ...ruleReader(lists),
    ...queueReader(lists),
    ...resourceReader(lists),
    ...instanceReader(lists),
    ...logReader({ pool, searches, follow: follower.follow }),
    ...overviewReader(lists),
    ...operationReader(lists),
  };
}

/** A listener that throws must not stop a loop or strand a claim. */
function quietly(listener: Emit): Emit {
  return (event) => {
    try {
      const answer: unknown = listener(event);
      ignoreRejection(answer);
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
