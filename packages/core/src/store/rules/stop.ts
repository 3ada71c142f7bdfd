import { asTaskRunId, type TaskId, type TaskRunId } from "../../domain/ids.ts";
import { wakeStop } from "../../domain/wake.ts";
import type { Transaction } from "../database.ts";
import { takeClaimLock } from "../holds/claim-lock.ts";
import { takeGateLock } from "../holds/gate-lock.ts";
import { wakeGates } from "../holds/wake.ts";
import { sql } from "../sql.ts";
import { demoteTaskRuns } from "../task-runs/demote.ts";

export interface Stop {
  /** "APPROVAL", "STAGE_ORDER": shown as it is. */
  readonly code: string;
  readonly detail: string | null;
}

/**
 * The task does not start after the commit; what of it runs already goes on. Answers whom it has sent back. Null: there
 * is no such task.
 */
export async function putStop(
  tx: Transaction,
  taskId: TaskId,
  { code, detail }: Stop,
): Promise<readonly TaskRunId[] | null> {
  await takeGateLock(tx);
  await takeClaimLock(tx);
  const put = await tx.query(
    sql("putStop")`
      INSERT INTO signalbox.stop (task_id, code, detail)
      -- The pruner may be deleting it at this moment: then there is no such task.
      SELECT id, ${code}, ${detail} FROM signalbox.task WHERE id = ${taskId} FOR KEY SHARE
          ON CONFLICT (task_id, code) DO UPDATE SET detail = excluded.detail
      RETURNING task_id
    `,
  );
  if (put.length === 0) return null;
  const open = await tx.query(
    sql<{ taskRunId: string }>("findAvailableOfTask")`
      SELECT id AS "taskRunId" FROM signalbox.task_run WHERE task_id = ${taskId} AND status = 'AVAILABLE'
    `,
  );
  return await demoteTaskRuns(
    tx,
    open.map(({ taskRunId }) => asTaskRunId(taskRunId)),
    "STOPPED",
  );
}

/** False: there was no such stop. Null: there is no such task. */
export async function takeOffStop(tx: Transaction, taskId: TaskId, code: string): Promise<boolean | null> {
  const gone = await tx.query(
    sql(
      "takeOffStop",
    )`DELETE FROM signalbox.stop WHERE task_id = ${taskId} AND code = ${code} RETURNING task_id`,
  );
  if (gone.length === 0) return (await isTask(tx, taskId)) ? false : null;
  await wakeGates(tx, [wakeStop(taskId)]);
  return true;
}

async function isTask(tx: Transaction, taskId: TaskId): Promise<boolean> {
  const rows = await tx.query(sql("isTask")`SELECT FROM signalbox.task WHERE id = ${taskId}`);
  return rows.length > 0;
}
