import type { TaskRunId } from "../../domain/ids.ts";
import type { Transaction } from "../database.ts";
import { sql } from "../sql.ts";

/**
 * Puts task runs that have just become PENDING into the work set of those that wait, with all their gates look at.
 * Takes a transaction on purpose: it must be the one that wrote the status.
 */
export async function enterWaiting(tx: Transaction, taskRunIds: readonly TaskRunId[]): Promise<void> {
  if (taskRunIds.length === 0) return;
  await tx.query(
    sql("enterWaiting")`
      WITH limited AS (                   -- one that was RUNNING when it was due has lost its row
        INSERT INTO signalbox.queue_deadline (task_run_id, at)
        SELECT t.id, greatest(t.enqueued_at, t.run_at) + (k.policy->'timeouts'->>'queuedMs')::bigint * interval '1 ms'
          FROM signalbox.task_run AS t
          JOIN signalbox.task AS k ON k.id = t.task_id
         WHERE t.id = ANY (${taskRunIds}::uuid[]) AND t.status = 'PENDING' AND k.policy->'timeouts' ? 'queuedMs'
            ON CONFLICT (task_run_id) DO UPDATE SET at = excluded.at
      )
      INSERT INTO signalbox.waiting
             (task_run_id, task_id, run_id, kind, queue, priority, enqueued_at, run_at, version, resources,
              concurrency_key, rate, out_of_order, waited, blocked_on, blocked_key, blocked_since)
      SELECT t.id, t.task_id, t.run_id, t.kind, t.queue, t.priority, t.enqueued_at, t.run_at, k.version, k.resources,
             k.concurrency_key, k.rate, k.out_of_order, coalesce(t.waited, (SELECT waited FROM signalbox.wait_time WHERE task_run_id = t.id)),
             -- Its run time lies ahead: parked without a pass that would find out just that.
             CASE WHEN t.run_at > clock_timestamp() THEN 'RUN_AT' END,
             CASE WHEN t.run_at > clock_timestamp() THEN '' END,
             CASE WHEN t.run_at > clock_timestamp() THEN clock_timestamp() END
        FROM signalbox.task_run AS t
        JOIN signalbox.task AS k ON k.id = t.task_id
       WHERE t.id = ANY (${taskRunIds}::uuid[]) AND t.status = 'PENDING'
    `,
  );
}
