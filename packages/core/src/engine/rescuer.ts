/** Settles what dead instances left RUNNING. Any instance may; two at once settle each task run once. */

import { MAX_INTERRUPTIONS } from "../domain/settlement.ts";
import type { Pool, Transaction } from "../store/database.ts";
import { forgetDead, type LostInstance, markLost } from "../store/instances/instance.ts";
import { returnOutsideJobs } from "../store/outside-jobs/let-go.ts";
import { findLost, forgetLostBatches, type LostTaskRun } from "../store/task-runs/rescue.ts";
import { settleLost } from "./settle-lost.ts";
import type { Emit } from "./telemetry.ts";

/** How long the row of an instance that ended is kept for people to see. */
const REMEMBER_DEAD_MS = 3_600_000;

export interface RescueDeps {
  readonly pool: Pool;
  readonly graceMs: number;
  readonly batchSize: number;
  readonly emit: Emit;
}

/** Answers how many task runs were rescued. */
export async function rescueOnce({ pool, graceMs, batchSize, emit }: RescueDeps): Promise<number> {
  const lostInstances = await pool.transaction(async (tx) => await markLost(tx, graceMs));
  for (const instance of lostInstances) tellLost(emit, instance);
  const found = await pool.transaction(async (tx) => await findLost(tx, batchSize));
  const outside = found.filter(goesOnOutside);
  const { settled, failures } = await settleLost(
    { pool, emit },
    found.filter((taskRun) => !goesOnOutside(taskRun)),
    "LEASE_LOST",
  );
  // A transaction of its own: within one, task runs are locked in the order of their ids.
  const resumed =
    outside.length === 0 ? [] : await pool.transaction(async (tx) => await resumeLost(tx, outside));
  for (const taskRun of resumed) tellResumed(emit, taskRun);
  await pool.transaction(async (tx) => {
    await forgetLostBatches(tx);
    await forgetDead(tx, REMEMBER_DEAD_MS);
  });
  if (failures.length > 0) throw failures[0];
  return resumed.length + settled;
}

/** What goes on outside is not lost with its instance: others poll on, and nothing is begun again. */
async function resumeLost(tx: Transaction, lost: readonly LostTaskRun[]): Promise<readonly LostTaskRun[]> {
  const requests = lost.map((taskRun) => ({ ...taskRun, pollInMs: 0, how: "lost" as const }));
  const resumed = await returnOutsideJobs(tx, requests);
  return lost.filter(({ taskRunId }) => resumed.has(taskRunId));
}

function goesOnOutside({ job, policy }: LostTaskRun): boolean {
  if (job === null || job.losses >= MAX_INTERRUPTIONS) return false;
  return job.letGo || policy.onLost === "resume";
}

function tellLost(emit: Emit, { instanceId, name, silentMs }: LostInstance): void {
  emit({ type: "instance.lost", lostInstanceId: instanceId, lostName: name, silentMs });
}

function tellResumed(emit: Emit, lost: LostTaskRun): void {
  const { taskRunId, taskId, kind, title, attempt, claimedBy, instanceName } = lost;
  const from = { fromInstanceId: claimedBy, fromName: instanceName };
  emit({ type: "task_run.resumed", taskRunId, taskId, kind, title, attempt, ...from });
}
