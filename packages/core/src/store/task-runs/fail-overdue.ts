/** PENDING, AVAILABLE → FAILED for those that have waited longer than they may. */

import { asRunId, asTaskId, asTaskRunId, type RunId, type TaskId, type TaskRunId } from "../../domain/ids.ts";
import type { RetryPolicy, Settlement } from "../../domain/settlement.ts";
import type { Database, Transaction } from "../database.ts";
import { ratesFreedBy } from "../holds/rates.ts";
import { wakeGates } from "../holds/wake.ts";
import { lockRuns } from "../runs/count-down.ts";
import { sql } from "../sql.ts";
import { closeUnstarted } from "./close-unstarted.ts";
import type { SettledTaskRun } from "./settle.ts";

/** A task run whose queue deadline has passed, by the database's clock. */
export interface OverdueTaskRun {
  readonly taskRunId: TaskRunId;
  readonly taskId: TaskId;
  readonly runId: RunId | null;
  readonly kind: string;
  readonly title: string;
  readonly attempt: number;
  readonly interruptions: number;
  readonly policy: RetryPolicy;
}

/** Also says which of them are not waiting any more: claimed in time, or ended. */
export async function findOverdue(
  db: Database,
  limit: number,
): Promise<{ readonly overdue: readonly OverdueTaskRun[]; readonly inTime: readonly TaskRunId[] }> {
  const rows = await db.query(
    sql<OverdueRow>("findOverdue")`
      SELECT due.task_run_id AS "taskRunId", t.task_id AS "taskId", t.run_id AS "runId", t.kind, k.title, t.attempt,
             t.interruptions, k.policy, coalesce(t.status IN ('PENDING', 'AVAILABLE'), false) AS waits
        FROM (SELECT task_run_id
                FROM signalbox.queue_deadline
               WHERE at <= clock_timestamp()
               ORDER BY at
               LIMIT ${limit}) AS due
        LEFT JOIN signalbox.task_run AS t ON t.id = due.task_run_id
        LEFT JOIN signalbox.task AS k ON k.id = t.task_id
       ORDER BY due.task_run_id
    `,
  );
  return {
    overdue: rows
      .filter(({ waits }) => waits)
      .map((row) => ({
        ...row,
        taskRunId: asTaskRunId(row.taskRunId),
        taskId: asTaskId(row.taskId),
        runId: row.runId === null ? null : asRunId(row.runId),
      })),
    inTime: rows.filter(({ waits }) => !waits).map(({ taskRunId }) => asTaskRunId(taskRunId)),
  };
}

interface OverdueRow {
  readonly taskRunId: string;
  readonly taskId: string;
  readonly runId: string | null;
  readonly kind: string;
  readonly title: string;
  readonly attempt: number;
  readonly interruptions: number;
  readonly policy: RetryPolicy;
  readonly waits: boolean;
}

/** Under the locks of their task runs: one that is handed back at this moment keeps its row. */
export async function forgetInTime(tx: Transaction, taskRunIds: readonly TaskRunId[]): Promise<void> {
  if (taskRunIds.length === 0) return;
  await tx.query(
    sql("forgetInTime")`
      WITH waits AS MATERIALIZED (
        SELECT id, status FROM signalbox.task_run WHERE id = ANY (${taskRunIds}::uuid[]) ORDER BY id FOR UPDATE
      )
      DELETE FROM signalbox.queue_deadline
       WHERE task_run_id = ANY (${taskRunIds}::uuid[])
         AND task_run_id <> ALL (ARRAY(SELECT id FROM waits WHERE status IN ('PENDING', 'AVAILABLE')))
    `,
  );
}

/** The task runs that had not started by the moment of the write and were still due to have, and only these. */
export async function failOverdue(
  tx: Transaction,
  overdue: readonly (OverdueTaskRun & { readonly settlement: Settlement })[],
): Promise<readonly SettledTaskRun[]> {
  if (overdue.length === 0) return [];
  await lockRuns(
    tx,
    overdue.flatMap(({ runId }) => (runId === null ? [] : [runId])),
  );
  const gatedBy = await writeFailed(tx, overdue, await leaveReady(tx, overdue));
  const failed = overdue.flatMap((taskRun) => {
    const gated = gatedBy.get(taskRun.taskRunId);
    return gated === undefined ? [] : [{ ...taskRun, gated }];
  });
  const next = await closeUnstarted(tx, failed);
  const failedIds = failed.map(({ taskRunId }) => taskRunId);
  await wakeGates(tx, await ratesFreedBy(tx, failedIds));
  return failedIds.map((taskRunId) => ({
    taskRunId,
    status: "FAILED",
    nextTaskRunId: next.get(taskRunId) ?? null,
  }));
}

/**
 * Before its task run, as a claim does it. One that is being claimed at this moment has started in time, and one that was
 * deferred and promoted again since we looked has more time.
 */
