import type { Asked } from "../../domain/asked.ts";
import { asTaskRunId, type TaskRunId } from "../../domain/ids.ts";
import type { ResourceName } from "../../domain/resource.ts";
import { wakeResource } from "../../domain/wake.ts";
import type { Transaction } from "../database.ts";
import { takeClaimLock } from "../holds/claim-lock.ts";
import { takeGateLock } from "../holds/gate-lock.ts";
import { dropReserved } from "../holds/release.ts";
import { wakeGates } from "../holds/wake.ts";
import { sql } from "../sql.ts";
import { demoteTaskRuns } from "../task-runs/demote.ts";

/**
 * From the commit on the resource is kept for nobody; an attempt of the task that runs on it goes on and holds it like any
 * other. Answers whom it has sent back. Null: it was not reserved.
 */
export async function releaseReservation(
  tx: Transaction,
  name: ResourceName,
  asked: Asked,
): Promise<readonly TaskRunId[] | null> {
  await takeGateLock(tx);
  await takeClaimLock(tx);
  const [reserved] = await tx.query(
    sql<{ taskId: string }>("findReservation")`
      SELECT reserved_for AS "taskId" FROM signalbox.hold
       WHERE scope = 'resource:' || ${name} AND slot = 0 AND reserved_for IS NOT NULL
    `,
  );
  if (reserved === undefined) return null;
  // Back in line: it was made AVAILABLE before its turn. Before its task run is locked, as whoever cancels it does it.
  const demoted = await demoteTaskRuns(tx, await findAvailable(tx, reserved.taskId), "RULES_CHANGED");
  // Whoever settles its attempt has done so when this answers; what came after it is seen by the next statement.
  await tx.query(
    sql("lockReservingTask")`
      SELECT FROM signalbox.task_run WHERE task_id = ${reserved.taskId} ORDER BY id FOR UPDATE
    `,
  );
  const open = await findOpen(tx, reserved.taskId);
  if (open === null) return null;
  await dropReserved(tx, name);
  await standInLineAgain(tx, open, name, asked);
  await wakeGates(tx, [wakeResource(name)]);
  return demoted;
}

async function findAvailable(tx: Transaction, taskId: string): Promise<readonly TaskRunId[]> {
  const rows = await tx.query(
    sql<{ taskRunId: string }>("findAvailableOfReservingTask")`
      SELECT id AS "taskRunId" FROM signalbox.task_run WHERE task_id = ${taskId} AND status = 'AVAILABLE'
    `,
  );
  return rows.map(({ taskRunId }) => asTaskRunId(taskRunId));
}

async function findOpen(tx: Transaction, taskId: string): Promise<TaskRunId | null> {
  const [row] = await tx.query(
    sql<{ taskRunId: string }>("findOpenOfReservingTask")`
      SELECT id AS "taskRunId" FROM signalbox.task_run
       WHERE task_id = ${taskId} AND status IN ('PENDING', 'AVAILABLE', 'RUNNING')
         FOR UPDATE                       -- it may be an attempt that came meanwhile
    `,
  );
  return row === undefined ? null : asTaskRunId(row.taskRunId);
}

/** It went before everybody because of what was kept for it. If something else still is, it does so further on. */
async function standInLineAgain(
  tx: Transaction,
  taskRunId: TaskRunId,
  name: ResourceName,
  { by, reason }: Asked,
): Promise<void> {
  await tx.query(
    sql("standInLineAgain")`
      WITH placed AS (
        UPDATE signalbox.task_run AS t
           SET priority = CASE WHEN EXISTS (SELECT FROM signalbox.hold WHERE reserved_for = t.task_id)
                               THEN t.priority ELSE k.priority END,
               row_version = t.row_version + 1
          FROM signalbox.task AS k
         WHERE t.id = ${taskRunId} AND k.id = t.task_id
        RETURNING t.id, t.task_id, t.priority, t.row_version
      ), waits AS (
        UPDATE signalbox.waiting AS w SET priority = placed.priority FROM placed WHERE w.task_run_id = placed.id
      ), stands AS (
        UPDATE signalbox.line AS l SET priority = placed.priority FROM placed WHERE l.task_run_id = placed.id
      )
      INSERT INTO signalbox.event_store (aggregate_type, aggregate_id, aggregate_version, type, data)
      SELECT 'task_run', id, row_version, 'task_run.reservation_released',
             jsonb_build_object('taskId', task_id, 'resource', ${name}::text, 'by', ${by}::text, 'reason', ${reason}::text)
        FROM placed
    `,
  );
}
