/**
 * Finds what a bulk cancel or retry is about, a bite at a time: open task runs in the work sets, tasks of a run by
 * their index, history by the ids, which rise with time. Each bite is the range of an index, however much there is.
 */

import { asRunId, asTaskId, asTaskRunId, isUuid, type RunId, type TaskId } from "../../domain/ids.ts";
import type { TaskRunStatus } from "../../domain/task-status.ts";
import type { Database } from "../database.ts";
import { type Statement, sql } from "../sql.ts";
import type { TaskRunIdentity } from "./find.ts";

/** A task run at the moment it was found. */
export interface FoundTaskRun extends TaskRunIdentity {
  readonly status: TaskRunStatus;
  /** The id that led to it was a task's, or none was given: the task is meant, whatever its newest attempt is. */
  readonly byTask: boolean;
}

export interface FoundBite {
  readonly found: readonly FoundTaskRun[];
  /** Where the next bite begins; null after the last. */
  readonly next: string | null;
}

interface FoundRow {
  readonly taskRunId: string;
  readonly taskId: string;
  readonly runId: string | null;
  readonly kind: string;
  readonly queue: string;
  readonly priority: number;
  readonly status: TaskRunStatus;
  readonly byTask: boolean;
  readonly at: string;
}

/** Before every id. */
export const FIRST_PLACE = "00000000-0000-0000-0000-000000000000";

/** `at` is the place of a row in its walk: the last one of a full bite is where the next begins. */
function placeAfter(rows: readonly { readonly at: string }[], limit: number): string | null {
  return rows.length < limit ? null : (rows.at(-1)?.at ?? null);
}

async function bite(db: Database, statement: Statement<FoundRow>, limit: number): Promise<FoundBite> {
  const rows = await db.query(statement);
  return { found: rows.map(toFound), next: placeAfter(rows, limit) };
}

function toFound({
  taskRunId,
  taskId,
  runId,
  kind,
  queue,
  priority,
  status,
  byTask,
}: FoundRow): FoundTaskRun {
  return {
    taskRunId: asTaskRunId(taskRunId),
    taskId: asTaskId(taskId),
    runId: runId === null ? null : asRunId(runId),
    kind,
    queue,
    priority,
    status,
    byTask,
  };
}

/** By ids of tasks or task runs, each task run once; and how many ids are of none. */
export async function selectByIds(
  db: Database,
  ids: readonly string[],
): Promise<{ readonly found: readonly FoundTaskRun[]; readonly notFound: number }> {
  const rows = await db.query(
    sql<FoundRow>("selectByIds")`
      SELECT t.*, '' AS at
        FROM unnest(${ids.filter(isUuid)}::uuid[]) AS g (id)
       CROSS JOIN LATERAL (
             (SELECT id AS "taskRunId", task_id AS "taskId", run_id AS "runId", kind, queue, priority, status, false AS "byTask"
                FROM signalbox.task_run WHERE id = g.id)
             UNION ALL
             (SELECT id, task_id, run_id, kind, queue, priority, status, true
                FROM signalbox.task_run WHERE task_id = g.id ORDER BY attempt DESC LIMIT 1)) AS t
    `,
  );
  // Whoever names a task and its task run means the task.
  const found = new Map(
    rows.toSorted((a, b) => Number(a.byTask) - Number(b.byTask)).map((row) => [row.taskRunId, row]),
  );
  return { found: [...found.values()].map(toFound), notFound: ids.length - rows.length };
}

/** The newest task runs of these tasks. */
export async function selectNewest(
  db: Database,
  taskIds: readonly TaskId[],
): Promise<readonly FoundTaskRun[]> {
  return taskIds.length === 0 ? [] : (await selectByIds(db, taskIds)).found;
}

/** The tasks of a run, each with its newest task run. */
export async function selectInRun(
  db: Database,
  runId: RunId,
  after: string,
  limit: number,
): Promise<FoundBite> {
  const rows = await db.query(
    sql<FoundRow | { taskRunId: null; at: string }>("selectInRun")`
      SELECT t.id AS "taskRunId", t.task_id AS "taskId", t.run_id AS "runId", t.kind, t.queue, t.priority, t.status,
             true AS "byTask", k.id AS at
        FROM (SELECT id
                FROM signalbox.task
               WHERE run_id = ${runId} AND id > ${after}::uuid
               ORDER BY id
               LIMIT ${limit}) AS k
        LEFT JOIN LATERAL (
             SELECT * FROM signalbox.task_run WHERE task_id = k.id ORDER BY attempt DESC LIMIT 1) AS t ON true
       ORDER BY k.id
    `,
  );
  // One that has not begun has nothing to cancel and nothing to try again.
  const begun = rows.filter((row): row is FoundRow => row.taskRunId !== null);
  return { found: begun.map(toFound), next: placeAfter(rows, limit) };
}

export async function selectWaiting(db: Database, after: string, limit: number): Promise<FoundBite> {
  const statement = sql<FoundRow>("selectWaiting")`
    SELECT task_run_id AS "taskRunId", task_id AS "taskId", run_id AS "runId", kind, queue, priority, 'PENDING' AS status,
           true AS "byTask", task_run_id AS at
      FROM signalbox.waiting
     WHERE task_run_id > ${after}::uuid
     ORDER BY task_run_id
     LIMIT ${limit}
  `;
  return await bite(db, statement, limit);
}

