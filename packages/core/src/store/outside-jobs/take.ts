import { asTaskRunId, type InstanceId, type TaskRunId } from "../../domain/ids.ts";
import type { Database, Transaction } from "../database.ts";
import { sql } from "../sql.ts";
import {
  type Claim,
  type ClaimedJob,
  type ClaimRequest,
  type ClaimRow,
  toClaim,
} from "../task-runs/claim.ts";

/**
 * Takes let-go task runs that are due to be polled, each under a new claim number. Their rows first and the jobs after
 * them, as a cancel does it; a row that somebody else is taking is skipped.
 */
export async function takeOutsideJobs(
  tx: Transaction,
  { instanceId, kinds, freeSlots, requestNo }: ClaimRequest,
): Promise<readonly Claim[]> {
  const rows = await tx.query(
    sql<ClaimRow & ClaimedJob>("takeOutsideJobs")`
      WITH due AS MATERIALIZED (
        SELECT j.task_run_id
          FROM unnest(${kinds}::text[]) AS g (kind)
         CROSS JOIN LATERAL (
               SELECT task_run_id, next_poll_at
                 FROM signalbox.outside_job
                WHERE outside_job.kind = g.kind AND next_poll_at <= clock_timestamp()
                ORDER BY next_poll_at
                LIMIT ${freeSlots}) AS j
         WHERE EXISTS (SELECT FROM signalbox.instance
                        WHERE boot_id = ${instanceId} AND state = 'LIVE' AND expires_at > clock_timestamp()
                          AND timeline = signalbox.current_timeline())
         ORDER BY j.next_poll_at
         LIMIT ${freeSlots}
      ), taken AS (
        UPDATE signalbox.task_run
           SET claimed_by = ${instanceId},
               claim_no = (SELECT nextval('signalbox.claim_no')),
               row_version = row_version + 1
         WHERE id = ANY (ARRAY(
                 SELECT id
                   FROM signalbox.task_run
                  WHERE id = ANY (ARRAY(SELECT task_run_id FROM due))
                    AND status = 'RUNNING' AND claimed_by IS NULL AND let_go_at IS NOT NULL
                  ORDER BY id
                    FOR UPDATE SKIP LOCKED))
           AND status = 'RUNNING' AND claimed_by IS NULL AND let_go_at IS NOT NULL
        RETURNING id, task_id, run_id, kind, queue, attempt, interruptions, deferrals, gated, claim_no,
                  cancel_requested_at, claimed_at, claimed_at - greatest(enqueued_at, run_at) AS waited,
                  claimed_at - available_at AS available
      ), batch AS (
        INSERT INTO signalbox.claim_batch (claim_no, instance_id, request_no, task_run_ids)
        SELECT claim_no, ${instanceId}, ${requestNo}, array_agg(id) FROM taken GROUP BY claim_no
      ), job AS (
        UPDATE signalbox.outside_job
           SET next_poll_at = 'infinity'
         WHERE task_run_id = ANY (ARRAY(SELECT id FROM taken))
        RETURNING task_run_id, handle, deadline <= clock_timestamp() AS overdue
      )
      SELECT t.id AS "taskRunId", t.task_id AS "taskId", t.run_id AS "runId", t.kind, t.queue, t.attempt,
             t.interruptions, t.deferrals, t.gated, t.claim_no AS "claimNo", k.title, k.input, k.policy, job.handle,
             job.overdue, t.cancel_requested_at IS NOT NULL AS "cancelRequested",
             (extract(epoch FROM t.waited) * 1000)::float8 AS "waitedMs",
             (extract(epoch FROM t.available) * 1000)::float8 AS "availableMs",
             (extract(epoch FROM clock_timestamp() - t.claimed_at) * 1000)::float8 AS "ranMs"
        FROM taken AS t
        JOIN job ON job.task_run_id = t.id
        JOIN signalbox.task AS k ON k.id = t.task_id
    `,
  );
  return rows.map(({ handle, overdue, cancelRequested, ranMs, ...row }) => ({
    ...toClaim(row),
    job: { handle, overdue, cancelRequested, ranMs },
  }));
}

/** When the next job of these kinds is due; null where there is none. */
export async function msUntilNextPoll(db: Database, kinds: readonly string[]): Promise<number | null> {
  const [row] = await db.query(
    sql<{ ms: number | null }>("msUntilNextPoll")`
      SELECT (extract(epoch FROM min(j.next_poll_at) - clock_timestamp()) * 1000)::float8 AS ms
        FROM unnest(${kinds}::text[]) AS g (kind)
       CROSS JOIN LATERAL (
             SELECT next_poll_at
               FROM signalbox.outside_job
              WHERE outside_job.kind = g.kind AND next_poll_at < 'infinity'
              ORDER BY next_poll_at
              LIMIT 1) AS j
    `,
  );
  return row?.ms ?? null;
}

export interface ResumeRequest {
  readonly taskRunId: TaskRunId;
  readonly claimNo: number;
  readonly claimedBy: InstanceId;
}

/** RUNNING of a dead instance → let go: others go on from the handle. The owner is repeated, as in every rescue. */
export async function resumeTaskRuns(
  tx: Transaction,
  lost: readonly ResumeRequest[],
): Promise<ReadonlySet<TaskRunId>> {
  if (lost.length === 0) return new Set();
  const rows = await tx.query(
    sql<{ taskRunId: string }>("resumeTaskRuns")`
      WITH mine AS MATERIALIZED (
        SELECT t.id, t.claimed_by
          FROM unnest(${lost.map(({ taskRunId }) => taskRunId)}::uuid[],
                      ${lost.map(({ claimNo }) => claimNo)}::bigint[],
                      ${lost.map(({ claimedBy }) => claimedBy)}::uuid[]) AS g (id, claim_no, claimed_by)
          JOIN signalbox.task_run AS t ON t.id = g.id
         WHERE t.claim_no = g.claim_no AND t.claimed_by = g.claimed_by AND t.status = 'RUNNING'
           AND EXISTS (SELECT FROM signalbox.outside_job WHERE task_run_id = t.id)
         ORDER BY t.id
           FOR UPDATE OF t
      ), moved AS (
        UPDATE signalbox.task_run AS t
           SET claimed_by = NULL, let_go_at = coalesce(t.let_go_at, clock_timestamp()), row_version = t.row_version + 1
          FROM mine
         WHERE t.id = mine.id AND t.status = 'RUNNING'
        RETURNING t.id, t.task_id, t.run_id, t.row_version, t.claim_no, t.available_at, t.claimed_at, mine.claimed_by
      ), job AS (
        UPDATE signalbox.outside_job
           SET next_poll_at = clock_timestamp(), losses = losses + 1
         WHERE task_run_id = ANY (ARRAY(SELECT id FROM moved))
      ), recorded AS (
        INSERT INTO signalbox.event_store (aggregate_type, aggregate_id, aggregate_version, type, data)
        SELECT 'task_run', id, row_version, 'task_run.resumed',
               jsonb_build_object('from', 'RUNNING', 'to', 'RUNNING', 'taskId', task_id, 'runId', run_id,
                                  'claimNo', claim_no, 'claimedBy', claimed_by,
                                  'availableAt', available_at, 'claimedAt', claimed_at)
          FROM moved
      )
      SELECT id AS "taskRunId" FROM moved
    `,
  );
  return new Set(rows.map(({ taskRunId }) => asTaskRunId(taskRunId)));
}
