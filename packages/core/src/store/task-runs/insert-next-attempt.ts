import { asTaskRunId, type TaskRunId } from "../../domain/ids.ts";
import type { NextAttempt } from "../../domain/settlement.ts";
import type { Transaction } from "../database.ts";
import { preparedSql } from "../sql.ts";
import { enterWaiting } from "./enter-waiting.ts";

/**
 * A retry is a new task run, PENDING. Takes a transaction on purpose: it must be the one that ended the
 * attempt before, so that the task is open all the time and no larger version slips in between.
 */
export async function insertNextAttempts(
  tx: Transaction,
  ended: readonly { readonly taskRunId: TaskRunId; readonly next: NextAttempt }[],
): Promise<ReadonlyMap<TaskRunId, TaskRunId>> {
  if (ended.length === 0) return new Map();
  const rows = await tx.query(
    preparedSql<{ previousId: string; taskRunId: string }>("insertNextAttempts")`
      WITH given AS MATERIALIZED (
        SELECT g.previous_id, signalbox.new_id() AS task_run_id, clock_timestamp() AS enqueued_at,
               CASE WHEN g.delay_ms > 0 THEN clock_timestamp() + g.delay_ms * interval '1 ms' END AS run_at,
               g.interruptions, p.task_id, p.run_id, p.kind, p.queue,
               p.attempt + 1 AS attempt,
               -- What it holds is kept for it and nobody else can have it: it goes before everybody.
               CASE WHEN EXISTS (SELECT FROM signalbox.hold WHERE reserved_for = p.task_id)
                    THEN -1 ELSE k.priority END AS priority,
               k.version, k.resources
          FROM unnest(${ended.map(({ taskRunId }) => taskRunId)}::uuid[],
                      ${ended.map(({ next }) => next.delayMs)}::bigint[],
                      ${ended.map(({ next }) => next.interruptions)}::smallint[])
               AS g (previous_id, delay_ms, interruptions)
          JOIN signalbox.task_run p ON p.id = g.previous_id
          JOIN signalbox.task k ON k.id = p.task_id
      ), new_task_run AS (
        INSERT INTO signalbox.task_run
               (id, task_id, run_id, kind, queue, priority, attempt, interruptions, gated, status, run_at, enqueued_at)
        SELECT task_run_id, task_id, run_id, kind, queue, priority, attempt, interruptions, true, 'PENDING', run_at,
               enqueued_at
          FROM given
      ), new_version AS (
        INSERT INTO signalbox.open_version (name, version, task_run_id)
        SELECT r.name, version, task_run_id
          FROM given CROSS JOIN LATERAL jsonb_to_recordset(resources) AS r (name text)
         WHERE version IS NOT NULL
      )
      SELECT previous_id AS "previousId", task_run_id AS "taskRunId" FROM given
    `,
  );
  const next = rows.map((row) => [asTaskRunId(row.previousId), asTaskRunId(row.taskRunId)] as const);
  await enterWaiting(
    tx,
    next.map(([, taskRunId]) => taskRunId),
  );
  return new Map(next);
}
