import { asRunId, type RunId } from "../../domain/ids.ts";
import type { TerminalStatus } from "../../domain/task-status.ts";
import type { Transaction } from "../database.ts";
import { preparedSql, sql } from "../sql.ts";

/** First of all locks of a settle or a cancel, in id order: whoever takes run rows after task runs deadlocks with us. */
export async function lockRuns(tx: Transaction, runIds: readonly RunId[]): Promise<void> {
  if (runIds.length === 0) return;
  await tx.query(
    sql(
      "lockRuns",
    )`SELECT FROM signalbox.run WHERE id = ANY (${runIds}::uuid[]) ORDER BY id FOR NO KEY UPDATE`,
  );
}

/**
 * Counts ended tasks off their runs and ends a run with its last task. The count is a column that is
 * changed under the row's lock: counting rows instead, two last tasks settled at once would each see the other open.
 */
export async function countDownRuns(
  tx: Transaction,
  ended: readonly { readonly runId: RunId; readonly status: TerminalStatus }[],
): Promise<readonly RunId[]> {
  if (ended.length === 0) return [];
  const rows = await tx.query(
    preparedSql<{ runId: string; status: string; rowVersion: number }>("countDownRuns")`
      UPDATE signalbox.run AS r
         SET open_tasks = r.open_tasks - g.ended,
             failed_tasks = r.failed_tasks + g.failed,
             canceled_tasks = r.canceled_tasks + g.canceled,
             status = CASE WHEN r.open_tasks > g.ended THEN 'RUNNING'
                           WHEN r.failed_tasks + g.failed > 0 THEN 'FAILED'
                           WHEN r.canceled_tasks + g.canceled > 0 THEN 'CANCELED'
                           ELSE 'DONE' END,
             finished_at = CASE WHEN r.open_tasks = g.ended THEN clock_timestamp() END,
             row_version = r.row_version + 1
        FROM (SELECT run_id, count(*) AS ended, count(*) FILTER (WHERE status = 'FAILED') AS failed,
                     count(*) FILTER (WHERE status = 'CANCELED') AS canceled
                FROM unnest(${ended.map(({ runId }) => runId)}::uuid[],
                            ${ended.map(({ status }) => status)}::text[]) AS t (run_id, status)
               GROUP BY run_id) AS g
       WHERE r.id = g.run_id
      RETURNING r.id AS "runId", r.status, r.row_version AS "rowVersion"
    `,
  );
  const over = rows.filter(({ status }) => status !== "RUNNING");
  await recordEnd(tx, over);
  return over.map(({ runId }) => asRunId(runId));
}

async function recordEnd(
  tx: Transaction,
  over: readonly { readonly runId: string; readonly status: string; readonly rowVersion: number }[],
): Promise<void> {
  if (over.length === 0) return;
  await tx.query(
    sql("recordRunEnd")`
      INSERT INTO signalbox.event_store (aggregate_type, aggregate_id, aggregate_version, type, data)
      SELECT 'run', id, row_version, 'run.ended', jsonb_build_object('status', status)
        FROM unnest(${over.map(({ runId }) => runId)}::uuid[],
                    ${over.map(({ rowVersion }) => rowVersion)}::integer[],
                    ${over.map(({ status }) => status)}::text[]) AS g (id, row_version, status)
    `,
  );
}
