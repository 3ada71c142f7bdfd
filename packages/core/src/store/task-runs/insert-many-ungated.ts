import type { ResolvedTask } from "../../domain/task-spec.ts";
import type { Transaction } from "../database.ts";
import { NEARLY_FULL } from "../notify.ts";
import { preparedSql } from "../sql.ts";
import { DRAWN_BITS, HEAD_DIGITS, VARIANT } from "./counted-ids.ts";
import { columnsOf, formsOf } from "./forms.ts";
import { type InsertedRow, type InsertedTaskRun, toInserted } from "./inserted.ts";

/**
 * The same as `insertPlainTasks` for tasks of which none is gated by itself, by a statement that knows of no gates: what that
 * one carries along for each of them takes a tenth of its time. Null, and nothing is written, where one of their queues
 * has rules that apply.
 */
export async function insertManyUngated(
  tx: Transaction,
  tasks: readonly ResolvedTask[],
  { notifies }: { readonly notifies: boolean },
): Promise<readonly InsertedTaskRun[] | null> {
  const forms = formsOf(tasks);
  const queues = [...new Set(forms.map(({ task }) => task.queue))];
  const of = columnsOf(forms, { queues, inRun: false });
  const rows = await tx.query(
    preparedSql<InsertedRow>("insertManyUngated")`
      WITH rules (nos) AS MATERIALIZED (
        -- What we see of the rules may be old by the time we commit: the numbers say which ones we saw.
        SELECT array_agg(coalesce(q.rules_no, 0) ORDER BY no)
          FROM unnest(${queues}::text[]) WITH ORDINALITY AS g (name, no)
          LEFT JOIN signalbox.queue AS q ON q.name = g.name
        HAVING NOT bool_or(
                 coalesce(q.slot_limit > 0, false)
                 OR EXISTS (SELECT FROM signalbox.pause AS p WHERE p.over = 'queue' AND p.name = g.name AND paused)
                 OR EXISTS (SELECT FROM signalbox.start_window AS w WHERE w.over = 'queue' AND w.name = g.name AND windows <> '[]'))
      ), first_id AS MATERIALIZED (
        -- To draw each id would take as long as to write its row.
        SELECT left(t.id, ${HEAD_DIGITS}) AS head, right(t.id, 8) AS tail, right(r.id, 8) AS run_tail,
               (('x' || right(t.id, 16))::bit(32)::bigint & ${DRAWN_BITS}::bigint) | ${VARIANT}::bigint AS number,
               (('x' || right(r.id, 16))::bit(32)::bigint & ${DRAWN_BITS}::bigint) | ${VARIANT}::bigint AS run_number,
               clock_timestamp() AS enqueued_at
          FROM replace(signalbox.new_id()::text, '-', '') AS t (id), replace(signalbox.new_id()::text, '-', '') AS r (id)
      ), given AS MATERIALIZED (
        SELECT is_first, (head || to_hex(number + n) || tail)::uuid AS task_id,
               (head || to_hex(run_number + n) || run_tail)::uuid AS task_run_id,
               enqueued_at, kind, queue, priority, rules_no, title, input, policy, tags, out_of_order
          FROM first_id
         CROSS JOIN (
               SELECT kind, queue, priority, rules.nos[queue_no] AS rules_no, title, policy::jsonb AS policy,
                      coalesce(tags::text[], '{}') AS tags, out_of_order, inputs, before
                 FROM rules
                CROSS JOIN unnest(${of.kind}::text[], ${of.title}::text[], ${of.inputs}::text[], ${of.before}::integer[],
                                  ${of.priority}::smallint[], ${of.policy}::text[], ${of.queue}::text[], ${of.tags}::text[],
                                  ${of.outOfOrder}::boolean[], ${of.queueNo}::integer[])
                      AS g (kind, title, inputs, before, priority, policy, queue, tags, out_of_order, queue_no)
               OFFSET 0) AS form             -- so that this is worked out for each form and not for each of its tasks
         CROSS JOIN LATERAL (SELECT before + no - 1 AS n, no = 1 AS is_first, input
                               FROM jsonb_array_elements(inputs::jsonb) WITH ORDINALITY AS g (input, no)) AS e
      ), new_task AS (
        INSERT INTO signalbox.task (id, kind, title, input, priority, policy, gated, created_at, queue, tags, out_of_order)
        SELECT task_id, kind, title, input, priority, policy, false, enqueued_at, queue, tags, out_of_order FROM given
      ), new_task_run AS (
        INSERT INTO signalbox.task_run
               (id, task_id, kind, queue, priority, attempt, gated, status, enqueued_at, available_at)
        SELECT task_run_id, task_id, kind, queue, priority, 1, false, 'AVAILABLE', enqueued_at, enqueued_at FROM given
      ), new_ready AS (
        INSERT INTO signalbox.ready (kind, queue, priority, available_at, task_run_id, rules_no)
        SELECT kind, queue, priority, enqueued_at, task_run_id, rules_no FROM given
      )
      SELECT task_id AS "firstTaskId", task_run_id AS "firstTaskRunId", 'AVAILABLE' AS status,
             CASE WHEN ${notifies} AND (SELECT pg_notification_queue_usage()) < ${NEARLY_FULL}
                  THEN pg_notify('signalbox_ready', '') END AS told
        FROM given
       WHERE is_first
       ORDER BY task_id
    `,
  );
  return rows.length === 0 ? null : toInserted(rows, forms);
}
