/** PENDING → FAILED for those that stand at a gate which never opens: a larger version is DONE. */

import { asRunId, asTaskId, asTaskRunId, type RunId, type TaskId, type TaskRunId } from "../../domain/ids.ts";
import type { Settlement } from "../../domain/settlement.ts";
import type { Database, Transaction } from "../database.ts";
import { lockRuns } from "../runs/count-down.ts";
import { sql } from "../sql.ts";
import { closeUnstarted } from "./close-unstarted.ts";

/** What stands at OUT_OF_ORDER. */
export interface TooSmall {
  readonly taskRunId: TaskRunId;
  readonly taskId: TaskId;
  readonly runId: RunId | null;
  readonly kind: string;
  readonly title: string;
  readonly attempt: number;
  readonly resource: string;
  readonly version: string;
  readonly doneVersion: string;
}

export async function findOutOfOrder(db: Database, limit: number): Promise<readonly TooSmall[]> {
  const rows = await db.query(
    sql<TooSmall & { taskRunId: string; taskId: string; runId: string | null }>("findOutOfOrder")`
      SELECT w.task_run_id AS "taskRunId", w.task_id AS "taskId", w.run_id AS "runId", w.kind, k.title, t.attempt,
             w.blocked_key AS resource, array_to_string(w.version, '.') AS version,
             array_to_string(d.version, '.') AS "doneVersion"
        FROM (SELECT task_run_id, task_id, run_id, kind, version, blocked_key
                FROM signalbox.waiting
               WHERE blocked_on = 'OUT_OF_ORDER' AND blocked_on NOT IN ('RUN_AT', 'VERSION_ORDER')
               ORDER BY blocked_key, priority, enqueued_at, task_run_id
               LIMIT ${limit}) AS w
        JOIN signalbox.done_version AS d ON d.name = w.blocked_key
        JOIN signalbox.task AS k ON k.id = w.task_id
        JOIN signalbox.task_run AS t ON t.id = w.task_run_id
    `,
  );
  return rows.map((row) => ({
    ...row,
    taskRunId: asTaskRunId(row.taskRunId),
    taskId: asTaskId(row.taskId),
    runId: row.runId === null ? null : asRunId(row.runId),
  }));
}

/** Those that were PENDING at the moment of the write, and only these: a cancel may have come before. */
export async function refuseTaskRuns(
  tx: Transaction,
  refused: readonly (TooSmall & { readonly settlement: Settlement })[],
): Promise<readonly TaskRunId[]> {
  await lockRuns(
    tx,
    refused.flatMap(({ runId }) => (runId === null ? [] : [runId])),
  );
  const ids = await writeFailed(
    tx,
    refused.map(({ taskRunId }) => taskRunId),
  );
  const failed = new Set(ids);
  await closeUnstarted(
    tx,
    refused.flatMap((taskRun) => (failed.has(taskRun.taskRunId) ? [{ ...taskRun, gated: true }] : [])),
  );
  return ids;
}

async function writeFailed(tx: Transaction, taskRunIds: readonly TaskRunId[]): Promise<readonly TaskRunId[]> {
  const rows = await tx.query(
    sql<{ taskRunId: string }>("refuseTaskRuns")`
      WITH mine AS MATERIALIZED (
        SELECT id FROM signalbox.task_run
         WHERE id = ANY (${taskRunIds}::uuid[]) AND status = 'PENDING'
         ORDER BY id
           FOR UPDATE
      ), failed AS (
        UPDATE signalbox.task_run AS t
           SET status = 'FAILED', outcome = 'OUT_OF_ORDER', finished_at = clock_timestamp(),
               waited = coalesce((SELECT signalbox.add_wait(w.waited, w.blocked_on, w.blocked_since)
                                    FROM signalbox.waiting AS w WHERE w.task_run_id = t.id), t.waited),
               row_version = t.row_version + 1
          FROM mine
         WHERE t.id = mine.id AND t.status = 'PENDING'
        RETURNING t.id, t.task_id, t.run_id, t.row_version
      ), recorded AS (
        INSERT INTO signalbox.event_store (aggregate_type, aggregate_id, aggregate_version, type, data)
        SELECT 'task_run', id, row_version, 'task_run.out_of_order',
               jsonb_build_object('from', 'PENDING', 'to', 'FAILED', 'taskId', task_id, 'runId', run_id)
          FROM failed
      ), untimed AS (
        DELETE FROM signalbox.queue_deadline WHERE task_run_id = ANY (ARRAY(SELECT id FROM failed))
      )
      SELECT id AS "taskRunId" FROM failed
    `,
  );
  return rows.map(({ taskRunId }) => asTaskRunId(taskRunId));
}
