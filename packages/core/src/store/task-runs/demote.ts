/**
 * AVAILABLE → PENDING for what may not start any more: paused, outside its window, under rules that have changed, or
 * without an executor. Under the gate lock, so that no promotion comes in between.
 */

import { asTaskRunId, type TaskRunId } from "../../domain/ids.ts";
import { alsoByVersion } from "../../domain/wake.ts";
import type { Transaction } from "../database.ts";
import { ratesFreedBy } from "../holds/rates.ts";
import { releaseHolds } from "../holds/release.ts";
import { wakeGates } from "../holds/wake.ts";
import { preparedSql, sql } from "../sql.ts";
import { enterWaiting } from "./enter-waiting.ts";

export type DemotionCause = "PAUSED" | "WINDOW" | "RULES_CHANGED" | "STOPPED" | "NO_EXECUTOR" | "DEFERRED";

interface Demotion {
  readonly taskRunId: TaskRunId;
  readonly because: DemotionCause;
}

/** Those whose window has closed while nobody claimed them. */
export async function demoteClosed(tx: Transaction, limit: number): Promise<readonly TaskRunId[]> {
  const rows = await tx.query(
    preparedSql<{ taskRunId: string }>("leaveReadyClosed")`
      DELETE FROM signalbox.ready
       WHERE ctid = ANY (ARRAY(
               SELECT ctid
                 FROM signalbox.ready
                WHERE open_until < 'infinity' AND open_until <= (SELECT clock_timestamp())
                ORDER BY open_until
                LIMIT ${limit}
                  FOR UPDATE SKIP LOCKED))
      RETURNING task_run_id AS "taskRunId"
    `,
  );
  return await backToPending(tx, toDemotions(rows, "WINDOW"));
}

/** Greater than any number that the rules of a queue have come to. */
const AFTER_ALL_RULES = 2_147_483_647;

/**
 * Those that became AVAILABLE under older rules of their queue (also in a transaction that committed late), and those
 * of a kind that no live instance can run. The claim refuses the first, nobody claims the second: they can wait for
 * the next bite.
 */
export async function demoteStrays(tx: Transaction, limit: number): Promise<readonly TaskRunId[]> {
  const rows = await tx.query(
    sql<{ taskRunId: string; outdated: boolean }>("leaveReadyStray")`
      WITH RECURSIVE part (kind, queue) AS (        -- from one queue of a kind to the next, each by one look at the index
        (SELECT kind, queue FROM signalbox.ready ORDER BY kind, queue LIMIT 1)
        UNION ALL
        SELECT next.kind, next.queue
          FROM part
         CROSS JOIN LATERAL (
               SELECT kind, queue FROM signalbox.ready
                WHERE (ready.kind, ready.queue) > (part.kind, part.queue)
                ORDER BY kind, queue
                LIMIT 1) AS next
      )
      DELETE FROM signalbox.ready
       WHERE ctid = ANY (ARRAY(
               SELECT r.ctid
                 FROM part
                 LEFT JOIN signalbox.queue AS q ON q.name = part.queue
                CROSS JOIN LATERAL (
                      -- Of a kind that nobody serves, all of them.
                      SELECT CASE WHEN EXISTS (SELECT FROM signalbox.instance
                                                WHERE state = 'LIVE' AND expires_at > clock_timestamp()
                                                  AND part.kind = ANY (kinds))
                                  THEN coalesce(q.rules_no, 0) ELSE ${AFTER_ALL_RULES}::integer END AS rules_no) AS from_here
                CROSS JOIN LATERAL (
                      SELECT ctid
                        FROM signalbox.ready
                       WHERE ready.kind = part.kind AND ready.queue = part.queue
                         AND ready.rules_no < from_here.rules_no
                       ORDER BY rules_no, priority, available_at, task_run_id
                       LIMIT ${limit}
                         FOR UPDATE SKIP LOCKED) AS r
                LIMIT ${limit}))
      RETURNING task_run_id AS "taskRunId",
                rules_no < coalesce((SELECT q.rules_no FROM signalbox.queue AS q WHERE q.name = ready.queue), 0) AS outdated
    `,
  );
  return await backToPending(
    tx,
    rows.map(({ taskRunId, outdated }) => ({
      taskRunId: asTaskRunId(taskRunId),
      because: outdated ? "RULES_CHANGED" : "NO_EXECUTOR",
    })),
  );
}

/** These, and now: a claim that is taking one of them is waited for, and then it was before us. */
export async function demoteTaskRuns(
  tx: Transaction,
  taskRunIds: readonly TaskRunId[],
  because: DemotionCause,
): Promise<readonly TaskRunId[]> {
  if (taskRunIds.length === 0) return [];
  const rows = await tx.query(
    sql<{ taskRunId: string }>("leaveReadyNow")`
      DELETE FROM signalbox.ready
       WHERE ctid = ANY (ARRAY(SELECT place FROM signalbox.ready_of(${taskRunIds}::uuid[]) AS place))
      RETURNING task_run_id AS "taskRunId"
    `,
  );
  return await backToPending(tx, toDemotions(rows, because));
}

async function backToPending(tx: Transaction, demotions: readonly Demotion[]): Promise<readonly TaskRunId[]> {
  if (demotions.length === 0) return [];
  const rows = await tx.query(
    sql<{ taskRunId: string }>("demoteTaskRuns")`
      WITH mine AS MATERIALIZED (         -- only locked here, in the order of ids; whether it may go back is asked below
        SELECT id, available_at, g.because
          FROM unnest(${demotions.map(({ taskRunId }) => taskRunId)}::uuid[],
                      ${demotions.map(({ because }) => because)}::text[]) AS g (task_run_id, because)
          JOIN signalbox.task_run ON id = g.task_run_id
         ORDER BY id
           FOR UPDATE OF task_run
      ), moved AS (
        UPDATE signalbox.task_run AS t
           SET status = 'PENDING', available_at = NULL, row_version = t.row_version + 1
          FROM mine
         -- A cancel that looked before it was AVAILABLE may have ended it meanwhile.
         WHERE t.id = mine.id AND t.status = 'AVAILABLE'
        RETURNING t.id, t.task_id, t.run_id, t.row_version, mine.available_at, mine.because
      ), recorded AS (
        INSERT INTO signalbox.event_store (aggregate_type, aggregate_id, aggregate_version, type, data)
        SELECT 'task_run', id, row_version, 'task_run.demoted',
               jsonb_build_object('from', 'AVAILABLE', 'to', 'PENDING', 'because', because,
                                  'taskId', task_id, 'runId', run_id, 'availableAt', available_at)
          FROM moved
      )
      SELECT id AS "taskRunId" FROM moved
    `,
  );
  const moved = toIds(rows);
  await enterWaiting(tx, moved);
  const freed = await releaseHolds(tx, moved, []);
  await wakeGates(tx, [...alsoByVersion(freed), ...(await ratesFreedBy(tx, moved))]);
  return moved;
}

function toDemotions(
  rows: readonly { readonly taskRunId: string }[],
  because: DemotionCause,
): readonly Demotion[] {
  return toIds(rows).map((taskRunId) => ({ taskRunId, because }));
}

function toIds(rows: readonly { readonly taskRunId: string }[]): readonly TaskRunId[] {
  return rows.map(({ taskRunId }) => asTaskRunId(taskRunId));
}
