/**
 * Which waiting task runs a promotion pass looks at: new ones, due ones; `parked.ts` has the fronts of what is
 * parked at gates that were woken. Never the rest of the backlog, however long it is.
 */

import type { Candidate } from "../../domain/gates/gate.ts";
import { asTaskRunId, type TaskRunId } from "../../domain/ids.ts";
import type { WaitingCode } from "../../domain/waiting-cause.ts";
import type { Database } from "../database.ts";
import { preparedSql, sql } from "../sql.ts";

/** A candidate with where it is parked now. */
export interface WaitingCandidate extends Candidate {
  readonly blockedOn: WaitingCode | null;
  readonly blockedKey: string | null;
}

/** New rows first in line, and rows whose run time has come. */
export async function findNewAndDue(db: Database, limit: number): Promise<readonly TaskRunId[]> {
  const rows = await db.query(
    preparedSql<{ taskRunId: string }>("findNewAndDue")`
      (SELECT task_run_id AS "taskRunId"
         FROM signalbox.waiting
        WHERE blocked_on IS NULL
        ORDER BY priority, enqueued_at, task_run_id
        LIMIT ${limit})
      UNION ALL
      (SELECT task_run_id
         FROM signalbox.waiting
        -- In a subquery, which is asked once: compared with the function itself the index could not tell where to stop.
        WHERE blocked_on = 'RUN_AT' AND run_at <= (SELECT clock_timestamp())
        ORDER BY run_at
        LIMIT ${limit})
    `,
  );
  return rows.map(({ taskRunId }) => asTaskRunId(taskRunId));
}

export interface SweptBite {
  readonly taskRunIds: readonly TaskRunId[];
  /** Where the next bite begins; null: this was the last one. */
  readonly sweptTo: TaskRunId | null;
}

/** For the slow sweep: the next waiting task runs after the one the last bite ended with. Time wakes those at RUN_AT. */
export async function findAfter(db: Database, after: TaskRunId | null, limit: number): Promise<SweptBite> {
  const rows = await db.query(
    sql<{ taskRunId: string; atRunAt: boolean }>("findWaitingAfter")`
      SELECT task_run_id AS "taskRunId", blocked_on IS NOT DISTINCT FROM 'RUN_AT' AS "atRunAt"
        FROM signalbox.waiting
       WHERE ${after}::uuid IS NULL OR task_run_id > ${after}::uuid
       ORDER BY task_run_id
       LIMIT ${limit}
    `,
  );
  const last = rows.length < limit ? undefined : rows.at(-1);
  return {
    taskRunIds: rows.filter(({ atRunAt }) => !atRunAt).map(({ taskRunId }) => asTaskRunId(taskRunId)),
    sweptTo: last === undefined ? null : asTaskRunId(last.taskRunId),
  };
}

export async function loadCandidates(
  db: Database,
  taskRunIds: readonly TaskRunId[],
): Promise<readonly WaitingCandidate[]> {
  if (taskRunIds.length === 0) return [];
  // As they are: to make each anew would take as long as to judge it.
  return await db.query(
    preparedSql<WaitingCandidate>("loadCandidates")`
      SELECT task_run_id AS "taskRunId", task_id AS "taskId", run_id AS "runId", kind, queue,
             concurrency_key AS "concurrencyKey", rate, priority, round(date_part('epoch', enqueued_at) * 1000000) AS "enqueuedUs",
             -- Rounded up to what a Date can hold, while "now" is rounded down: never a moment too early.
             date_trunc('milliseconds', run_at + interval '999 microseconds') AS "runAt",
             array_to_string(version, '.') AS version, resources,
             -- Left open by instances of before migration 0023.
             coalesce(out_of_order, version IS NOT NULL AND (SELECT task.out_of_order FROM signalbox.task WHERE id = task_id)) AS "outOfOrder",
             blocked_on AS "blockedOn", blocked_key AS "blockedKey"
        FROM signalbox.waiting
       WHERE task_run_id = ANY (${taskRunIds}::uuid[])
    `,
  );
}
