import {
  asInstanceId,
  asRunId,
  asTaskId,
  asTaskRunId,
  type InstanceId,
  type RunId,
  type TaskId,
  type TaskRunId,
} from "../../domain/ids.ts";
import type { RetryPolicy } from "../../domain/settlement.ts";
import type { Transaction } from "../database.ts";
import { sql } from "../sql.ts";

/** A RUNNING task run whose owner is DEAD or gone, or lives and knows nothing of it any more. */
export interface LostTaskRun {
  readonly taskRunId: TaskRunId;
  readonly taskId: TaskId;
  readonly runId: RunId | null;
  readonly kind: string;
  readonly title: string;
  readonly attempt: number;
  readonly interruptions: number;
  readonly claimNo: number;
  readonly claimedBy: InstanceId;
  readonly instanceName: string;
  readonly policy: RetryPolicy;
  /** The outside job by which others can go on; null where no handle was kept. */
  readonly job: { readonly letGo: boolean; readonly losses: number } | null;
}

/**
 * Every pass looks at all dead owners, not only at those it has just found dead: a claim that was on its
 * way when its instance was marked DEAD commits afterwards.
 */
export async function findLost(tx: Transaction, limit: number): Promise<readonly LostTaskRun[]> {
  const rows = await tx.query(
    sql<LostRow>("findLost")`
      SELECT t.id AS "taskRunId", t.task_id AS "taskId", t.run_id AS "runId", t.kind, k.title, t.attempt,
             t.interruptions,
             b.claim_no AS "claimNo", b.instance_id AS "claimedBy",
             coalesce((SELECT name FROM signalbox.instance WHERE boot_id = b.instance_id), 'a forgotten instance')
               AS "instanceName",
             k.policy,
             (SELECT jsonb_build_object('letGo', t.let_go_at IS NOT NULL, 'losses', j.losses)
                FROM signalbox.outside_job AS j WHERE j.task_run_id = t.id) AS job
        FROM signalbox.claim_batch AS b
       CROSS JOIN LATERAL unnest(b.task_run_ids) AS g (id)
        -- With a limit it stays a search for each of them. Without one the planner may go through all there are, in the asked order.
       CROSS JOIN LATERAL (SELECT *
                             FROM signalbox.task_run
                            WHERE task_run.id = g.id
                              AND status = 'RUNNING' AND claim_no = b.claim_no AND claimed_by = b.instance_id
                            LIMIT 1) AS t
       CROSS JOIN LATERAL (SELECT title, policy FROM signalbox.task WHERE task.id = t.task_id LIMIT 1) AS k
       WHERE NOT EXISTS (SELECT FROM signalbox.instance WHERE boot_id = b.instance_id AND state <> 'DEAD')
       ORDER BY t.id
       LIMIT ${limit}
    `,
  );
  return rows.map(toLost);
}

/** Of these, what still runs by the word of the database. Its instance has ended it; a failover undid the record. */
export async function findUndone(
  tx: Transaction,
  instanceId: InstanceId,
  claims: readonly Pick<LostTaskRun, "taskRunId" | "claimNo">[],
): Promise<readonly LostTaskRun[]> {
  const rows = await tx.query(
    sql<LostRow>("findUndone")`
      SELECT t.id AS "taskRunId", t.task_id AS "taskId", t.run_id AS "runId", t.kind, k.title, t.attempt,
             t.interruptions, t.claim_no AS "claimNo", t.claimed_by AS "claimedBy", i.name AS "instanceName", k.policy,
             NULL AS job
        FROM unnest(${claims.map(({ taskRunId }) => taskRunId)}::uuid[],
                    ${claims.map(({ claimNo }) => claimNo)}::bigint[]) AS g (id, claim_no)
        JOIN signalbox.task_run AS t ON t.id = g.id AND t.claim_no = g.claim_no
        JOIN signalbox.task AS k ON k.id = t.task_id
        JOIN signalbox.instance AS i ON i.boot_id = t.claimed_by
       WHERE t.claimed_by = ${instanceId} AND t.status = 'RUNNING'
    `,
  );
  return rows.map(toLost);
}

interface LostRow {
  readonly taskRunId: string;
  readonly taskId: string;
  readonly runId: string | null;
  readonly kind: string;
  readonly title: string;
  readonly attempt: number;
  readonly interruptions: number;
  readonly claimNo: string;
  readonly claimedBy: string;
  readonly instanceName: string;
  readonly policy: RetryPolicy;
  readonly job: LostTaskRun["job"];
}

function toLost(row: LostRow): LostTaskRun {
  return {
    ...row,
    taskRunId: asTaskRunId(row.taskRunId),
    taskId: asTaskId(row.taskId),
    runId: row.runId === null ? null : asRunId(row.runId),
    claimNo: Number(row.claimNo),
    claimedBy: asInstanceId(row.claimedBy),
  };
}

/** Batches of dead owners of which nothing runs any more. */
export async function forgetLostBatches(tx: Transaction): Promise<void> {
  await tx.query(
    sql("forgetLostBatches")`
      DELETE FROM signalbox.claim_batch AS b
       WHERE NOT EXISTS (SELECT FROM signalbox.instance WHERE boot_id = b.instance_id AND state <> 'DEAD')
         AND NOT EXISTS (SELECT FROM signalbox.task_run AS t
                          WHERE t.id = ANY (b.task_run_ids)
                            AND t.status = 'RUNNING' AND t.claim_no = b.claim_no AND t.claimed_by = b.instance_id)
    `,
  );
}

/** An irregular end, so it is told as an event too: who was lost with what. */
export async function recordRescue(tx: Transaction, rescued: readonly LostTaskRun[]): Promise<void> {
  if (rescued.length === 0) return;
  await tx.query(
    sql("recordRescue")`
      INSERT INTO signalbox.event_store (aggregate_type, aggregate_id, aggregate_version, type, data)
      SELECT 'task_run', t.id, t.row_version, 'task_run.rescued',
             jsonb_build_object('from', 'RUNNING', 'to', t.status, 'taskId', t.task_id, 'runId', t.run_id,
                                'claimNo', t.claim_no, 'claimedBy', t.claimed_by,
                                'availableAt', t.available_at, 'claimedAt', t.claimed_at)
        FROM signalbox.task_run AS t
       WHERE t.id = ANY (${rescued.map(({ taskRunId }) => taskRunId)}::uuid[])
    `,
  );
}
