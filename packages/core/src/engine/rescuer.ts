/** Settles what dead instances left RUNNING. Any instance may; two at once settle each task run once. */

import { MAX_INTERRUPTIONS, type Settlement, settle } from "../domain/settlement.ts";
import { isRefusedRow, type Pool, type Transaction } from "../store/database.ts";
import { forgetDead, type LostInstance, markLost } from "../store/instances/instance.ts";
import { returnOutsideJobs } from "../store/outside-jobs/let-go.ts";
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
  const found = await pool.transaction(async (tx) => await findLost(tx, batchSize));
  const outside = found.filter(goesOnOutside);
  const { settled, failures } = await settleLost(
    pool,
    found.filter((taskRun) => !goesOnOutside(taskRun)),
  );
  for (const row of settled)
    tellRescued(
      emit,
      found.find(({ taskRunId }) => taskRunId === row.taskRunId),
      row,
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
  return resumed.length + settled.length;
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

interface Rescued {
  readonly settled: readonly SettledTaskRun[];
  readonly failures: readonly unknown[];
}

/** One that the database refuses to settle holds up none of the others: then each goes by itself. */
async function settleLost(pool: Pool, lost: readonly LostTaskRun[]): Promise<Rescued> {
  if (lost.length === 0) return { settled: [], failures: [] };
  try {
    return { settled: await pool.transaction(async (tx) => await settleTogether(tx, lost)), failures: [] };
  } catch (error) {
    if (!isRefusedRow(error)) throw error;
    if (lost.length === 1) return { settled: [], failures: [error] };
    const each: Rescued[] = [];
    for (const taskRun of lost) each.push(await settleLost(pool, [taskRun]));
    return {
      settled: each.flatMap(({ settled }) => settled),
      failures: each.flatMap(({ failures }) => failures),
    };
  }
}

async function settleTogether(
  tx: Transaction,
  lost: readonly LostTaskRun[],
): Promise<readonly SettledTaskRun[]> {
  const settled = await settleTaskRuns(
    tx,
    lost.map((taskRun) => ({
      ...taskRun,
      settlement: settlementOf(taskRun),
      // Also where none was found: it may have kept a handle since.
      outside: true,
    })),
  );
  const ids = new Set(settled.map(({ taskRunId }) => taskRunId));
  await recordRescue(
    tx,
    lost.filter(({ taskRunId }) => ids.has(taskRunId)),
  );
  return settled;
}

function settlementOf({ instanceName, policy, attempt, interruptions, job }: LostTaskRun): Settlement {
  const outcome = { kind: "instance_lost", code: "LEASE_LOST", instanceName } as const;
  // Whoever polled it was lost each time: it may be the reason, and to begin anew would not change that.
  const tooMany = job !== null && job.losses >= MAX_INTERRUPTIONS;
  return settle(outcome, policy, { attempt, interruptions: tooMany ? MAX_INTERRUPTIONS : interruptions }, 0);
}

function tellLost(emit: Emit, { instanceId, name, silentMs }: LostInstance): void {
  emit({ type: "instance.lost", lostInstanceId: instanceId, lostName: name, silentMs });
}

function tellResumed(emit: Emit, lost: LostTaskRun): void {
  const { taskRunId, taskId, kind, title, attempt, claimedBy, instanceName } = lost;
  const from = { fromInstanceId: claimedBy, fromName: instanceName };
  emit({ type: "task_run.resumed", taskRunId, taskId, kind, title, attempt, ...from });
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
