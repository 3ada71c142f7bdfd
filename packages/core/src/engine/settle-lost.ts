/** Settles what is RUNNING and of which nobody can say any more how it ended. A part of the rescuer and the reconciler. */

import { MAX_INTERRUPTIONS, type Settlement, settle } from "../domain/settlement.ts";
import { isRefusedRow, type Pool, type Transaction } from "../store/database.ts";
import { type LostTaskRun, recordRescue } from "../store/task-runs/rescue.ts";
import { type SettledTaskRun, settleTaskRuns } from "../store/task-runs/settle.ts";
import type { Emit } from "./telemetry.ts";

interface SettleLostDeps {
  readonly pool: Pool;
  readonly emit: Emit;
}

interface Rescued {
  readonly settled: number;
  readonly failures: readonly unknown[];
}

/** `END_LOST`: it ended on this very instance, and a failover of the database undid the record. */
type LossCode = "LEASE_LOST" | "END_LOST";

/** One that the database refuses to settle holds up none of the others: then each goes by itself. */
export async function settleLost(
  { pool, emit }: SettleLostDeps,
  lost: readonly LostTaskRun[],
  code: LossCode,
): Promise<Rescued> {
  if (lost.length === 0) return { settled: 0, failures: [] };
  try {
    const settled = await pool.transaction(async (tx) => await settleTogether(tx, lost, code));
    for (const taskRun of lost) tellRescued(emit, taskRun, settled.get(taskRun.taskRunId));
    return { settled: settled.size, failures: [] };
  } catch (error) {
    if (!isRefusedRow(error)) throw error;
    if (lost.length === 1) return { settled: 0, failures: [error] };
    const each: Rescued[] = [];
    for (const taskRun of lost) each.push(await settleLost({ pool, emit }, [taskRun], code));
    return {
      settled: each.reduce((sum, { settled }) => sum + settled, 0),
      failures: each.flatMap(({ failures }) => failures),
    };
  }
}

async function settleTogether(
  tx: Transaction,
  lost: readonly LostTaskRun[],
  code: LossCode,
): Promise<ReadonlyMap<string, SettledTaskRun>> {
  const rows = await settleTaskRuns(
    tx,
    lost.map((taskRun) => ({
      ...taskRun,
      settlement: settlementOf(taskRun, code),
      // Also where none was found: it may have kept a handle since.
      outside: true,
    })),
  );
  const settled = new Map(rows.map((row) => [row.taskRunId, row]));
  await recordRescue(
    tx,
    lost.filter(({ taskRunId }) => settled.has(taskRunId)),
  );
  return settled;
}

function settlementOf(
  { instanceName, policy, attempt, interruptions, job }: LostTaskRun,
  code: LossCode,
): Settlement {
  const outcome = { kind: "instance_lost", code, instanceName } as const;
  // Whoever polled it was lost each time: it may be the reason, and to begin anew would not change that.
  const tooMany = job !== null && job.losses >= MAX_INTERRUPTIONS;
  return settle(outcome, policy, { attempt, interruptions: tooMany ? MAX_INTERRUPTIONS : interruptions }, 0);
}

function tellRescued(emit: Emit, lost: LostTaskRun, settled: SettledTaskRun | undefined): void {
  if (settled === undefined) return;
  const { taskRunId, taskId, kind, title, attempt, claimedBy, instanceName } = lost;
  const { status, nextTaskRunId } = settled;
  const from = { fromInstanceId: claimedBy, fromName: instanceName };
  emit({ type: "task_run.rescued", taskRunId, taskId, kind, title, attempt, ...from, status, nextTaskRunId });
}
