import { asTaskRunId, type TaskId, type TaskRunId } from "../../domain/ids.ts";
import type { Resource } from "../../domain/resource.ts";
import { wakeResource } from "../../domain/wake.ts";
import type { Transaction } from "../database.ts";
import { wakeGates } from "../holds/wake.ts";
import { lockRuns } from "../runs/count-down.ts";
import { sql } from "../sql.ts";
import { closeTaskRuns } from "./close.ts";
import type { TaskRunIdentity } from "./find.ts";

export interface CancelRequest {
  readonly by: string | null;
  readonly reason: string | null;
}

/**
 * Cancels one task run: not started → CANCELED, running → asked to stop, ended → nothing. One UPDATE
 * decides, so whatever a promoter, a claimer or a settler does at the same moment, the answer is true.
 */
export async function cancelTaskRun(
  tx: Transaction,
  taskRun: TaskRunIdentity,
  request: CancelRequest,
): Promise<"canceled" | "canceling" | "ended"> {
  if (taskRun.runId !== null) await lockRuns(tx, [taskRun.runId]);
  // Before its task run, as a claim does it: the other way round the two would wait for each other.
  await tx.query(
    sql("leaveReady")`
      DELETE FROM signalbox.ready
       WHERE kind = ${taskRun.kind} AND queue = ${taskRun.queue} AND priority = ${taskRun.priority}
         AND task_run_id = ${taskRun.taskRunId}
    `,
  );
  const [row] = await tx.query(
    sql<{ status: "CANCELED" | "RUNNING"; gated: boolean }>("cancelTaskRun")`
      WITH canceled AS (
        UPDATE signalbox.task_run
           SET status = CASE WHEN status = 'RUNNING' THEN 'RUNNING' ELSE 'CANCELED' END,
               outcome = CASE WHEN status <> 'RUNNING' THEN 'CANCELED' END,
               finished_at = CASE WHEN status <> 'RUNNING' THEN clock_timestamp() END,
               cancel_requested_at = coalesce(cancel_requested_at, clock_timestamp()),
               cancel_requested_by = coalesce(cancel_requested_by, ${request.by}),
               cancel_reason = coalesce(cancel_reason, ${request.reason}),
               row_version = row_version + 1
         WHERE id = ${taskRun.taskRunId}
           AND status IN ('PENDING', 'AVAILABLE', 'RUNNING')
        RETURNING id, status, gated, row_version
      ), recorded AS (
        INSERT INTO signalbox.event_store (aggregate_type, aggregate_id, aggregate_version, type, data)
        SELECT 'task_run', id, row_version, 'task_run.cancel_requested',
               jsonb_build_object('status', status, 'by', ${request.by}::text, 'reason', ${request.reason}::text)
          FROM canceled
      )
      SELECT status, gated FROM canceled
    `,
  );
  if (row === undefined) return "ended";
  if (row.status === "RUNNING") return "canceling";
  await leaveReadyAgain(tx, taskRun);
  await leaveWaiting(tx, taskRun.taskRunId);
  const { taskRunId, taskId, runId } = taskRun;
  await closeTaskRuns(tx, [{ taskRunId, taskId, runId, status: "CANCELED", gated: row.gated, next: null }]);
  return "canceled";
}

/**
 * A promotion may have put it there after we looked and before we had its row. A claim that is taking it at
 * this moment waits for us and clears it away itself, so we must not wait for that claim.
 */
async function leaveReadyAgain(tx: Transaction, taskRun: TaskRunIdentity): Promise<void> {
  await tx.query(
    sql("leaveReadyAgain")`
      DELETE FROM signalbox.ready
       WHERE ctid = ANY (ARRAY(
               SELECT ctid
                 FROM signalbox.ready
                WHERE kind = ${taskRun.kind} AND queue = ${taskRun.queue} AND priority = ${taskRun.priority}
                  AND task_run_id = ${taskRun.taskRunId}
                  FOR UPDATE SKIP LOCKED))
    `,
  );
}

async function leaveWaiting(tx: Transaction, taskRunId: TaskRunId): Promise<void> {
  const gone = await tx.query(
    sql<{ resources: readonly Resource[] }>("leaveWaiting")`
      DELETE FROM signalbox.waiting WHERE task_run_id = ${taskRunId} RETURNING resources
    `,
  );
  // Whoever stood behind it in a line may go now.
  await wakeGates(
    tx,
    gone.flatMap(({ resources }) => resources.map(({ name }) => wakeResource(name))),
  );
}

/** The newest task run of a task, to be looked at again after a cancel: a retry may have been inserted meanwhile. */
export async function newestTaskRun(
  tx: Transaction,
  taskId: TaskId,
): Promise<{ readonly taskRunId: TaskRunId; readonly priority: number; readonly open: boolean } | null> {
  const [row] = await tx.query(
    sql<{ taskRunId: string; priority: number; open: boolean }>("newestTaskRun")`
      SELECT id AS "taskRunId", priority, status IN ('PENDING', 'AVAILABLE', 'RUNNING') AS open
        FROM signalbox.task_run
       WHERE task_id = ${taskId}
       ORDER BY attempt DESC
       LIMIT 1
    `,
  );
  return row === undefined ? null : { ...row, taskRunId: asTaskRunId(row.taskRunId) };
}
