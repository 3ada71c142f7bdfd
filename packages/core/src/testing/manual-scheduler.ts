/**
 * A scheduler without timers: every step happens when the test says so. The same steps as the real one,
 * on a real database, so what a test sees is what production does.
 */

import { asInstanceId, type InstanceId, type TaskRunId } from "../domain/ids.ts";
import type { KeepMs } from "../domain/retention.ts";
import type { Outcome } from "../domain/settlement.ts";
import { carryOnOnce } from "../engine/carrier.ts";
import { claimOnce } from "../engine/claimer.ts";
import { type ExecutionEnd, onEnd } from "../engine/execution-limits.ts";
import { type ExecutionTools, LentTools } from "../engine/execution-tools.ts";
import { type HeldClaim, HeldClaims } from "../engine/held-claims.ts";
import { createLogWriter } from "../engine/log-writer.ts";
import { LookAhead } from "../engine/look-ahead.ts";
import { pollableKinds, takeDueOnce } from "../engine/poller.ts";
import { type PromotionPass, promoteOnce } from "../engine/promoter.ts";
import { pruneOnce } from "../engine/pruner.ts";
import { failOverdueOnce } from "../engine/queue-timer.ts";
import { reconcileOnce } from "../engine/reconciler.ts";
import { rescueOnce } from "../engine/rescuer.ts";
import type { Rules } from "../engine/rule-keeper.ts";
import { execute } from "../engine/runner.ts";
import { createScheduler } from "../engine/scheduler.ts";
import type { Scheduler } from "../engine/scheduler-face.ts";
import { createSettler } from "../engine/settler.ts";
import type { Emit, SchedulerEvent } from "../engine/telemetry.ts";
import type { Executor } from "../executors/executor.ts";
import { monotonicMs } from "../executors/monotonic.ts";
import { createProcesses, type Processes } from "../executors/process/processes.ts";
import { openPool, type Pool } from "../store/database.ts";
import { joinCluster } from "../store/instances/instance.ts";
import { renewOnce } from "../store/instances/renew.ts";
import { sql } from "../store/sql.ts";

/** As those of `createScheduler`, where they mean something without timers. */
export interface ManualOptions {
  readonly databaseUrl: string;
  readonly tasks?: readonly Executor[];
  readonly name?: string;
  readonly slots?: number;
  readonly batchSize?: number;
  readonly leaseMs?: number;
  readonly obeyMs?: number;
}

/** An instance that does one step when it is told to, and nothing by itself. */
export interface ManualScheduler
  extends Pick<
    Scheduler,
    | "enqueue"
    | "enqueueMany"
    | "cancel"
    | "cancelMany"
    | "cancelRun"
    | "retry"
    | "retryMany"
    | "defer"
    | "explain"
    | "get"
    | "list"
    | "getRun"
    | "listRuns"
    | "readRules"
    | "listAttempts"
    | "listQueues"
    | "listResources"
    | "getResource"
    | "listInstances"
    | "getInstance"
    | "searchLog"
    | "overview"
    | "setRunLimit"
    | "readLog"
    | "followLog"
    | "checkInvariants"
    | "drainInstance"
    | "callInstanceBack"
    | "previewOperation"
    | "startOperation"
    | "getOperation"
    | "listOperations"
    | "listOperationItems"
    | "abortOperation"
    | keyof Rules
  > {
  /** Its boot id. */
  readonly instanceId: InstanceId;
  /** Everything it has told so far. */
  readonly events: readonly SchedulerEvent[];
  /** What it has claimed and not settled. */
  readonly held: HeldClaims;
  /** One pass. */
  readonly promote: () => Promise<PromotionPass>;
  /** One pass that also sweeps: the net under lost wakes, and under what is AVAILABLE by old rules. */
  readonly sweep: () => Promise<PromotionPass>;
  /** Claims up to its free slots; answers what it got. */
  readonly claim: () => Promise<readonly TaskRunId[]>;
  /** Takes outside jobs that are due; answers what it got. `execute` asks after them. */
  readonly poll: () => Promise<readonly TaskRunId[]>;
  /** Fails what has waited for longer than it may; answers how many. */
  readonly failOverdue: () => Promise<number>;
  /** Runs all it holds to its end, or until it is taken for stuck. */
  readonly execute: () => Promise<void>;
  /** Records all that has ended. */
  readonly settle: () => Promise<void>;
  /** Hands back what it claimed without knowing, aborts what is not its own; answers how many it gave up. */
  readonly reconcile: () => Promise<number>;
  /** Finds instances whose lease ran out and settles what they left, without grace; answers how many task runs. */
  readonly rescue: () => Promise<number>;
  /** One bite of what has been kept longer than this; answers whether there may be more. */
  readonly prune: (keepMs: KeepMs) => Promise<boolean>;
  /** One bite of an operation; answers whether there was one. */
  readonly carryOn: () => Promise<boolean>;
  /** One beat. False: its lease is gone. */
  readonly renew: () => Promise<boolean>;
  /** Lets its own lease run out, as if it had been silent for as long. */
  readonly expireLease: () => Promise<void>;
  /** Promotes, claims, executes and settles until a round finds nothing to do. */
  readonly runUntilIdle: () => Promise<void>;
  /** Closes its connections. It does not leave the cluster. */
  readonly close: () => Promise<void>;
}