async function leaveReady(
  tx: Transaction,
  overdue: readonly OverdueTaskRun[],
): Promise<readonly TaskRunId[]> {
  const rows = await tx.query(
    sql<{ taskRunId: string }>("leaveReadyOverdue")`
      DELETE FROM signalbox.ready
       WHERE ctid = ANY (ARRAY(
               SELECT ctid
                 FROM signalbox.ready
                WHERE ctid = ANY (ARRAY(
                        SELECT place
                          FROM signalbox.ready_of(ARRAY(
                                 SELECT t.id
                                   FROM unnest(${overdue.map(({ taskRunId }) => taskRunId)}::uuid[],
                                               ${overdue.map(queuedMsOf)}::bigint[]) AS g (id, queued_ms)
                                   JOIN signalbox.task_run AS t ON t.id = g.id
                                  WHERE greatest(t.enqueued_at, t.run_at) + g.queued_ms * interval '1 ms'
                                        <= clock_timestamp())) AS place))
                  FOR UPDATE SKIP LOCKED))
      RETURNING task_run_id AS "taskRunId"
    `,
  );
  return rows.map(({ taskRunId }) => asTaskRunId(taskRunId));
}

function queuedMsOf({ policy }: OverdueTaskRun): number | null {
  return policy.timeouts?.queuedMs ?? null;
}

/**
 * Guarded by the status: AVAILABLE only where the row of the work set is ours, so neither a claim nor a promotion that
 * happens at this moment is overrun. What was promoted since we looked is left for the next pass; what was claimed and
 * deferred is PENDING with a later deadline, which is why that is looked at again. Answers those that failed, and whether
 * they were gated.
 */
async function writeFailed(
  tx: Transaction,
  overdue: readonly OverdueTaskRun[],
  leftReady: readonly TaskRunId[],
): Promise<ReadonlyMap<TaskRunId, boolean>> {
  const rows = await tx.query(
    sql<{ taskRunId: string; gated: boolean }>("failOverdue")`
      WITH mine AS MATERIALIZED (
        SELECT t.id, t.status
          FROM unnest(${overdue.map(({ taskRunId }) => taskRunId)}::uuid[],
                      ${overdue.map(queuedMsOf)}::bigint[]) AS g (id, queued_ms)
          JOIN signalbox.task_run AS t ON t.id = g.id
         WHERE (t.status = 'PENDING'
                AND greatest(t.enqueued_at, t.run_at) + g.queued_ms * interval '1 ms' <= clock_timestamp())
            OR (t.status = 'AVAILABLE' AND t.id = ANY (${leftReady}::uuid[]))
         ORDER BY t.id
           FOR UPDATE OF t
      ), failed AS (
        UPDATE signalbox.task_run AS t
           SET status = 'FAILED', outcome = 'QUEUE_TIMEOUT', finished_at = clock_timestamp(),
               waited = coalesce((SELECT signalbox.add_wait(w.waited, w.blocked_on, w.blocked_since)
                                    FROM signalbox.waiting AS w WHERE w.task_run_id = t.id), t.waited),
               row_version = t.row_version + 1
          FROM mine
         WHERE t.id = mine.id AND t.status = mine.status
        RETURNING t.id, t.task_id, t.run_id, t.gated, t.row_version, t.available_at, mine.status
      ), recorded AS (
        INSERT INTO signalbox.event_store (aggregate_type, aggregate_id, aggregate_version, type, data)
        SELECT 'task_run', id, row_version, 'task_run.queue_timed_out',
               jsonb_build_object('from', status, 'to', 'FAILED', 'taskId', task_id, 'runId', run_id,
                                  'availableAt', available_at)
          FROM failed
      ), done AS (
        DELETE FROM signalbox.queue_deadline WHERE task_run_id = ANY (ARRAY(SELECT id FROM failed))
      )
      SELECT id AS "taskRunId", gated FROM failed
    `,
  );
  return new Map(rows.map(({ taskRunId, gated }) => [asTaskRunId(taskRunId), gated]));
}

/** When the next queue deadline passes; null where there is none. */
export async function msUntilNextDeadline(db: Database): Promise<number | null> {
  const [row] = await db.query(
    sql<{ ms: number | null }>("msUntilNextDeadline")`
      SELECT (extract(epoch FROM (SELECT at FROM signalbox.queue_deadline ORDER BY at LIMIT 1) - clock_timestamp())
              * 1000)::float8 AS ms
    `,
  );
  return row?.ms ?? null;
}

/** Of tasks that were just inserted: those with a queue timeout, counted from their run time where that is later. */
export async function setQueueDeadlines(
  tx: Transaction,
  given: readonly { readonly taskRunId: TaskRunId; readonly queuedMs: number }[],
): Promise<void> {
  if (given.length === 0) return;
  await tx.query(
    sql("setQueueDeadlines")`
      INSERT INTO signalbox.queue_deadline (task_run_id, at)
      SELECT t.id, greatest(t.enqueued_at, t.run_at) + g.queued_ms * interval '1 ms'
        FROM unnest(${given.map(({ taskRunId }) => taskRunId)}::uuid[],
                    ${given.map(({ queuedMs }) => queuedMs)}::bigint[]) AS g (id, queued_ms)
        JOIN signalbox.task_run AS t ON t.id = g.id
    `,
  );
}
