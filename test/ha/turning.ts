/**
 * L6: after any fault every loop of every instance makes a round. Seen by giving each loop something that it
 * alone can do on its instance, and waiting until each instance has told that it did it.
 */

import type { Scheduler } from "@signalbox/core";
import type pg from "pg";
import { asInstanceId } from "../../packages/core/src/domain/ids.ts";
import { joinTransaction } from "../../packages/core/src/store/database.ts";
import { takeGateLock } from "../../packages/core/src/store/holds/gate-lock.ts";
import { claimTaskRuns } from "../../packages/core/src/store/task-runs/claim.ts";
import type { Instance } from "./instance.ts";
import type { InstanceEvent, WorkInput, WorkKind } from "./instance-messages.ts";
import { openTransaction } from "./open-transaction.ts";
import { isOutage } from "./outage.ts";
import { until } from "./until.ts";

/** Where something can be given to them. */
export interface Station {
  readonly databaseUrl: string;
  readonly scheduler: Scheduler;
  readonly db: pg.Pool;
}

const WITHIN_MS = 60_000;
/** No instance ever counts its requests this far. */
const NOBODYS_REQUEST = 2_000_000_000;

export async function proveEveryLoopTurns(station: Station, instances: readonly Instance[]): Promise<void> {
  await proveClaimersAndSettlersTurn(station, instances);
  await proveRescuersTurn(station, instances);
  await proveReconcilersTurn(station, instances);
  await provePromotersTurn(station, instances);
}

async function proveClaimersAndSettlersTurn(station: Station, instances: readonly Instance[]): Promise<void> {
  const claimed = allHaveToldMore(instances, "task_run.claimed");
  const settled = allHaveToldMore(instances, "task_run.settled");
  await until(
    "every instance claims and settles",
    async () => {
      if (claimed.missing().length === 0 && settled.missing().length === 0) return true;
      const input: WorkInput = { ms: 20 };
      const specs = instances.map(() => ({ kind: "work", input, title: "for whoever comes" }));
      await station.scheduler.enqueueMany(specs);
      return false;
    },
    { withinMs: WITHIN_MS, everyMs: 100, instead: () => `${claimed.show()}; ${settled.show()}` },
  );
}

/** A lost instance is found by whoever looks first: another is lost until everyone has found one. */
async function proveRescuersTurn(station: Station, instances: readonly Instance[]): Promise<void> {
  const found = allHaveToldMore(instances, "instance.lost");
  await until(
    "every instance finds a lost one",
    async () => {
      if (found.missing().length === 0) return true;
      await station.db.query(`
        INSERT INTO signalbox.instance (boot_id, name, kinds, slots, expires_at)
        SELECT gen_random_uuid(), 'lost on purpose', '{}', 1, clock_timestamp() - interval '1 hour'
         WHERE NOT EXISTS (SELECT FROM signalbox.instance WHERE name = 'lost on purpose' AND state <> 'DEAD')`);
      return false;
    },
    { withinMs: WITHIN_MS, everyMs: 20, instead: () => found.show() },
  );
}

async function proveReconcilersTurn(station: Station, instances: readonly Instance[]): Promise<void> {
  for (const instance of instances) await loseAClaimAnswer(station, instance);
}

/**
 * Resolves once the instance has found out that it holds a claim of which it knows nothing, and has handed it back;
 * and when it was killed.
 */
export async function loseAClaimAnswer(station: Station, instance: Instance): Promise<void> {
  let lost: { readonly bootId: string | null; readonly taskRunId: string | null } | null = null;
  await until(
    `${instance.name} hands back the claim whose answer it did not get`,
    async () => {
      const taskRunId = lost?.taskRunId;
      if (instance.told("task_run.handed_back").some((event) => event.taskRunId === taskRunId)) return true;
      // The answer to its hand-back can be lost as well: then it tells nothing, but the database knows.
      if (await wasHandedBack(station, taskRunId ?? null).catch(nothingInAnOutage)) return true;
      if (instance.state === "ended") return true;
      const { bootId } = instance;
      // At first, and again when it lost its lease meanwhile: what it held is rescued then.
      if (bootId === null || lost?.bootId === bootId) return false;
      const claimed = await claimUnseen(station, bootId).catch(nothingInAnOutage);
      lost = claimed === null ? null : { bootId, taskRunId: claimed };
      return false;
    },
    { withinMs: WITHIN_MS, instead: async () => await describeLife(station, instance) },
  );
}

async function describeLife({ db }: Station, { bootId, state }: Instance): Promise<string> {
  const { rows } = await db.query(
    `SELECT state, expires_at - clock_timestamp() AS "expiresIn", drain_requested_at AS "drainRequestedAt"
       FROM signalbox.instance WHERE boot_id = $1`,
    [bootId],
  );
  return `its process is ${state}, its row ${JSON.stringify(rows[0] ?? null)}`;
}

async function wasHandedBack({ db }: Station, taskRunId: string | null): Promise<boolean> {
  const { rowCount } = await db.query(
    "SELECT FROM signalbox.event_store WHERE aggregate_id = $1 AND type = 'task_run.handed_back'",
    [taskRunId],
  );
  return rowCount !== 0;
}

/**
 * Claims in the name of an instance and tells it nothing: what is left when the answer to its claim is lost.
 * Enqueued in the same transaction, so nobody else can have it. Answers null where the instance may not claim.
 */
export async function claimUnseen(
  { databaseUrl, scheduler }: Station,
  bootId: string,
  beforeCommit: () => Promise<void> = async () => {},
): Promise<string | null> {
  const client = await openTransaction(databaseUrl);
  try {
    const kind: WorkKind = "unseen";
    const input: WorkInput = { ms: 10 };
    const { taskRunId } = await scheduler.enqueue({ kind, input }, { transaction: client });
    const { claims } = await claimTaskRuns(joinTransaction(client), {
      instanceId: asInstanceId(bootId),
      kinds: [kind],
      freeSlots: 1,
      requestNo: NOBODYS_REQUEST,
    });
    if (claims[0]?.taskRunId !== taskRunId) return null;
    await beforeCommit();
    await client.query("COMMIT");
    return taskRunId;
  } finally {
    await client.end();
  }
}

/** While somebody else has the gate lock, every promoter misses it, one after the other. */
async function provePromotersTurn(station: Station, instances: readonly Instance[]): Promise<void> {
  const missed = allHaveToldMore(instances, "gate.lock_missed");
  const client = await openTransaction(station.databaseUrl);
  try {
    await takeGateLock(joinTransaction(client));
    // It bounds a frozen holder; this one is at work.
    await client.query("SET LOCAL idle_in_transaction_session_timeout = 0");
    await until("every promoter misses the gate lock", () => missed.missing().length === 0, {
      withinMs: WITHIN_MS,
      instead: () => missed.show(),
    });
  } finally {
    await client.end();
  }
}

function nothingInAnOutage(error: unknown): null {
  if (isOutage(error)) return null;
  throw error;
}

function allHaveToldMore(
  instances: readonly Instance[],
  type: InstanceEvent["type"],
): { missing(): readonly string[]; show(): string } {
  const before = new Map(instances.map((instance) => [instance, instance.count(type)]));
  const missing = (): readonly string[] =>
    instances
      .filter((instance) => instance.count(type) <= (before.get(instance) ?? 0))
      .map(({ name }) => name);
  return { missing, show: () => `no ${type} from ${missing().join(", ") || "nobody"}` };
}