/** Of one kind, or of all; `after` is the place of the last one, as JSON. */
export async function selectReady(
  db: Database,
  kind: string | null,
  after: string,
  limit: number,
): Promise<FoundBite> {
  const [lastKind, lastQueue, lastRules, lastPriority, lastAt, lastId] =
    after === FIRST_PLACE
      ? [kind ?? "", "", 0, -32_768, "-infinity", FIRST_PLACE]
      : (JSON.parse(after) as [string, string, number, number, string, string]);
  const statement = sql<FoundRow>("selectReady")`
    SELECT r.task_run_id AS "taskRunId", t.task_id AS "taskId", t.run_id AS "runId", r.kind, r.queue, r.priority,
           t.status,
           true AS "byTask", jsonb_build_array(r.kind, r.queue, r.rules_no, r.priority, r.available_at, r.task_run_id)::text AS at
      FROM (SELECT kind, queue, rules_no, priority, available_at, task_run_id
              FROM signalbox.ready
             WHERE (kind, queue, rules_no, priority, available_at, task_run_id)
                   > (${lastKind}, ${lastQueue}, ${lastRules}::integer, ${lastPriority}::smallint, ${lastAt}::timestamptz, ${lastId}::uuid)
               AND (${kind}::text IS NULL OR kind <= ${kind}::text)
             ORDER BY kind, queue, rules_no, priority, available_at, task_run_id
             LIMIT ${limit}) AS r
     CROSS JOIN LATERAL (SELECT * FROM signalbox.task_run WHERE id = r.task_run_id) AS t
     ORDER BY r.kind, r.queue, r.rules_no, r.priority, r.available_at, r.task_run_id
  `;
  return await bite(db, statement, limit);
}

/** By the batches in which they were claimed: `limit` counts batches, and a batch is what one claim took. */
export async function selectRunning(db: Database, after: string, limit: number): Promise<FoundBite> {
  const claimNo = after === FIRST_PLACE ? "0" : after;
  const rows = await db.query(
    sql<{ at: string; found: readonly FoundRow[] | null }>("selectRunning")`
      SELECT b.claim_no::text AS at,
             (SELECT jsonb_agg(jsonb_build_object('taskRunId', t.id, 'taskId', t.task_id, 'runId', t.run_id,
                                                  'kind', t.kind, 'queue', t.queue,
                                                  'priority', t.priority, 'status', t.status, 'byTask', true))
                FROM unnest(b.task_run_ids) AS g (id)
               CROSS JOIN LATERAL (SELECT * FROM signalbox.task_run WHERE task_run.id = g.id) AS t
               WHERE t.status = 'RUNNING') AS found
        FROM signalbox.claim_batch AS b
       WHERE b.claim_no > ${claimNo}::bigint
       ORDER BY b.claim_no
       LIMIT ${limit}
    `,
  );
  return { found: rows.flatMap(({ found }) => found ?? []).map(toFound), next: placeAfter(rows, limit) };
}

/** What was let go is in no batch. What an instance polls at this moment is in both. */
export async function selectLetGo(db: Database, after: string, limit: number): Promise<FoundBite> {
  const statement = sql<FoundRow>("selectLetGo")`
    SELECT t.id AS "taskRunId", t.task_id AS "taskId", t.run_id AS "runId", t.kind, t.queue, t.priority, t.status,
           true AS "byTask", j.task_run_id AS at
      FROM (SELECT task_run_id
              FROM signalbox.outside_job
             WHERE task_run_id > ${after}::uuid
             ORDER BY task_run_id
             LIMIT ${limit}) AS j
     CROSS JOIN LATERAL (SELECT * FROM signalbox.task_run WHERE id = j.task_run_id) AS t
     ORDER BY j.task_run_id
  `;
  return await bite(db, statement, limit);
}

/**
 * Of the task runs from one id up to before another: those that are the newest of their task and FAILED or CANCELED.
 * The others of the bite are left out.
 */
export async function selectEnded(
  db: Database,
  after: string,
  before: string,
  limit: number,
): Promise<FoundBite> {
  const rows = await db.query(
    sql<FoundRow & { ended: boolean }>("selectEnded")`
      SELECT t.id AS "taskRunId", t.task_id AS "taskId", t.run_id AS "runId", t.kind, t.queue, t.priority, t.status,
             true AS "byTask", t.id AS at,
             t.status IN ('FAILED', 'CANCELED')
               AND NOT EXISTS (SELECT FROM signalbox.task_run AS later
                                WHERE later.task_id = t.task_id AND later.attempt > t.attempt) AS ended
        FROM (SELECT *
                FROM signalbox.task_run
               WHERE id > ${after}::uuid AND id < ${before}::uuid
               ORDER BY id
               LIMIT ${limit}) AS t
       ORDER BY t.id
    `,
  );
  return { found: rows.filter(({ ended }) => ended).map(toFound), next: placeAfter(rows, limit) };
}

/** Tasks that are enqueued from now on have greater ids. */
export async function cutoffNow(db: Database): Promise<string> {
  const [row] = await db.query(sql<{ id: string }>("cutoffNow")`SELECT signalbox.new_id() AS id`);
  return row?.id ?? FIRST_PLACE;
}
