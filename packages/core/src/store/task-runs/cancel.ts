import { asTaskRunId, type TaskId, type TaskRunId } from "../../domain/ids.ts";
import type { TaskRunStatus } from "../../domain/task-status.ts";
import type { Transaction } from "../database.ts";
import { ratesFreedBy } from "../holds/rates.ts";
import { wakeGates } from "../holds/wake.ts";
import { hastenPolls } from "../outside-jobs/let-go.ts";
import { lockRuns } from "../runs/count-down.ts";
import { sql } from "../sql.ts";
import { closeTaskRuns } from "./close.ts";
import type { TaskRunIdentity } from "./find.ts";
import { leaveWaiting } from "./leave-waiting.ts";

export interface CancelRequest {
  readonly by: string | null;
  readonly reason: string | null;
  /** Only those that are in one of these. Default: all that are open. */
  readonly from?: readonly TaskRunStatus[];
}

export type CancelAnswer = "canceled" | "canceling" | "ended";

export async function cancelTaskRun(
  tx: Transaction,
  taskRun: TaskRunIdentity,
  request: CancelRequest,
): Promise<CancelAnswer> {
  return (await cancelTaskRuns(tx, [taskRun], request)).get(taskRun.taskRunId) ?? "ended";
}

/**
 * Cancels task runs: not started → CANCELED, running → asked to stop, ended → nothing; they are missing in the
 * answer. One UPDATE decides, so whatever a promoter, a claimer or a settler does at the same moment, the answer is
 * true. More than one only under the gate lock: a pass parks them in an order of its own.
 */
export async function cancelTaskRuns(
  tx: Transaction,
  taskRuns: readonly TaskRunIdentity[],
  request: CancelRequest,
): Promise<ReadonlyMap<TaskRunId, Exclude<CancelAnswer, "ended">>> {
  await lockRuns(
    tx,
    taskRuns.flatMap(({ runId }) => runId ?? []),
  );
  // Before their task runs, as a claim does it: the other way round the two would wait for each other.
  if (request.from?.includes("AVAILABLE") ?? true) await leaveReady(tx, taskRuns);
  const ids = taskRuns.map(({ taskRunId }) => taskRunId);
  if (ids.length > 1) await lockTaskRuns(tx, ids);
  const rows = await markCanceled(tx, ids, request);
  const canceled = rows.filter(({ status }) => status === "CANCELED");
  if (canceled.length > 0) await closeCanceled(tx, taskRuns, canceled);
  await hastenPolls(
    tx,
    rows.flatMap(({ taskRunId, status }) => (status === "RUNNING" ? [asTaskRunId(taskRunId)] : [])),
  );
  return new Map(
    rows.map(({ taskRunId, status }) => [
      asTaskRunId(taskRunId),
      status === "CANCELED" ? "canceled" : "canceling",
    ]),
  );
}

interface MarkedRow {
  readonly taskRunId: string;
  readonly status: "CANCELED" | "RUNNING";
  readonly gated: boolean;
}

async function markCanceled(
  tx: Transaction,
  ids: readonly TaskRunId[],
  { by, reason, from }: CancelRequest,
): Promise<readonly MarkedRow[]> {
  return await tx.query(
    sql<MarkedRow>("cancelTaskRun")`
      WITH canceled AS (
        UPDATE signalbox.task_run
           SET status = CASE WHEN status = 'RUNNING' THEN 'RUNNING' ELSE 'CANCELED' END,
               outcome = CASE WHEN status <> 'RUNNING' THEN 'CANCELED' END,
               finished_at = CASE WHEN status <> 'RUNNING' THEN clock_timestamp() END,
               cancel_requested_at = coalesce(cancel_requested_at, clock_timestamp()),
               cancel_requested_by = coalesce(cancel_requested_by, ${by}),
               cancel_reason = coalesce(cancel_reason, ${reason}),
               waited = coalesce((SELECT signalbox.add_wait(w.waited, w.blocked_on, w.blocked_since)
                                    FROM signalbox.waiting AS w WHERE w.task_run_id = task_run.id), waited),
               row_version = row_version + 1
         WHERE id = ANY (${ids}::uuid[])
           AND status IN ('PENDING', 'AVAILABLE', 'RUNNING')
           AND (${from ?? null}::text[] IS NULL OR status = ANY (${from ?? null}::text[]))
        RETURNING id, status, gated, row_version
      ), recorded AS (
        INSERT INTO signalbox.event_store (aggregate_type, aggregate_id, aggregate_version, type, data)
        SELECT 'task_run', id, row_version, 'task_run.cancel_requested',
               jsonb_build_object('status', status, 'by', ${by}::text, 'reason', ${reason}::text)
          FROM canceled
      )
      SELECT id AS "taskRunId", status, gated FROM canceled
    `,
  );
}

async function closeCanceled(
  tx: Transaction,
  taskRuns: readonly TaskRunIdentity[],
  canceled: readonly MarkedRow[],
): Promise<void> {
  const gated = new Map(canceled.map((row) => [row.taskRunId, row.gated]));
  const those = taskRuns.filter(({ taskRunId }) => gated.has(taskRunId));
  await leaveReadyAgain(tx, those);
  await leaveWaiting(
    tx,
    those.map(({ taskRunId }) => taskRunId),
  );
  await closeTaskRuns(
    tx,
    those.map(({ taskRunId, taskId, runId }) => ({
      taskRunId,
      taskId,
      runId,
      status: "CANCELED",
      gated: gated.get(taskRunId) === true,
      next: null,
    })),
  );
  await wakeGates(
    tx,
    await ratesFreedBy(
      tx,
      those.map(({ taskRunId }) => taskRunId),
    ),
  );
}

/** In id order, as a settle and a rescue take them. */
async function lockTaskRuns(tx: Transaction, ids: readonly TaskRunId[]): Promise<void> {
  await tx.query(
    sql("lockTaskRuns")`
      SELECT FROM signalbox.task_run WHERE id = ANY (${ids}::uuid[]) ORDER BY id FOR NO KEY UPDATE
    `,
  );
}

async function leaveReady(tx: Transaction, taskRuns: readonly TaskRunIdentity[]): Promise<void> {
  await tx.query(
    sql("leaveReady")`
      DELETE FROM signalbox.ready
       WHERE ctid = ANY (ARRAY(
               SELECT place FROM signalbox.ready_of(${taskRuns.map(({ taskRunId }) => taskRunId)}::uuid[]) AS place))
    `,
  );
}

/**
 * A promotion may have put them there after we looked and before we had their rows. A claim that is taking one at
 * this moment waits for us and clears it away itself, so we must not wait for that claim.
 */
async function leaveReadyAgain(tx: Transaction, taskRuns: readonly TaskRunIdentity[]): Promise<void> {
  await tx.query(
    sql("leaveReadyAgain")`
      DELETE FROM signalbox.ready
       WHERE ctid = ANY (ARRAY(
               SELECT ctid
                 FROM signalbox.ready
                WHERE ctid = ANY (ARRAY(
                        SELECT place FROM signalbox.ready_of(${taskRuns.map(({ taskRunId }) => taskRunId)}::uuid[]) AS place))
                  FOR UPDATE SKIP LOCKED))
    `,
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
