import { asRunId, asTaskId, asTaskRunId } from "../../domain/ids.ts";
import type { RetryPolicy } from "../../domain/settlement.ts";
import type { Transaction } from "../database.ts";
import { preparedSql } from "../sql.ts";
import type { Claim, ClaimRequest } from "./claim.ts";

export interface FewClaimed {
  readonly claims: readonly Claim[];
  /** How many lay ready, whoever is taking them or may not have them; more than were asked for: nothing was taken. */
  readonly seen: number;
}

type Row = { readonly seen: string } & (ClaimedRow | { readonly taskRunId: null });

interface ClaimedRow extends Omit<Claim, "taskRunId" | "taskId" | "runId" | "claimNo" | "policy" | "job"> {
  readonly taskRunId: string;
  readonly taskId: string;
  readonly runId: string | null;
  readonly claimNo: string;
  readonly policy: RetryPolicy;
}

/**
 * The same as `claimTaskRuns` where no more lies ready than there are free slots: it takes all of that, or nothing. So nobody
 * has to be chosen from several queues, and the statement is short: on an idle server to set that one up takes longer than
 * to carry it out. The guards are the same, and `claim-guards.db.test.ts` holds both to them.
 */
export async function claimFew(
  tx: Transaction,
  { instanceId, kinds, freeSlots, requestNo }: Omit<ClaimRequest, "fronts">,
): Promise<FewClaimed> {
  const rows = await tx.query(
    preparedSql<Row>("claimFew")`
      WITH seen AS MATERIALIZED (       -- without a lock, and no more of them than that, however many lie there
        SELECT ctid AS place FROM signalbox.ready WHERE kind = ANY (${kinds}::text[]) LIMIT ${freeSlots}::integer + 1
      ), taken AS (
        DELETE FROM signalbox.ready
         WHERE ctid = ANY (ARRAY(
                 SELECT r.ctid
                   FROM signalbox.ready AS r
                  WHERE r.ctid = ANY (ARRAY(SELECT place FROM seen WHERE (SELECT count(*) FROM seen) <= ${freeSlots}))
                    -- Under older rules (no limit, no pause, no window) it may not start any more.
                    AND r.rules_no = coalesce((SELECT q.rules_no FROM signalbox.queue AS q WHERE q.name = r.queue), 0)
                    AND r.open_until > clock_timestamp()
                    AND EXISTS (SELECT FROM signalbox.instance
                                 WHERE boot_id = ${instanceId} AND state = 'LIVE'
                                   AND expires_at > clock_timestamp()
                                   AND timeline = signalbox.current_timeline())
                    FOR UPDATE SKIP LOCKED))
        RETURNING task_run_id
      ), claimed AS (
        UPDATE signalbox.task_run
           SET status = 'RUNNING',
               claimed_by = ${instanceId},
               claimed_at = clock_timestamp(),
               claim_no = (SELECT nextval('signalbox.claim_no')),
               row_version = row_version + 1
         WHERE id = ANY (ARRAY(SELECT task_run_id FROM taken))
           AND status = 'AVAILABLE'
        RETURNING id, task_id, run_id, kind, attempt, interruptions, deferrals, gated, claim_no,
                  claimed_at - greatest(enqueued_at, run_at) AS waited, claimed_at - available_at AS available
      ), batch AS (
        INSERT INTO signalbox.claim_batch (claim_no, instance_id, request_no, task_run_ids)
        SELECT min(claim_no), ${instanceId}, ${requestNo}, array_agg(id) FROM claimed HAVING count(*) > 0
      ), woken AS (
        -- Fewer of its run are AVAILABLE now: those that wait for their share of it may go.
        INSERT INTO signalbox.gate_wake (key)
        SELECT DISTINCT 'run:' || run_id
          FROM claimed
         WHERE run_id IS NOT NULL
           AND EXISTS (SELECT FROM signalbox.waiting
                        WHERE blocked_on = 'FAIR_SHARE' AND blocked_key = claimed.run_id::text)
      )
      SELECT s.seen, c.id AS "taskRunId", c.task_id AS "taskId", c.run_id AS "runId", c.kind, k.title, c.attempt,
             c.interruptions, c.deferrals, c.gated, c.claim_no AS "claimNo", k.input, k.policy,
             date_part('epoch', c.waited) * 1000 AS "waitedMs", date_part('epoch', c.available) * 1000 AS "availableMs"
        FROM (SELECT count(*) AS seen FROM seen) AS s
        LEFT JOIN (claimed AS c
                   CROSS JOIN LATERAL (SELECT title, input, policy FROM signalbox.task WHERE task.id = c.task_id LIMIT 1) AS k)
               ON true
    `,
  );
  return { claims: rows.flatMap(toClaim), seen: Number(rows[0]?.seen ?? 0) };
}

function toClaim(row: Row): readonly Claim[] {
  if (row.taskRunId === null) return [];
  const { seen: _, taskRunId, taskId, runId, claimNo, ...rest } = row;
  return [
    {
      ...rest,
      taskRunId: asTaskRunId(taskRunId),
      taskId: asTaskId(taskId),
      runId: runId === null ? null : asRunId(runId),
      claimNo: Number(claimNo),
      job: null,
    },
  ];
}
