import type { TaskRunId } from "../../domain/ids.ts";
import type { Resource } from "../../domain/resource.ts";
import { wakeResource } from "../../domain/wake.ts";
import type { Transaction } from "../database.ts";
import { wakeGates } from "../holds/wake.ts";
import { sql } from "../sql.ts";

/**
 * Takes task runs that ended without a start out of the work set of those that wait.
 * Takes a transaction on purpose: it must be the one that wrote the status, and with it what they waited for.
 */
export async function leaveWaiting(tx: Transaction, taskRunIds: readonly TaskRunId[]): Promise<void> {
  const gone = await tx.query(
    sql<{ resources: readonly Resource[] }>("leaveWaiting")`
      DELETE FROM signalbox.waiting WHERE task_run_id = ANY (${taskRunIds}::uuid[])
      RETURNING resources
    `,
  );
  // Whoever stood behind them in a line may go now.
  await wakeGates(
    tx,
    gone.flatMap(({ resources }) => resources.map(({ name }) => wakeResource(name))),
  );
}
