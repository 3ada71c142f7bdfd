import { asTaskId, asTaskRunId } from "../../domain/ids.ts";
import type { ResolvedTask } from "../../domain/task-spec.ts";
import type { Transaction } from "../database.ts";
import { NEARLY_FULL } from "../notify.ts";
import { preparedSql } from "../sql.ts";
import type { InsertedTaskRun } from "./inserted.ts";

/**
 * The same as `insertManyUngated` for one task, by a statement that knows of nothing else: on an idle server to set
 * that one up takes longer than to write the rows. Null, and nothing is written, where its queue has rules that apply.
 */
export async function insertUngatedTask(
  tx: Transaction,
  task: ResolvedTask,
  { notifies }: { readonly notifies: boolean },
): Promise<InsertedTaskRun | null> {
  const { kind, title, inputJson, priority, policy, queue, tags, outOfOrder } = task;
  const [row] = await tx.query(
    preparedSql<{ taskId: string; taskRunId: string }>("insertUngatedTask")`
      WITH given AS MATERIALIZED (
        SELECT signalbox.new_id() AS task_id, signalbox.new_id() AS task_run_id, clock_timestamp() AS enqueued_at,
               ${kind}::text AS kind, ${queue}::text AS queue, ${priority}::smallint AS priority,
               -- What we see of the rules may be old by the time we commit: the number says which ones we saw.
               coalesce((SELECT rules_no FROM signalbox.queue WHERE name = ${queue}), 0) AS rules_no
         WHERE NOT EXISTS (SELECT FROM signalbox.queue WHERE name = ${queue} AND slot_limit > 0)
           AND NOT EXISTS (SELECT FROM signalbox.pause WHERE over = 'queue' AND name = ${queue} AND paused)
           AND NOT EXISTS (SELECT FROM signalbox.start_window WHERE over = 'queue' AND name = ${queue} AND windows <> '[]')
      ), new_task AS (
        INSERT INTO signalbox.task (id, kind, title, input, priority, policy, gated, created_at, queue, tags, out_of_order)
        SELECT task_id, kind, ${title}, ${inputJson}::jsonb, priority, ${JSON.stringify(policy)}::jsonb, false, enqueued_at,
               queue, ${tags}::text[], ${outOfOrder} FROM given
      ), new_task_run AS (
        INSERT INTO signalbox.task_run
               (id, task_id, kind, queue, priority, attempt, gated, status, enqueued_at, available_at)
        SELECT task_run_id, task_id, kind, queue, priority, 1, false, 'AVAILABLE', enqueued_at, enqueued_at FROM given
      ), new_ready AS (
        INSERT INTO signalbox.ready (kind, queue, priority, available_at, task_run_id, rules_no)
        SELECT kind, queue, priority, enqueued_at, task_run_id, rules_no FROM given
      )
      SELECT task_id AS "taskId", task_run_id AS "taskRunId",
             CASE WHEN ${notifies} AND (SELECT pg_notification_queue_usage()) < ${NEARLY_FULL}
                  THEN pg_notify('signalbox_ready', '') END AS told
        FROM given
    `,
  );
  if (row === undefined) return null;
  return { taskId: asTaskId(row.taskId), taskRunId: asTaskRunId(row.taskRunId), status: "AVAILABLE" };
}
