import { asRunId, asTaskId, type TaskId } from "../../domain/ids.ts";
import type { AgingTask } from "../../domain/retention.ts";
import type { TaskRunStatus } from "../../domain/task-status.ts";
import type { Transaction } from "../database.ts";
import { LONGEST_PERIOD_MS } from "../holds/rates.ts";
import { sql } from "../sql.ts";
import type { IdRange } from "./walk.ts";

/** The tasks of a range in the order of their ids, at most `limit`, with what decides whether they go. */
export async function readAging(
  tx: Transaction,
  range: IdRange,
  limit: number,
): Promise<readonly AgingTask[]> {
  return await read(tx, range, limit, null);
}

/** The same of some of them, to decide under their locks. */
export async function readAgain(
  tx: Transaction,
  range: IdRange,
  taskIds: readonly TaskId[],
): Promise<readonly AgingTask[]> {
  return await read(tx, range, taskIds.length, taskIds);
}

async function read(
  tx: Transaction,
  { afterId, toId }: IdRange,
  limit: number,
  only: readonly TaskId[] | null,
): Promise<readonly AgingTask[]> {
  const rows = await tx.query(
    sql<AgingRow>("readAging")`
      SELECT k.id AS "taskId", k.run_id AS "runId", t.status, coalesce(t.attempt, 0) AS attempts,
             greatest(t.finished_at, r.finished_at) AS "endedAt",
             r.id IS NOT NULL AND r.finished_at IS NULL AS "runOpen",
             -- LIMIT, not EXISTS: the planner would read all holds once instead of asking for these.
             coalesce((SELECT true FROM signalbox.hold WHERE reserved_for = k.id LIMIT 1),
                      (SELECT true
                         FROM signalbox.task_run AS a
                        CROSS JOIN LATERAL (SELECT FROM signalbox.hold WHERE task_run_id = a.id LIMIT 1) AS h
                        WHERE a.task_id = k.id
                        LIMIT 1),
                      -- A rate counts starts by their task runs, for as long as its period is.
                      k.rate IS NOT NULL AND t.finished_at > clock_timestamp() - ${LONGEST_PERIOD_MS} * interval '1 ms',
                      false) AS holding
        FROM (SELECT id, run_id, rate
                FROM signalbox.task
               WHERE id > ${afterId} AND id <= ${toId}
                 AND (${only}::uuid[] IS NULL OR id = ANY (${only}::uuid[]))
               ORDER BY id
               LIMIT ${limit}) AS k
        LEFT JOIN LATERAL (
             SELECT status, attempt, finished_at
               FROM signalbox.task_run
              WHERE task_id = k.id
              ORDER BY attempt DESC
              LIMIT 1) AS t ON true
        LEFT JOIN signalbox.run AS r ON r.id = k.run_id
       ORDER BY k.id
    `,
  );
  return rows.map((row) => ({
    ...row,
    taskId: asTaskId(row.taskId),
    runId: row.runId === null ? null : asRunId(row.runId),
  }));
}

interface AgingRow {
  readonly taskId: string;
  readonly runId: string | null;
  readonly status: TaskRunStatus | null;
  readonly attempts: number;
  readonly endedAt: Date | null;
  readonly runOpen: boolean;
  readonly holding: boolean;
}

export async function databaseNow(tx: Transaction): Promise<Date> {
  const [row] = await tx.query(sql<{ now: Date }>("databaseNow")`SELECT clock_timestamp() AS now`);
  if (row === undefined) throw new Error("databaseNow returned no row");
  return row.now;
}
