/** The task runs of one task. */

import type { AttemptPage } from "../../domain/attempts.ts";
import { asTaskRunId, type TaskId } from "../../domain/ids.ts";
import type { Transaction } from "../database.ts";
import { sql } from "../sql.ts";
import { loadTaskRuns } from "./read.ts";

/** Newest first; in a snapshot, so that what was found is still there when it is read. */
export async function listAttempts(
  tx: Transaction,
  taskId: TaskId,
  { before, limit }: { readonly before: number | null; readonly limit: number },
): Promise<AttemptPage> {
  const rows = await tx.query(
    sql<{ taskRunId: string }>("findAttempts")`
      SELECT id AS "taskRunId"
        FROM signalbox.task_run
       WHERE task_id = ${taskId} AND attempt < coalesce(${before}::bigint, 2147483648)
       ORDER BY attempt DESC
       LIMIT ${limit + 1}
    `,
  );
  const found = await loadTaskRuns(
    tx,
    rows.slice(0, limit).map(({ taskRunId }) => asTaskRunId(taskRunId)),
  );
  const taskRuns = found.toSorted((a, b) => b.attempt - a.attempt);
  return { taskId, taskRuns, next: rows.length > limit ? (taskRuns.at(-1)?.attempt ?? null) : null };
}
