/** The product, step by step, on a real PostgreSQL: one pool, callers that never start, instances without timers. */

import { SchedulerError } from "../../packages/core/src/domain/errors.ts";
import { asTaskRunId, type InstanceId } from "../../packages/core/src/domain/ids.ts";
import { claimOnce } from "../../packages/core/src/engine/claimer.ts";
import { type HeldClaim, HeldClaims } from "../../packages/core/src/engine/held-claims.ts";
import { takeDueOnce } from "../../packages/core/src/engine/poller.ts";
import { createScheduler } from "../../packages/core/src/engine/scheduler.ts";
import type { Scheduler } from "../../packages/core/src/engine/scheduler-face.ts";
import { createSettler, type Settler } from "../../packages/core/src/engine/settler.ts";
import type { SchedulerEvent } from "../../packages/core/src/engine/telemetry.ts";
import { openPool, type Pool } from "../../packages/core/src/store/database.ts";
import { joinCluster } from "../../packages/core/src/store/instances/instance.ts";
import { keepHandle } from "../../packages/core/src/store/outside-jobs/let-go.ts";
import type { Claim } from "../../packages/core/src/store/task-runs/claim.ts";
import { createTestDatabase, type TestDatabase } from "../../packages/core/src/testing/test-database.ts";
import type { Kind } from "./steps.ts";

export interface Rig {
  readonly db: TestDatabase;
  readonly pool: Pool;
  readonly scheduler: Scheduler;
  readonly instances: RigInstance[];
  readonly query: (text: string, values?: readonly unknown[]) => Promise<void>;
  /** As new, for the next sequence. */
  readonly clear: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface RigInstance {
  readonly instanceId: InstanceId;
  readonly held: HeldClaims;
  readonly settler: Settler;
  /** What it has told since it was last asked. */
  readonly events: SchedulerEvent[];
  /** The commit of its next transaction is there, and its answer is not. */
  readonly loseNextAnswer: () => void;
  readonly claim: () => Promise<readonly Claim[]>;
  /** Takes outside jobs that are due. */
  readonly poll: () => Promise<readonly Claim[]>;
  /** In the name of an execution that it holds. False: it is not its own any more. */
  readonly keepHandle: (taskRunId: string, handle: string, deadlineInMs: number) => Promise<boolean>;
}

export const BATCH = 100;
export const LEASE_MS = 3_600_000;

export async function openRig(adminUrl: string): Promise<Rig> {
  const db = await createTestDatabase(adminUrl);
  const pool = openPool({ url: db.url, size: 2, queryTimeoutMs: 20_000, applicationName: "signalbox model" });
  const scheduler = createScheduler({ databaseUrl: db.url, tasks: [], name: "caller", poolSize: 2 });
  const instances: RigInstance[] = [];
  return {
    db,
    pool,
    scheduler,
    instances,
    query: async (text, values = []) => {
      await db.client.query({ text, values: [...values] });
    },
    clear: async () => {
      instances.length = 0;
      await db.clear();
    },
    close: async () => {
      await scheduler.stop();
      await pool.close();
      await db.drop();
    },
  };
}

export async function joinRig(
  { pool, instances }: Rig,
  { name, kinds, slots }: { readonly name: string; readonly kinds: readonly Kind[]; readonly slots: number },
): Promise<RigInstance> {
  const instanceId = await pool.transaction(
    async (tx) => await joinCluster(tx, { name, kinds, slots, leaseMs: LEASE_MS, mark: null }),
  );
  const held = new HeldClaims();
  const events: SchedulerEvent[] = [];
  const wire = lossyWire(pool);
  const instance: RigInstance = {
    instanceId,
    held,
    events,
    settler: createSettler({ pool: wire.pool, batchSize: BATCH, emit: (event) => events.push(event) }),
    loseNextAnswer: wire.loseNextAnswer,
    claim: async () => {
      const mine = { pool: wire.pool, instanceId, kinds, slots, batchSize: BATCH, held };
      return (await claimOnce({ ...mine, isTrusted: () => true })).map(({ claim }) => claim);
    },
    poll: async () => {
      const mine = { pool: wire.pool, instanceId, kinds, held };
      return (await takeDueOnce({ ...mine, isTrusted: () => true })).map(({ claim }) => claim);
    },
    keepHandle: async (taskRunId, handle, deadlineInMs) => {
      const execution = held.get(asTaskRunId(taskRunId));
      if (execution === undefined) throw new Error(`${taskRunId} is not held`);
      return await keepHandleOf(wire.pool, execution, instanceId, { handle, deadlineInMs });
    },
  };
  instances.push(instance);
  return instance;
}

/** As an execution does it that asks for it. */
async function keepHandleOf(
  pool: Pool,
  execution: HeldClaim,
  claimedBy: InstanceId,
  job: { readonly handle: string; readonly deadlineInMs: number },
): Promise<boolean> {
  const { taskRunId, claimNo } = execution.claim;
  if (execution.handle === "none") execution.handle = "unsure";
  const stored = await pool.transaction(
    async (tx) => await keepHandle(tx, { taskRunId, claimNo, claimedBy }, job),
  );
  if (stored) execution.handle = "kept";
  return stored;
}

class AnswerLost extends Error {}

function lossyWire(pool: Pool): { readonly pool: Pool; readonly loseNextAnswer: () => void } {
  let loses = false;
  const losing = <Answer>(answer: Answer): Answer => {
    if (!loses) return answer;
    loses = false;
    throw new AnswerLost("The answer was lost after the commit");
  };
  return {
    loseNextAnswer: () => {
      loses = true;
    },
    pool: {
      ...pool,
      transaction: async (work, first) => losing(await pool.transaction(work, first)),
      atOnce: async (work, first) => losing(await pool.atOnce(work, first)),
    },
  };
}

/** What somebody was told who was refused; else what they were answered. */
export async function codeOfError<Answer>(asked: Promise<Answer>): Promise<Answer | string> {
  return await asked.catch((error: unknown) => {
    if (error instanceof SchedulerError) return error.code;
    throw error;
  });
}

/** The answer of what may lose it. */
export async function unlessLost<Answer>(work: () => Promise<Answer>): Promise<Answer | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AnswerLost) return null;
    throw error;
  }
}
