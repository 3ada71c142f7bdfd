import {
  asRunId,
  asTaskId,
  asTaskRunId,
  type InstanceId,
  type RunId,
  type TaskRunId,
} from "../../domain/ids.ts";
import { alsoByVersion, wakeVersion } from "../../domain/wake.ts";
import type { Transaction } from "../database.ts";
import { ratesFreedBy } from "../holds/rates.ts";
import { releaseHolds } from "../holds/release.ts";
import { wakeGates } from "../holds/wake.ts";
import { countDownRuns, lockRuns } from "../runs/count-down.ts";
import { sql } from "../sql.ts";
import { closeVersions } from "./close.ts";
import { enterWaiting } from "./enter-waiting.ts";

/**
 * RUNNING → PENDING for claims that the instance knows nothing of, without spending an attempt; CANCELED where a cancel
 * was requested. Guarded like a settle. Answers what became of each. They were never started.
 */
export async function handBackTaskRuns(
  tx: Transaction,
  instanceId: InstanceId,
  claims: readonly { readonly taskRunId: TaskRunId; readonly claimNo: number }[],
): Promise<ReadonlyMap<TaskRunId, "PENDING" | "CANCELED">> {
  if (claims.length === 0) return new Map();
  await lockRuns(
    tx,
    await runsOf(
      tx,
      claims.map(({ taskRunId }) => taskRunId),
    ),
  );
  const rows = await tx.query(
    sql<LeftRow>("handBackTaskRuns")`
      WITH mine AS MATERIALIZED (
        SELECT t.id, t.available_at, t.claimed_at, t.claim_no
          FROM unnest(${claims.map(({ taskRunId }) => taskRunId)}::uuid[],
                      ${claims.map(({ claimNo }) => claimNo)}::bigint[]) AS g (id, claim_no)
          JOIN signalbox.task_run AS t ON t.id = g.id
         WHERE t.claim_no = g.claim_no AND t.claimed_by = ${instanceId} AND t.status = 'RUNNING'
           AND t.let_go_at IS NULL          -- what was let go has started long ago
         ORDER BY t.id
           FOR UPDATE OF t
      ), moved AS (
        UPDATE signalbox.task_run AS t
           SET status = CASE WHEN t.cancel_requested_at IS NULL THEN 'PENDING' ELSE 'CANCELED' END,
               outcome = CASE WHEN t.cancel_requested_at IS NOT NULL THEN 'CANCELED' END,
               finished_at = CASE WHEN t.cancel_requested_at IS NOT NULL THEN clock_timestamp() END,
               available_at = CASE WHEN t.cancel_requested_at IS NOT NULL THEN t.available_at END,
               claimed_at = CASE WHEN t.cancel_requested_at IS NOT NULL THEN t.claimed_at END,
               claimed_by = CASE WHEN t.cancel_requested_at IS NOT NULL THEN t.claimed_by END,
               row_version = t.row_version + 1
          FROM mine
         WHERE t.id = mine.id
           AND t.claim_no = mine.claim_no AND t.claimed_by = ${instanceId} AND t.status = 'RUNNING'
        RETURNING t.id, t.task_id, t.run_id, t.status, t.row_version, mine.available_at, mine.claimed_at, mine.claim_no
      ), recorded AS (
        INSERT INTO signalbox.event_store (aggregate_type, aggregate_id, aggregate_version, type, data)
        SELECT 'task_run', id, row_version, 'task_run.handed_back',
               jsonb_build_object('from', 'RUNNING', 'to', status, 'taskId', task_id, 'runId', run_id,
                                  'claimNo', claim_no, 'claimedBy', ${instanceId}::uuid,
                                  'availableAt', available_at, 'claimedAt', claimed_at)
          FROM moved
      )
      SELECT id AS "taskRunId", task_id AS "taskId", run_id AS "runId", status FROM moved
    `,
  );
  return await leaveRunning(tx, rows);
}

/** What a move from RUNNING to PENDING brings with it, and what becomes of those that were canceled instead. */
export async function leaveRunning(
  tx: Transaction,
  rows: readonly LeftRow[],
): Promise<ReadonlyMap<TaskRunId, "PENDING" | "CANCELED">> {
  const moved = rows.map((row) => ({ ...row, taskRunId: asTaskRunId(row.taskRunId) }));
  const canceled = moved.filter(({ status }) => status === "CANCELED");
  await enterWaiting(
    tx,
    moved.flatMap(({ taskRunId, status }) => (status === "PENDING" ? [taskRunId] : [])),
  );
  // All at once: the rows of resources are locked in the order of their names, and only within one call.
  const freed = await releaseHolds(
    tx,
    moved.map(({ taskRunId }) => taskRunId),
    canceled.map(({ taskId }) => asTaskId(taskId)),
  );
  const closed = await closeVersions(
    tx,
    canceled.map(({ taskRunId }) => taskRunId),
    [],
  );
  const rates = await ratesFreedBy(
    tx,
    moved.map(({ taskRunId }) => taskRunId),
  );
  await wakeGates(tx, [...alsoByVersion(freed), ...closed.map(wakeVersion), ...rates]);
  await countDownRuns(
    tx,
    canceled.flatMap(({ runId }) =>
      runId === null ? [] : [{ runId: asRunId(runId), status: "CANCELED" as const }],
    ),
  );
  return new Map(moved.map(({ taskRunId, status }) => [taskRunId, status]));
}

export async function runsOf(tx: Transaction, taskRunIds: readonly TaskRunId[]): Promise<readonly RunId[]> {
  const rows = await tx.query(
    sql<{ runId: string }>("runsOfTaskRuns")`
      SELECT DISTINCT run_id AS "runId"
        FROM signalbox.task_run
       WHERE id = ANY (${taskRunIds}::uuid[]) AND run_id IS NOT NULL
    `,
  );
  return rows.map(({ runId }) => asRunId(runId));
}

export interface LeftRow {
  readonly taskRunId: string;
  readonly taskId: string;
  readonly runId: string | null;
  readonly status: "PENDING" | "CANCELED";
}
