import type { Promotion } from "../../domain/admission.ts";
import { asTaskRunId, type TaskRunId } from "../../domain/ids.ts";
import type { Parking } from "../../domain/waiting-cause.ts";
import type { Transaction } from "../database.ts";
import { preparedSql } from "../sql.ts";

/** PENDING → AVAILABLE for those that still are PENDING, out of `waiting` and into `ready`; answers which. Under the gate lock. */
export async function promoteTaskRuns(
  tx: Transaction,
  promotions: readonly Pick<Promotion, "taskRunId" | "openUntil">[],
): Promise<ReadonlySet<TaskRunId>> {
  if (promotions.length === 0) return new Set();
  const ids = promotions.map(({ taskRunId }) => taskRunId);
  // Nearly always none: then nobody is looked up in the list.
  const bounded = promotions.filter(({ openUntil }) => openUntil !== null);
  const promoted = await tx.query(
    preparedSql<{ taskRunId: string }>("promoteTaskRuns")`
      WITH promoted AS (
        UPDATE signalbox.task_run
           -- One instant for the whole pass: within it they go in the order of the line.
           SET status = 'AVAILABLE', available_at = (SELECT clock_timestamp()), row_version = row_version + 1,
               gated = true,                  -- from here on it may hold something, which its end must give back
               waited = (SELECT signalbox.add_wait(w.waited, w.blocked_on, w.blocked_since)
                           FROM signalbox.waiting AS w WHERE w.task_run_id = task_run.id)
         WHERE id = ANY (${ids}::uuid[])
           AND status = 'PENDING'
        RETURNING id, kind, queue, priority, available_at
      ), gone AS (
        DELETE FROM signalbox.waiting WHERE task_run_id = ANY (ARRAY(SELECT id FROM promoted))
      ), entered AS (
        INSERT INTO signalbox.ready (kind, queue, priority, available_at, task_run_id, rules_no, open_until)
        SELECT kind, queue, priority, available_at, id,
               -- Rules change under the gate lock, which we have: these are the ones it was judged by.
               coalesce((SELECT rules_no FROM signalbox.queue WHERE queue.name = promoted.queue), 0),
               coalesce((${bounded.map(({ openUntil }) => openUntil)}::timestamptz[])
                          [array_position(${bounded.map(({ taskRunId }) => taskRunId)}::uuid[], id)], 'infinity')
          FROM promoted
      )
      SELECT id AS "taskRunId" FROM promoted
    `,
  );
  return new Set(promoted.map(({ taskRunId }) => asTaskRunId(taskRunId)));
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
    preparedSql<{ taskRunId: string }>("parkTaskRuns")`
      UPDATE signalbox.waiting
         SET blocked_on = g.blocked_on, blocked_key = g.blocked_key,
             waited = CASE WHEN waiting.blocked_on = g.blocked_on THEN waiting.waited
                           ELSE signalbox.add_wait(waiting.waited, waiting.blocked_on, waiting.blocked_since) END,
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
    preparedSql("joinLines")`
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
    preparedSql("leaveLines")`DELETE FROM signalbox.line WHERE task_run_id = ANY (${taskRunIds}::uuid[])`,
  );
}

/** What comes next, by what waits. */
export interface Outlook {
  /** How long until time alone opens a gate: a run time, a window, a rate. By the database's clock. Null: none does. */
  readonly nextDueMs: number | null;
  /** Somebody stands at the gate that never opens, parked now or left there by one who died before he failed it. */
  readonly isOutOfOrder: boolean;
}

export async function readOutlook(tx: Transaction): Promise<Outlook> {
  const [row] = await tx.query(
    preparedSql<Outlook>("readOutlook")`
      SELECT (extract(epoch FROM least(
                (SELECT run_at FROM signalbox.waiting WHERE blocked_on = 'RUN_AT' ORDER BY run_at LIMIT 1),
                (SELECT min(due_at) FROM signalbox.gate_wake WHERE due_at IS NOT NULL),
                (SELECT open_until FROM signalbox.ready WHERE open_until < 'infinity' ORDER BY open_until LIMIT 1))
              - clock_timestamp()) * 1000)::float8 AS "nextDueMs",
             EXISTS (SELECT FROM signalbox.waiting
                      WHERE blocked_on = 'OUT_OF_ORDER' AND blocked_on NOT IN ('RUN_AT', 'VERSION_ORDER')) AS "isOutOfOrder"
    `,
  );
  return row ?? { nextDueMs: null, isOutOfOrder: false };
}
