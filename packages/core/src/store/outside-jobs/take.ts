import { asRunId, asTaskId, asTaskRunId } from "../../domain/ids.ts";
import type { Database, Transaction } from "../database.ts";
import { sql } from "../sql.ts";
import type { Claim, ClaimedJob, ClaimRequest } from "../task-runs/claim.ts";

/**
 * Takes let-go task runs that are due to be polled, each under a new claim number. Their rows first and the jobs after
 * them, as a cancel does it; a row that somebody else is taking is skipped.
 */
export async function takeOutsideJobs(
  tx: Transaction,
  { instanceId, kinds, freeSlots, requestNo }: ClaimRequest,
): Promise<readonly Claim[]> {
  const rows = await tx.query(
    sql<TakenRow>("takeOutsideJobs")`
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
      SELECT t.id AS "taskRunId", t.task_id AS "taskId", t.run_id AS "runId", t.kind, t.attempt,
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
    ...row,
    taskRunId: asTaskRunId(row.taskRunId),
    taskId: asTaskId(row.taskId),
    runId: row.runId === null ? null : asRunId(row.runId),
    claimNo: Number(row.claimNo),
    job: { handle, overdue, cancelRequested, ranMs },
  }));
}

interface TakenRow extends ClaimedJob, Omit<Claim, "taskRunId" | "taskId" | "runId" | "claimNo" | "job"> {
  readonly taskRunId: string;
  readonly taskId: string;
  readonly runId: string | null;
  readonly claimNo: string;
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
