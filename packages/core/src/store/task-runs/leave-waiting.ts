import type { TaskRunId } from "../../domain/ids.ts";
import type { Resource } from "../../domain/resource.ts";
import { wakeResource } from "../../domain/wake.ts";
import type { Transaction } from "../database.ts";
import { wakeGates } from "../holds/wake.ts";
import { sql } from "../sql.ts";

/**
 * Takes task runs that ended without a start out of the work set of those that wait, and keeps what they waited for.
 * Takes a transaction on purpose: it must be the one that wrote the status.
 */
export async function leaveWaiting(tx: Transaction, taskRunIds: readonly TaskRunId[]): Promise<void> {
  const gone = await tx.query(
    sql<{ resources: readonly Resource[] }>("leaveWaiting")`
      WITH gone AS (
        DELETE FROM signalbox.waiting WHERE task_run_id = ANY (${taskRunIds}::uuid[])
        RETURNING task_run_id, resources, blocked_on, blocked_since, waited
      ), waited_for AS (
        INSERT INTO signalbox.wait_time (task_run_id, waited)
        SELECT task_run_id, signalbox.add_wait(waited, blocked_on, blocked_since)
          FROM gone
         WHERE blocked_on IS NOT NULL OR waited IS NOT NULL
            ON CONFLICT (task_run_id) DO UPDATE SET waited = excluded.waited
      )
      SELECT resources FROM gone
    `,
  );
  // Whoever stood behind them in a line may go now.
  await wakeGates(
    tx,
    gone.flatMap(({ resources }) => resources.map(({ name }) => wakeResource(name))),
  );
}
