/**
 * Compares what the instance holds in memory with what the database says it runs, with every renewal. A
 * claim whose answer was lost is handed back; what had ended, and runs again by the word of a database that a failover has
 * put back, is settled as lost; what the database gave to somebody else is aborted.
 */

import type { InstanceId } from "../domain/ids.ts";
import type { Pool } from "../store/database.ts";
import { returnOutsideJobs, UNASKED } from "../store/outside-jobs/let-go.ts";
import { forgetEndedBatches, listRunning, type RunningRow } from "../store/task-runs/claim.ts";
import { handBackTaskRuns } from "../store/task-runs/hand-back.ts";
import { findUndone } from "../store/task-runs/rescue.ts";
import { type HeldClaim, type HeldClaims, stopExecution } from "./held-claims.ts";
import { settleLost } from "./settle-lost.ts";
import type { Emit } from "./telemetry.ts";

export interface ReconcileDeps {
  readonly pool: Pool;
  readonly instanceId: InstanceId;
  readonly held: HeldClaims;
  readonly emit: Emit;
}

/** Answers how many claims it gave up, so that others may have what they held. */
export async function reconcileOnce({ pool, instanceId, held, emit }: ReconcileDeps): Promise<number> {
  // Before the read: what is claimed after it cannot be in its answer.
  const heldBefore = held.all();
  const rows = await pool.transaction(async (tx) => {
    await forgetEndedBatches(tx, instanceId);
    return await listRunning(tx, instanceId);
  });
  for (const { taskRunId, cancelRequested } of rows) {
    const running = cancelRequested ? held.get(taskRunId) : undefined;
    if (running !== undefined && isToBeTold(running)) stopExecution(running, "cancel");
  }
  abortWhatIsNotOurs(heldBefore, rows, emit);
  const lost = rows.filter((row) => isLost(row, held));
  if (lost.length === 0) return 0;
  const jobs = lost.filter(({ goesOnOutside }) => goesOnOutside);
  const begun = lost.filter((row) => !row.goesOnOutside && held.wasAnswered(row.requestNo));
  const unbegun = lost.filter((row) => !row.goesOnOutside && !held.wasAnswered(row.requestNo));
  if (jobs.length > 0) await returnLostJobs(pool, instanceId, jobs);
  const back = await handBack({ pool, instanceId, emit }, unbegun);
  return back + (await settleUndone({ pool, instanceId, emit }, begun));
}

/** They have not begun: nothing is lost with them, and no attempt is spent. */
async function handBack(
  { pool, instanceId, emit }: Omit<ReconcileDeps, "held">,
  unbegun: readonly RunningRow[],
): Promise<number> {
  if (unbegun.length === 0) return 0;
  const back = await pool.transaction(async (tx) => await handBackTaskRuns(tx, instanceId, unbegun));
  for (const { taskRunId, claimNo } of unbegun) {
    if (back.get(taskRunId) === "PENDING") emit({ type: "task_run.handed_back", taskRunId, claimNo });
  }
  return back.size;
}

/** They have had effects, and one that is stuck may be at work to this moment: to begin them anew is for `onLost` to allow. */
async function settleUndone(
  { pool, instanceId, emit }: Omit<ReconcileDeps, "held">,
  undone: readonly RunningRow[],
): Promise<number> {
  if (undone.length === 0) return 0;
  const found = await pool.transaction(async (tx) => await findUndone(tx, instanceId, undone));
  const { settled, failures } = await settleLost({ pool, emit }, found, "END_LOST");
  if (failures.length > 0) throw failures[0];
  return settled;
}

/** Who is about to end an outside job because of the cancel is not disturbed by it. */
function isToBeTold({ claim, stop }: HeldClaim): boolean {
  return stop.because === null && claim.job?.cancelRequested !== true;
}

/** These have started, elsewhere: they are polled on, never handed back. */
async function returnLostJobs(
  pool: Pool,
  instanceId: InstanceId,
  jobs: readonly RunningRow[],
): Promise<void> {
  const requests = jobs.map((job) => ({ ...job, claimedBy: instanceId, ...UNASKED }));
  await pool.transaction(async (tx) => await returnOutsideJobs(tx, requests));
}

/** The database says that we run it, and we know nothing of it. */
function isLost({ taskRunId, claimNo, requestNo }: RunningRow, held: HeldClaims): boolean {
  return held.get(taskRunId)?.claim.claimNo !== claimNo && !held.isOnItsWay(requestNo);
}

function abortWhatIsNotOurs(heldBefore: readonly HeldClaim[], rows: readonly RunningRow[], emit: Emit): void {
  const ours = new Map(rows.map(({ taskRunId, claimNo }) => [taskRunId, claimNo]));
  for (const held of heldBefore) {
    const { claim, stop, ended } = held;
    if (ended || stop.because !== null || ours.get(claim.taskRunId) === claim.claimNo) continue;
    stopExecution(held, "fence");
    emit({ type: "task_run.aborted", taskRunId: claim.taskRunId, claimNo: claim.claimNo });
  }
}
