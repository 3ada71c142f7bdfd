import type { RunId } from "../../domain/ids.ts";
import type { Transaction } from "../database.ts";
import { sql } from "../sql.ts";

/**
 * Counts tasks that go on after they had failed or were canceled as open again. A run that had ended runs again, and
 * says so with an event. Under the locks of the runs' rows.
 */
export async function reopenRuns(
  tx: Transaction,
  retried: readonly { readonly runId: RunId; readonly was: "FAILED" | "CANCELED" }[],
): Promise<void> {
  if (retried.length === 0) return;
  await tx.query(
    sql("reopenRuns")`
      WITH before AS MATERIALIZED (
        SELECT r.id, r.status, g.again, g.failed, g.canceled
          FROM (SELECT run_id, count(*) AS again, count(*) FILTER (WHERE was = 'FAILED') AS failed,
                       count(*) FILTER (WHERE was = 'CANCELED') AS canceled
                  FROM unnest(${retried.map(({ runId }) => runId)}::uuid[],
                              ${retried.map(({ was }) => was)}::text[]) AS t (run_id, was)
                 GROUP BY run_id) AS g
          JOIN signalbox.run AS r ON r.id = g.run_id
      ), reopened AS (
        UPDATE signalbox.run AS r
           SET open_tasks = r.open_tasks + b.again,
               failed_tasks = r.failed_tasks - b.failed,
               canceled_tasks = r.canceled_tasks - b.canceled,
               status = 'RUNNING',
               finished_at = NULL,
               row_version = r.row_version + 1
          FROM before AS b
         WHERE r.id = b.id
        RETURNING r.id, r.row_version, b.status AS was
      )
      INSERT INTO signalbox.event_store (aggregate_type, aggregate_id, aggregate_version, type, data)
      SELECT 'run', id, row_version, 'run.reopened', jsonb_build_object('from', was)
        FROM reopened
       WHERE was <> 'RUNNING'
    `,
  );
}