/** Joins the cluster with its own lease. The schema must be there: `createTestDatabase` brings it. */
export async function createManualScheduler(options: ManualOptions): Promise<ManualScheduler> {
  const settings = {
    tasks: [],
    name: "manual",
    slots: 10,
    batchSize: 100,
    leaseMs: 60_000,
    obeyMs: 5_000,
    ...options,
  };
  const pool = openPool({
    url: settings.databaseUrl,
    size: 4,
    queryTimeoutMs: 10_000,
    applicationName: `signalbox ${settings.name}`,
  });
  const { tasks, name, slots, leaseMs } = settings;
  const kinds = tasks.map(({ kind }) => kind);
  const instanceId = await pool.transaction(
    async (tx) => await joinCluster(tx, { name, kinds, slots, leaseMs, mark: null }),
  );
  const events: SchedulerEvent[] = [];
  const emit = (event: SchedulerEvent): number => events.push(event);
  const scheduler = createScheduler({ databaseUrl: settings.databaseUrl, tasks, name, onEvent: emit });
  const processes = createProcesses();
  return {
    ...scheduler,
    ...steps({ pool, processes, emit }, settings, asInstanceId(instanceId)),
    events,
    close: async () => {
      await processes.close();
      await closeAll(pool, scheduler);
    },
  };
}

async function closeAll(pool: Pool, scheduler: Scheduler): Promise<void> {
  await scheduler.stop();
  await pool.close();
}

type Steps = Omit<ManualScheduler, keyof Scheduler | "events" | "close">;
type Settings = Required<ManualOptions>;

interface Parts {
  readonly pool: Pool;
  readonly processes: Processes;
  readonly emit: Emit;
}

