import { SchedulerError } from "../../domain/errors.ts";
import {
  asRunId,
  asTaskId,
  asTaskRunId,
  isUuid,
  type RunId,
  type TaskId,
  type TaskRunId,
} from "../../domain/ids.ts";
import type { Database } from "../database.ts";
import { preparedSql, sql } from "../sql.ts";

/** What never changes of a task run. */
export interface TaskRunIdentity {
  readonly taskRunId: TaskRunId;
  readonly taskId: TaskId;
  readonly runId: RunId | null;
  readonly kind: string;
  readonly queue: string;
  readonly priority: number;
}

interface IdentityRow {
  readonly taskRunId: string;
  readonly taskId: string;
  readonly runId: string | null;
  readonly kind: string;
  readonly queue: string;
  readonly priority: number;
}

/** Four digits at least. With its dashes where an id has them, or without any. */
const ID_PREFIX =
  /^(?:[0-9a-f]{4,32}|[0-9a-f]{8}-(?:[0-9a-f]{0,4}|[0-9a-f]{4}-(?:[0-9a-f]{0,4}|[0-9a-f]{4}-(?:[0-9a-f]{0,4}|[0-9a-f]{4}-[0-9a-f]{0,12}))))$/i;

/**
 * The task run that an id names: a task run's own id, or a task's, which means its newest task run; of
 * either a prefix that only one has. `byTask` says which it was.
 */
export async function findTaskRun(
  db: Database,
  id: string,
): Promise<TaskRunIdentity & { readonly byTask: boolean }> {
  if (isUuid(id)) {
    const [row] = await db.query(
      preparedSql<IdentityRow & { byTask: boolean }>("findTaskRun")`
        (SELECT id AS "taskRunId", task_id AS "taskId", run_id AS "runId", kind, queue, priority, false AS "byTask"
           FROM signalbox.task_run WHERE id = ${id}::uuid)
        UNION ALL
        (SELECT id, task_id, run_id, kind, queue, priority, true
           FROM signalbox.task_run WHERE task_id = ${id}::uuid ORDER BY attempt DESC LIMIT 1)
      `,
    );
    if (row !== undefined) return { ...toIdentity(row), byTask: row.byTask };
  } else if (ID_PREFIX.test(id)) {
    return await findByPrefix(db, id.toLowerCase());
  }
  throw new SchedulerError("TASK_NOT_FOUND", { id });
}

async function findByPrefix(
  db: Database,
  prefix: string,
): Promise<TaskRunIdentity & { readonly byTask: boolean }> {
  const { low, high } = uuidRange(prefix);
  const rows = await db.query(
    sql<IdentityRow & { byTask: boolean }>("findTaskRunByPrefix")`
      (SELECT id AS "taskRunId", task_id AS "taskId", run_id AS "runId", kind, queue, priority, false AS "byTask"
         FROM signalbox.task_run WHERE id BETWEEN ${low}::uuid AND ${high}::uuid ORDER BY id LIMIT 3)
      UNION ALL
      (SELECT id, task_id, run_id, kind, queue, priority, true
         FROM (SELECT DISTINCT ON (task_id) *
                 FROM signalbox.task_run
                WHERE task_id BETWEEN ${low}::uuid AND ${high}::uuid
                ORDER BY task_id, attempt DESC
                LIMIT 3) AS newest)
    `,
  );
  const [first] = rows;
  if (first === undefined) throw new SchedulerError("TASK_NOT_FOUND", { id: prefix });
  // A task and its newest task run often begin alike, and mean the same.
  if (rows.some(({ taskRunId }) => taskRunId !== first.taskRunId)) {
    const matches = rows.map((row) => (row.byTask ? row.taskId : row.taskRunId));
    throw new SchedulerError("AMBIGUOUS_ID", { prefix, matches });
  }
  return { ...toIdentity(first), byTask: first.byTask };
}

/** All ids that begin with the prefix, as a range an index can use. */
function uuidRange(prefix: string): { readonly low: string; readonly high: string } {
  const digits = prefix.replaceAll("-", "").slice(0, 32);
  return { low: withDashes(digits.padEnd(32, "0")), high: withDashes(digits.padEnd(32, "f")) };
}

function withDashes(digits: string): string {
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    digits.slice(12, 16),
    digits.slice(16, 20),
    digits.slice(20),
  ].join("-");
}

function toIdentity(row: IdentityRow): TaskRunIdentity {
  return {
    taskRunId: asTaskRunId(row.taskRunId),
    taskId: asTaskId(row.taskId),
    runId: row.runId === null ? null : asRunId(row.runId),
    kind: row.kind,
    queue: row.queue,
    priority: row.priority,
  };
}
