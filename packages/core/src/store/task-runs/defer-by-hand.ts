import type { Asked } from "../../domain/asked.ts";
import type { TaskRunId } from "../../domain/ids.ts";
import type { Transaction } from "../database.ts";
import { takeGateLock } from "../holds/gate-lock.ts";
import { sql } from "../sql.ts";
import { demoteTaskRuns } from "./demote.ts";
import { enterWaiting } from "./enter-waiting.ts";
import { leaveWaiting } from "./leave-waiting.ts";

/** An instant, or so long from now by the database's clock. */
export type LaterTime = { readonly runAt: Date } | { readonly delayMs: number };

/**
 * Gives a task run that has not started a later run time, and parks it there: AVAILABLE → PENDING where it was free to be
 * claimed. A claim that is taking it was before us. Answers its run time; null: it is not PENDING, or the time is not ahead.
 */
export async function deferByHand(
  tx: Transaction,
  taskRunId: TaskRunId,
  time: LaterTime,
  { by, reason }: Asked,
): Promise<Date | null> {
  // No pass may promote it between the two statements, and none holds its row of `waiting`.
  await takeGateLock(tx);
  await demoteTaskRuns(tx, [taskRunId], "DEFERRED");
  const [moved] = await tx.query(
    sql<{ runAt: Date }>("deferByHand")`
      WITH moved AS (
        UPDATE signalbox.task_run AS t
           SET run_at = g.run_at, row_version = t.row_version + 1,
               waited = (SELECT signalbox.add_wait(w.waited, w.blocked_on, w.blocked_since)
                           FROM signalbox.waiting AS w WHERE w.task_run_id = t.id)
          FROM (SELECT coalesce(${"runAt" in time ? time.runAt : null}::timestamptz,
                                clock_timestamp() + ${"delayMs" in time ? time.delayMs : null}::float8 * interval '1 ms') AS run_at) AS g
         WHERE t.id = ${taskRunId} AND t.status = 'PENDING' AND g.run_at > clock_timestamp()
        RETURNING t.id, t.task_id, t.run_id, t.run_at, t.row_version
      ), recorded AS (
        INSERT INTO signalbox.event_store (aggregate_type, aggregate_id, aggregate_version, type, data)
        SELECT 'task_run', id, row_version, 'task_run.deferred_by_hand',
               jsonb_build_object('taskId', task_id, 'runId', run_id, 'runAt', run_at, 'by', ${by}::text, 'reason', ${reason}::text)
          FROM moved
      )
      SELECT run_at AS "runAt" FROM moved
    `,
  );
  if (moved === undefined) return null;
  // Out of the line in which it stood, and into the work set again with its new time.
  await leaveWaiting(tx, [taskRunId]);
  await enterWaiting(tx, [taskRunId]);
  return moved.runAt;
}

/** What it is now, and whether this time is ahead of the database's clock. */
export async function readWhyNotDeferred(
  tx: Transaction,
  taskRunId: TaskRunId,
  time: LaterTime,
): Promise<{ readonly status: string; readonly isAhead: boolean } | null> {
  const [row] = await tx.query(
    sql<{ status: string; isAhead: boolean }>("readWhyNotDeferred")`
      SELECT status, ${"runAt" in time ? time.runAt : null}::timestamptz IS NULL
                     OR ${"runAt" in time ? time.runAt : null}::timestamptz > clock_timestamp() AS "isAhead"
        FROM signalbox.task_run
       WHERE id = ${taskRunId}
    `,
  );
  return row ?? null;
}