function steps(parts: Parts, settings: Settings, instanceId: InstanceId): Steps {
  const { pool, emit } = parts;
  const { tasks, name, slots, batchSize, obeyMs } = settings;
  const executors = new Map(tasks.map((task) => [task.kind, task]));
  const kinds = [...executors.keys()];
  const held = new HeldClaims();
  const ahead = new LookAhead();
  const settler = createSettler({ pool, batchSize, emit });
  const toolsFor = lendTools(parts, instanceId);

  const promote: Steps["promote"] = async () => await promoteOnce({ pool, batchSize });
  const claim: Steps["claim"] = async () => {
    const request = { pool, instanceId, kinds, slots, batchSize, held, isTrusted: () => true };
    const claimed = await claimOnce(request);
    return claimed.map((each) => each.claim.taskRunId);
  };
  const executeAll: Steps["execute"] = async () => {
    const open = held.all().filter(({ ended, stuck }) => !ended && !stuck);
    await Promise.all(
      open.map(async (each) => {
        const patienceMs = executors.get(each.claim.kind)?.obeyMs ?? obeyMs;
        const tools = toolsFor(each, patienceMs);
        const outcome = await outcomeOf(each, { held, executors, name, patienceMs, tools });
        settler.add(each.claim, instanceId, outcome, held);
      }),
    );
  };
  return {
    instanceId,
    held,
    promote,
    sweep: async () => await promoteOnce({ pool, batchSize, sweepAfter: null }),
    claim,
    poll: async () => {
      const due = { pool, instanceId, kinds: pollableKinds(executors), held, isTrusted: () => true };
      return (await takeDueOnce(due)).map((each) => each.claim.taskRunId);
    },
    failOverdue: async () => (await failOverdueOnce({ pool, batchSize, emit })).failed,
    execute: executeAll,
    settle: async () => {
      await settleAll(settler);
    },
    reconcile: async () => await reconcileOnce({ pool, instanceId, held, emit }),
    rescue: async () => await rescueOnce({ pool, graceMs: 0, batchSize, emit }),
    carryOn: async () => (await carryOnOnce({ pool, ahead, emit })) !== null,
    prune: async (keepMs) => await pruneOnce({ pool, keepMs, emit }),
    ...leaseSteps(pool, settings, instanceId),
    runUntilIdle: async () => {
      for (;;) {
        const pass = await promote();
        await claim();
        // Also what was claimed before this was called: its end frees a slot, and perhaps a gate.
        const works = held.all().some(({ stuck }) => !stuck);
        await executeAll();
        const opened = await settleAll(settler);
        const promoted = pass.kind === "lock_missed" || pass.promoted.length > 0 || pass.more;
        if (!promoted && !works && !opened) return;
      }
    },
  };
}

/** Whether others may go on now. */
async function settleAll(settler: ReturnType<typeof createSettler>): Promise<boolean> {
  for (let opened = false; ; ) {
    const { left, opensGates, handsOff } = await settler.settleOnce();
    opened ||= opensGates || handsOff;
    if (left === 0) return opened;
  }
}

interface Execution extends Pick<Settings, "name"> {
  readonly patienceMs: number;
  readonly held: HeldClaims;
  readonly executors: ReadonlyMap<string, Executor>;
  readonly tools: ExecutionTools;
}

/** Its end, or that it ignores its signal. */
async function outcomeOf(
  each: HeldClaim,
  { held, executors, name, patienceMs, tools }: Execution,
): Promise<Outcome> {
  const work = execute(each, executors, name, tools);
  void work.finally(() => held.endExecution(each));
  const { outcome, isStuck } = await new Promise<ExecutionEnd>((resolve) =>
    onEnd(each, { work, obeyMs: patienceMs, instanceName: name }, resolve),
  );
  await tools.end();
  if (isStuck) held.markStuck(each);
  return outcome;
}

function lendTools(
  { pool, processes, emit }: Parts,
  instanceId: InstanceId,
): (held: HeldClaim, obeyMs: number) => ExecutionTools {
  const logs = createLogWriter({ pool, emit, onStored: () => {} });
  // Nobody beats here: a test says when the lease ends.
  const lease = { life: instanceId, leaseMs: 86_400_000, renewedAtMs: monotonicMs, reportTo: () => {} };
  return (held, obeyMs) => new LentTools({ pool, logs, processes, lease, instanceId, emit }, held, obeyMs);
}

function leaseSteps(
  pool: Pool,
  { leaseMs }: Settings,
  instanceId: InstanceId,
): Pick<Steps, "renew" | "expireLease"> {
  return {
    renew: async () =>
      (await pool.transaction(async (tx) => await renewOnce(tx, instanceId, leaseMs))) !== null,
    expireLease: async () => {
      await pool.transaction(
        async (tx) =>
          await tx.query(
            sql("expireLease")`
              UPDATE signalbox.instance SET expires_at = clock_timestamp() - interval '1 ms' WHERE boot_id = ${instanceId}
            `,
          ),
      );
    },
  };
}
