import { asRunId, type RunId, type TaskId } from "../../domain/ids.ts";
import type { Transaction } from "../database.ts";
import { sql } from "../sql.ts";

/** A retry by hand locks its task too: after this the attempts that are read are all there will be. */
export async function lockTasksToDelete(tx: Transaction, taskIds: readonly TaskId[]): Promise<void> {
  await tx.query(
    sql("lockTasksToDelete")`
      SELECT FROM signalbox.task WHERE id = ANY (${taskIds}::uuid[]) ORDER BY id FOR UPDATE
    `,
  );
}

/** Deletes tasks with all that belongs to them. Answers how many task runs these were. */
export async function deleteTasks(tx: Transaction, taskIds: readonly TaskId[]): Promise<number> {
  const taskRuns = await tx.query(
    sql<{ id: string }>("deleteTaskRuns")`
      DELETE FROM signalbox.task_run
       WHERE task_id = ANY (${taskIds}::uuid[])
         AND status IN ('DONE', 'FAILED', 'CANCELED')
      RETURNING id
    `,
  );
  await deleteOfTaskRuns(
    tx,
    taskRuns.map(({ id }) => id),
  );
  await tx.query(sql("deleteStops")`DELETE FROM signalbox.stop WHERE task_id = ANY (${taskIds}::uuid[])`);
  await tx.query(sql("deleteTasks")`DELETE FROM signalbox.task WHERE id = ANY (${taskIds}::uuid[])`);
  return taskRuns.length;
}

/** Whatever else is kept by the id of a task run goes here, with it. */
export async function deleteOfTaskRuns(tx: Transaction, taskRunIds: readonly string[]): Promise<void> {
  await tx.query(
    sql(
      "deleteResults",
    )`DELETE FROM signalbox.task_run_result WHERE task_run_id = ANY (${taskRunIds}::uuid[])`,
  );
  await tx.query(
    sql("deleteLogs")`DELETE FROM signalbox.log_chunk WHERE task_run_id = ANY (${taskRunIds}::uuid[])`,
  );
  await tx.query(
    sql("deleteWaitTimes")`DELETE FROM signalbox.wait_time WHERE task_run_id = ANY (${taskRunIds}::uuid[])`,
  );
  await tx.query(
    sql(
      "deleteQueueDeadlines",
    )`DELETE FROM signalbox.queue_deadline WHERE task_run_id = ANY (${taskRunIds}::uuid[])`,
  );
  await tx.query(
    sql(
      "deleteOutsideJobs",
    )`DELETE FROM signalbox.outside_job WHERE task_run_id = ANY (${taskRunIds}::uuid[])`,
  );
  await deleteEvents(tx, taskRunIds);
}

/** Of these runs those that have no task any more. Answers which. */
export async function deleteEmptyRuns(tx: Transaction, runIds: readonly RunId[]): Promise<readonly RunId[]> {
  if (runIds.length === 0) return [];
  const gone = await tx.query(
    sql<{ id: string }>("deleteEmptyRuns")`
      DELETE FROM signalbox.run
       WHERE id = ANY (${runIds}::uuid[])
         AND status <> 'RUNNING'
         -- From its newest task on: those that went before are dead entries at the other end of the index.
         AND (SELECT task.id FROM signalbox.task WHERE task.run_id = run.id ORDER BY task.id DESC LIMIT 1) IS NULL
      RETURNING id
    `,
  );
  const ids = gone.map(({ id }) => id);
  await deleteEvents(tx, [...ids, ...(await deletePauses(tx, ids))]);
  return ids.map(asRunId);
}

/** Answers by which ids their events are kept. */
async function deletePauses(tx: Transaction, runIds: readonly string[]): Promise<readonly string[]> {
  if (runIds.length === 0) return [];
  const gone = await tx.query(
    sql<{ id: string }>("deletePauses")`
      DELETE FROM signalbox.pause
       WHERE over = 'run' AND name = ANY (${runIds}::text[])
      RETURNING md5('pause:run:' || name)::uuid AS id
    `,
  );
  return gone.map(({ id }) => id);
}

async function deleteEvents(tx: Transaction, aggregateIds: readonly string[]): Promise<void> {
  if (aggregateIds.length === 0) return;
  await tx.query(
    sql("deleteEvents")`DELETE FROM signalbox.event_store WHERE aggregate_id = ANY (${aggregateIds}::uuid[])`,
  );
}
