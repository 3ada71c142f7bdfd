import { asTaskRunId, type TaskRunId } from "../../domain/ids.ts";
import type { Parking } from "../../domain/waiting-cause.ts";
import type { Transaction } from "../database.ts";
import { sql } from "../sql.ts";

/** PENDING → AVAILABLE for those that still are PENDING; answers which. Under the gate lock. */
export async function promoteTaskRuns(
  tx: Transaction,
  taskRunIds: readonly TaskRunId[],
): Promise<ReadonlySet<TaskRunId>> {
  if (taskRunIds.length === 0) return new Set();
  const promoted = await tx.query(
    sql<{ taskRunId: string }>("promoteTaskRuns")`
      UPDATE signalbox.task_run
         SET status = 'AVAILABLE', available_at = clock_timestamp(), row_version = row_version + 1
       WHERE id = ANY (${taskRunIds}::uuid[])
         AND status = 'PENDING'
      RETURNING id AS "taskRunId"
    `,
  );
  const ids = promoted.map(({ taskRunId }) => asTaskRunId(taskRunId));
  await tx.query(
    sql("moveFromWaitingToReady")`
      WITH gone AS (
        DELETE FROM signalbox.waiting WHERE task_run_id = ANY (${ids}::uuid[])
        RETURNING kind, priority, task_run_id
      )
      INSERT INTO signalbox.ready (kind, priority, task_run_id) SELECT kind, priority, task_run_id FROM gone
    `,
  );
  return new Set(ids);
}

export interface ParkedTaskRun extends Parking {
  readonly taskRunId: TaskRunId;
}

/**
 * Writes under which gate task runs wait now. Answers which were still waiting: their rows are locked
 * from here on, so a cancel comes after us and finds the line as we leave it.
 */
export async function parkTaskRuns(
  tx: Transaction,
  parked: readonly ParkedTaskRun[],
): Promise<ReadonlySet<TaskRunId>> {
  if (parked.length === 0) return new Set();
  const rows = await tx.query(
    sql<{ taskRunId: string }>("parkTaskRuns")`
      UPDATE signalbox.waiting
         SET blocked_on = g.blocked_on, blocked_key = g.blocked_key,
             -- Another resource of the same gate: it has waited there since before.
             blocked_since = CASE WHEN waiting.blocked_on = g.blocked_on THEN waiting.blocked_since ELSE clock_timestamp() END
        FROM unnest(${parked.map(({ taskRunId }) => taskRunId)}::uuid[],
                    ${parked.map(({ blockedOn }) => blockedOn)}::text[],
                    ${parked.map(({ blockedKey }) => blockedKey)}::text[]) AS g (task_run_id, blocked_on, blocked_key)
       WHERE waiting.task_run_id = g.task_run_id
      RETURNING waiting.task_run_id AS "taskRunId"
    `,
  );
  return new Set(rows.map(({ taskRunId }) => asTaskRunId(taskRunId)));
}

export async function joinLines(tx: Transaction, taskRunIds: readonly TaskRunId[]): Promise<void> {
  if (taskRunIds.length === 0) return;
  await tx.query(
    sql("joinLines")`
      INSERT INTO signalbox.line (name, priority, enqueued_at, task_run_id, mode, version)
      SELECT r.name, w.priority, w.enqueued_at, w.task_run_id, r.mode, w.version
        FROM signalbox.waiting AS w
       CROSS JOIN LATERAL jsonb_to_recordset(w.resources) AS r (name text, mode text)
       WHERE w.task_run_id = ANY (${taskRunIds}::uuid[])
    `,
  );
}

export async function leaveLines(tx: Transaction, taskRunIds: readonly TaskRunId[]): Promise<void> {
  if (taskRunIds.length === 0) return;
  await tx.query(
    sql("leaveLines")`DELETE FROM signalbox.line WHERE task_run_id = ANY (${taskRunIds}::uuid[])`,
  );
}

/** How long until the next task run that waits for its run time, by the database's clock. Null: none does. */
export async function msUntilNextRunAt(tx: Transaction): Promise<number | null> {
  const [row] = await tx.query(
    sql<{ ms: number | null }>("msUntilNextRunAt")`
      SELECT (extract(epoch FROM (SELECT run_at FROM signalbox.waiting WHERE blocked_on = 'RUN_AT' ORDER BY run_at LIMIT 1)
                                 - clock_timestamp()) * 1000)::float8 AS ms
    `,
  );
  return row?.ms ?? null;
}
