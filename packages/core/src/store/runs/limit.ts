import type { RunId } from "../../domain/ids.ts";
import { wakeRun } from "../../domain/wake.ts";
import type { Transaction } from "../database.ts";
import { takeGateLock } from "../holds/gate-lock.ts";
import { wakeGates } from "../holds/wake.ts";
import { sql } from "../sql.ts";

/**
 * Changes a run's limit under the gate lock, so that it is in force for every pass that begins after the
 * commit and for none before. False: there is no such run.
 */
export async function changeRunLimit(tx: Transaction, runId: RunId, limit: number): Promise<boolean> {
  await takeGateLock(tx);
  const changed = await tx.query(
    sql("changeRunLimit")`
      WITH before AS (
        SELECT id, task_limit FROM signalbox.run WHERE id = ${runId} FOR NO KEY UPDATE
      ), changed AS (
        UPDATE signalbox.run
           SET task_limit = ${limit}, row_version = row_version + 1
         WHERE id = ANY (ARRAY(SELECT id FROM before))
        RETURNING id, row_version
      )
      INSERT INTO signalbox.event_store (aggregate_type, aggregate_id, aggregate_version, type, data)
      SELECT 'run', changed.id, changed.row_version, 'run.limit_changed',
             jsonb_build_object('from', before.task_limit, 'to', ${limit}::integer)
        FROM changed, before
      RETURNING aggregate_id
    `,
  );
  if (changed.length === 0) return false;
  await wakeGates(tx, [wakeRun(runId)]);
  return true;
}
