/** Settles what dead instances left RUNNING. Any instance may; two at once settle each task run once. */

import { type Settlement, settle } from "../domain/settlement.ts";
import type { Pool, Transaction } from "../store/database.ts";
import { forgetDead, type LostInstance, markLost } from "../store/instances/instance.ts";
import { findLost, forgetLostBatches, type LostTaskRun, recordRescue } from "../store/task-runs/rescue.ts";
import { type SettledTaskRun, settleTaskRuns } from "../store/task-runs/settle.ts";
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
  const { lost, settled } = await pool.transaction(async (tx) => await settleLost(tx, batchSize));
  for (const row of settled)
    tellRescued(
      emit,
      lost.find(({ taskRunId }) => taskRunId === row.taskRunId),
      row,
    );
  await pool.transaction(async (tx) => {
    await forgetLostBatches(tx);
    await forgetDead(tx, REMEMBER_DEAD_MS);
  });
  return settled.length;
}

async function settleLost(
  tx: Transaction,
  batchSize: number,
): Promise<{ readonly lost: readonly LostTaskRun[]; readonly settled: readonly SettledTaskRun[] }> {
  const lost = await findLost(tx, batchSize);
  if (lost.length === 0) return { lost, settled: [] };
  const settled = await settleTaskRuns(
    tx,
    lost.map((taskRun) => ({ ...taskRun, settlement: settlementOf(taskRun) })),
  );
  const ids = new Set(settled.map(({ taskRunId }) => taskRunId));
  await recordRescue(
    tx,
    lost.filter(({ taskRunId }) => ids.has(taskRunId)),
  );
  return { lost, settled };
}

function settlementOf({ instanceName, policy, attempt, interruptions }: LostTaskRun): Settlement {
  const outcome = { kind: "instance_lost", code: "LEASE_LOST", instanceName } as const;
  return settle(outcome, policy, { attempt, interruptions }, 0);
}

function tellLost(emit: Emit, { instanceId, name, silentMs }: LostInstance): void {
  emit({ type: "instance.lost", lostInstanceId: instanceId, lostName: name, silentMs });
}

function tellRescued(
  emit: Emit,
  lost: LostTaskRun | undefined,
  { status, nextTaskRunId }: SettledTaskRun,
): void {
  if (lost === undefined) return;
  const { taskRunId, taskId, kind, title, attempt, claimedBy, instanceName } = lost;
  const from = { fromInstanceId: claimedBy, fromName: instanceName };
  emit({ type: "task_run.rescued", taskRunId, taskId, kind, title, attempt, ...from, status, nextTaskRunId });
}
