/** Writes what leaves an instance without having ended: deferred, let go, or to be polled again. A part of the settler. */

import type { TaskRunId } from "../domain/ids.ts";
import type { Pool } from "../store/database.ts";
import {
  findLetGoBefore,
  type JobClaim,
  letGoTaskRuns,
  type ReturnRequest,
  returnOutsideJobs,
} from "../store/outside-jobs/let-go.ts";
import { deferTaskRuns, findDeferredBefore } from "../store/task-runs/defer.ts";
import { type DecisionOf, type Finished, forgetBatchesOf, namedOf } from "./finished.ts";
import type { Emit } from "./telemetry.ts";

function claimOf({ claim, claimedBy }: Finished): JobClaim {
  return { taskRunId: claim.taskRunId, claimNo: claim.claimNo, claimedBy };
}

function tellRefused(emit: Emit, { claim }: Finished): void {
  emit({ type: "task_run.refused", ...namedOf(claim), claimNo: claim.claimNo });
}

export async function recordDeferrals(
  pool: Pool,
  batch: readonly Finished<DecisionOf<"deferred">>[],
  emit: Emit,
): Promise<void> {
  const became = await pool.transaction(async (tx) => {
    const requests = batch.map((finished) => {
      const { delayMs, reason } = finished.decision;
      return { ...claimOf(finished), delayMs, reason, outside: finished.outside };
    });
    const deferred = await deferTaskRuns(tx, requests);
    const before = await findDeferredBefore(
      tx,
      requests.filter(({ taskRunId }) => !deferred.has(taskRunId)),
    );
    await forgetBatchesOf(tx, batch);
    return new Map([...before, ...deferred]);
  });
  for (const finished of batch) {
    const { claim, decision, ranMs } = finished;
    const status = became.get(claim.taskRunId);
    if (status === undefined) tellRefused(emit, finished);
    else if (status === "CANCELED") {
      const end = { status, outcome: "CANCELED", message: null, ranMs, nextTaskRunId: null, nextInMs: null };
      emit({ type: "task_run.settled", ...namedOf(claim), ...end });
    } else {
      const deferral = { deferrals: claim.deferrals + 1, runInMs: decision.delayMs, reason: decision.reason };
      emit({ type: "task_run.deferred", ...namedOf(claim), ...deferral });
    }
  }
}

export async function recordLetGo(
  pool: Pool,
  batch: readonly Finished<DecisionOf<"let_go">>[],
  emit: Emit,
): Promise<void> {
  const gone = await pool.transaction(async (tx) => {
    const requests = batch.map((finished) => ({ ...claimOf(finished), job: finished.decision }));
    const released = await letGoTaskRuns(tx, requests);
    const before = await findLetGoBefore(tx, missingFrom(released, requests));
    await forgetBatchesOf(tx, batch);
    return new Set([...released, ...before]);
  });
  for (const finished of batch) {
    const { claim, decision } = finished;
    const { pollInMs, deadlineInMs } = decision;
    if (gone.has(claim.taskRunId))
      emit({ type: "task_run.let_go", ...namedOf(claim), pollInMs, deadlineInMs });
    else tellRefused(emit, finished);
  }
}

export async function recordPolls(
  pool: Pool,
  batch: readonly Finished<DecisionOf<"poll_again">>[],
  emit: Emit,
): Promise<void> {
  const gone = await pool.transaction(async (tx) => {
    const requests = batch.map((finished): ReturnRequest => {
      const { pollInMs, answered } = finished.decision;
      return { ...claimOf(finished), pollInMs, how: answered ? "answered" : "unanswered" };
    });
    const returned = await returnOutsideJobs(tx, requests);
    const before = await findLetGoBefore(tx, missingFrom(returned, requests));
    await forgetBatchesOf(tx, batch);
    return new Set([...returned, ...before]);
  });
  for (const finished of batch) {
    const { claim, decision } = finished;
    const { pollInMs, problem } = decision;
    if (gone.has(claim.taskRunId)) emit({ type: "task_run.polled", ...namedOf(claim), pollInMs, problem });
    else tellRefused(emit, finished);
  }
}

function missingFrom(ids: ReadonlySet<TaskRunId>, requests: readonly JobClaim[]): readonly JobClaim[] {
  return requests.filter(({ taskRunId }) => !ids.has(taskRunId));
}
