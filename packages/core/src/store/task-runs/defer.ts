import { asTaskRunId, type InstanceId, type TaskRunId } from "../../domain/ids.ts";
import type { Transaction } from "../database.ts";
import { forgetOutsideJobs } from "../outside-jobs/let-go.ts";
import { lockRuns } from "../runs/count-down.ts";
import { sql } from "../sql.ts";
import { type LeftRow, leaveRunning, runsOf } from "./hand-back.ts";

export interface DeferRequest {
  readonly taskRunId: TaskRunId;
  readonly claimNo: number;
  readonly claimedBy: InstanceId;
  readonly delayMs: number;
  readonly reason: string | null;
  readonly outside: boolean;
}

/**
 * RUNNING → PENDING for those that asked for a later time, without spending an attempt; CANCELED where a cancel was
 * requested. Guarded like a settle. Answers what became of each; what is missing is not ours any more.
 */
export async function deferTaskRuns(
  tx: Transaction,
  requests: readonly DeferRequest[],
): Promise<ReadonlyMap<TaskRunId, "PENDING" | "CANCELED">> {
  const ids = requests.map(({ taskRunId }) => taskRunId);
  await lockRuns(tx, await runsOf(tx, ids));
  const rows = await tx.query(
    sql<LeftRow>("deferTaskRuns")`
      WITH mine AS MATERIALIZED (
        SELECT t.id, t.available_at, t.claimed_at, t.claim_no, t.claimed_by, g.delay_ms, g.reason
          FROM unnest(${ids}::uuid[],
                      ${requests.map(({ claimNo }) => claimNo)}::bigint[],
                      ${requests.map(({ claimedBy }) => claimedBy)}::uuid[],
                      ${requests.map(({ delayMs }) => delayMs)}::bigint[],
                      ${requests.map(({ reason }) => reason)}::text[]) AS g (id, claim_no, claimed_by, delay_ms, reason)
          JOIN signalbox.task_run AS t ON t.id = g.id
         WHERE t.claim_no = g.claim_no AND t.claimed_by = g.claimed_by AND t.status = 'RUNNING'
           AND t.let_go_at IS NULL
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
               run_at = CASE WHEN t.cancel_requested_at IS NULL
                             THEN clock_timestamp() + mine.delay_ms * interval '1 ms' ELSE t.run_at END,
               deferrals = t.deferrals + 1,
               row_version = t.row_version + 1
          FROM mine
         WHERE t.id = mine.id AND t.status = 'RUNNING'
        RETURNING t.id, t.task_id, t.run_id, t.status, t.run_at, t.deferrals, t.row_version, mine.available_at,
                  mine.claimed_at, mine.claim_no, mine.claimed_by, mine.reason
      ), counting AS MATERIALIZED (
        -- The slot of a start that is a period ago is free: a pass may be giving it away at this moment.
        SELECT s.rate, s.slot, s.task_run_id, moved.claimed_at
          FROM moved
          JOIN signalbox.task AS k ON k.id = moved.task_id
          JOIN signalbox.rate AS r ON r.name = k.rate
          JOIN signalbox.rate_slot AS s ON s.rate = r.name AND s.task_run_id = moved.id AND s.started_at IS NULL
         WHERE moved.claimed_at > clock_timestamp() - r.per_ms * interval '1 ms'
         ORDER BY s.rate, s.slot
           FOR UPDATE OF s
      ), counted AS (
        -- It has started, which its row does not tell from here on; the rate must not forget it.
        UPDATE signalbox.rate_slot AS s
           SET started_at = counting.claimed_at
          FROM counting
         WHERE s.rate = counting.rate AND s.slot = counting.slot AND s.task_run_id = counting.task_run_id
      ), recorded AS (
        INSERT INTO signalbox.event_store (aggregate_type, aggregate_id, aggregate_version, type, data)
        SELECT 'task_run', id, row_version, 'task_run.deferred',
               jsonb_build_object('from', 'RUNNING', 'to', status, 'taskId', task_id, 'runId', run_id,
                                  'claimNo', claim_no, 'claimedBy', claimed_by, 'runAt', run_at,
                                  'deferrals', deferrals, 'reason', reason,
                                  'availableAt', available_at, 'claimedAt', claimed_at)
          FROM moved
      )
      SELECT id AS "taskRunId", task_id AS "taskId", run_id AS "runId", status FROM moved
    `,
  );
  const became = await leaveRunning(tx, rows);
  await forgetOutsideJobs(
    tx,
    requests.flatMap(({ taskRunId, outside }) => (outside && became.has(taskRunId) ? [taskRunId] : [])),
  );
  return became;
}

/** Of those that could not be deferred: which had been before, under the same claim, by a commit whose answer was lost? */
export async function findDeferredBefore(
  tx: Transaction,
  claims: readonly Pick<DeferRequest, "taskRunId" | "claimNo">[],
): Promise<ReadonlyMap<TaskRunId, "PENDING" | "CANCELED">> {
  if (claims.length === 0) return new Map();
  const rows = await tx.query(
    sql<{ taskRunId: string; status: "PENDING" | "CANCELED" }>("findDeferredBefore")`
      SELECT e.aggregate_id AS "taskRunId", e.data->>'to' AS status
        FROM unnest(${claims.map(({ taskRunId }) => taskRunId)}::uuid[],
                    ${claims.map(({ claimNo }) => claimNo)}::bigint[]) AS g (id, claim_no)
        JOIN signalbox.event_store AS e ON e.aggregate_id = g.id
       WHERE e.type = 'task_run.deferred' AND (e.data->>'claimNo')::bigint = g.claim_no
    `,
  );
  return new Map(rows.map(({ taskRunId, status }) => [asTaskRunId(taskRunId), status]));
}
