/**
 * Work that ended long ago, for the pruner: nothing that the load enqueues is old enough to go. The walk of the pruner
 * begins anew, as it does every thirty days.
 */

import type pg from "pg";

const TASKS = 20;
const OLD_MS = 31 * 86_400_000;

export async function putOldWork(db: pg.Pool): Promise<void> {
  await db.query(
    `WITH old AS MATERIALIZED (
       SELECT (lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint - $1::bigint), 12, '0')
               || substr(replace(signalbox.new_id()::text, '-', ''), 13))::uuid AS id,
              signalbox.new_id() AS task_run_id,
              clock_timestamp() - $1 * interval '1 ms' AS at
         FROM generate_series(1, $2)
     ), old_task AS (
       INSERT INTO signalbox.task (id, kind, title, input, priority, policy, gated, created_at)
       SELECT id, 'work', 'of long ago', '{}', 5, '{"attempts": 1, "onLost": "retry"}', false, at FROM old
     ), walk AS (
       DELETE FROM signalbox.retention_walk
     )
     INSERT INTO signalbox.task_run
            (id, task_id, kind, priority, attempt, gated, status, enqueued_at, available_at, finished_at, outcome)
     SELECT task_run_id, id, 'work', 5, 1, false, 'CANCELED', at, at, at, 'CANCELED' FROM old`,
    [OLD_MS, TASKS],
  );
}
