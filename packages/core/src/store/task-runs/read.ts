/** Task runs as callers see them. */

import { DEFAULT_PAGE } from "../../domain/filter.ts";
import { asInstanceId, asRunId, asTaskId, asTaskRunId, type TaskRunId } from "../../domain/ids.ts";
import type { TaskRun, TaskRunDetail, TaskRunFilter, TaskRunPage } from "../../domain/task-run.ts";
import { OPEN_STATUSES, type TaskRunStatus } from "../../domain/task-status.ts";
import type { Database } from "../database.ts";
import { preparedSql, sql } from "../sql.ts";

type Stored<Shape> = { [Key in keyof Shape]: Key extends "claimNo" ? string | null : Shape[Key] };

function toTaskRun(row: Stored<TaskRun>): TaskRun {
  return {
    ...row,
    taskRunId: asTaskRunId(row.taskRunId),
    taskId: asTaskId(row.taskId),
    runId: row.runId === null ? null : asRunId(row.runId),
    claimedBy: row.claimedBy === null ? null : asInstanceId(row.claimedBy),
    claimNo: row.claimNo === null ? null : Number(row.claimNo),
  };
}

export async function loadTaskRuns(db: Database, ids: readonly TaskRunId[]): Promise<readonly TaskRun[]> {
  if (ids.length === 0) return [];
  const rows = await db.query(
    // Not prepared: a plan that was made while tables were short would be kept.
    sql<Stored<TaskRun>>("loadTaskRuns")`
      SELECT t.id AS "taskRunId", t.task_id AS "taskId", t.run_id AS "runId", t.kind, t.queue, k.title, k.tags, t.attempt,
             greatest(t.attempt, (k.policy->>'attempts')::integer + t.interruptions) AS attempts, t.status, t.priority, t.run_at AS "runAt", array_to_string(k.version, '.') AS version, k.resources,
             k.concurrency_key AS "concurrencyKey", k.rate, w.blocked_on AS "blockedOn", t.enqueued_at AS "enqueuedAt", t.available_at AS "availableAt",
             t.claimed_at AS "claimedAt", t.claimed_by AS "claimedBy",
             (SELECT name FROM signalbox.instance WHERE boot_id = t.claimed_by) AS "instanceName",
             t.claim_no AS "claimNo", t.cancel_requested_at AS "cancelRequestedAt", t.finished_at AS "finishedAt",
             t.outcome, t.row_version AS "rowVersion"
        FROM signalbox.task_run AS t
        JOIN signalbox.task AS k ON k.id = t.task_id
        LEFT JOIN signalbox.waiting AS w ON w.task_run_id = t.id
       WHERE t.id = ANY (${ids}::uuid[])
       ORDER BY t.id DESC
    `,
  );
  return rows.map(toTaskRun);
}

export async function readTaskRun(db: Database, taskRunId: TaskRunId): Promise<TaskRunDetail | null> {
  const [taskRun] = await loadTaskRuns(db, [taskRunId]);
  if (taskRun === undefined) return null;
  const [more] = await db.query(
    preparedSql<Omit<TaskRunDetail, keyof TaskRun>>("readTaskRunDetail")`
      SELECT k.input,
             -- While it waits, what it has waited so far is kept there, also what it waited before a demotion.
             coalesce((SELECT signalbox.add_wait(waited, blocked_on, blocked_since)
                         FROM signalbox.waiting WHERE task_run_id = t.id),
                      -- Where an older instance promoted it, a row of its own says so.
                      t.waited, (SELECT waited FROM signalbox.wait_time WHERE task_run_id = t.id), '{}') AS "waitedMs",
             r.output, r.error, t.cancel_requested_by AS "cancelRequestedBy", t.cancel_reason AS "cancelReason"
        FROM signalbox.task_run AS t
        JOIN signalbox.task AS k ON k.id = t.task_id
        LEFT JOIN signalbox.task_run_result AS r ON r.task_run_id = t.id
       WHERE t.id = ${taskRunId}::uuid
    `,
  );
  return more === undefined ? null : { ...taskRun, ...more };
}

/** Newest first, or oldest where that is asked for. What is open is found in the work sets and what has failed by its error, so that a long history does not slow it down. */
export async function listTaskRuns(db: Database, filter: TaskRunFilter): Promise<TaskRunPage> {
  const size = filter.limit ?? DEFAULT_PAGE;
  const { ids, lookedTo } = await findIds(db, filter, size + 1);
  const page = ids.slice(0, size);
  const last = page.at(-1);
  const taskRuns = await loadTaskRuns(db, page);
  return {
    taskRuns: filter.order === "oldest" ? taskRuns.toReversed() : taskRuns,
    next: ids.length > size && last !== undefined ? last : lookedTo,
  };
}

interface FoundIds {
  readonly ids: readonly TaskRunId[];
  /** So far was looked, and there may be more behind it; null: to the end, or until there were enough. */
  readonly lookedTo: TaskRunId | null;
}

async function findIds(db: Database, filter: TaskRunFilter, limit: number): Promise<FoundIds> {
  const statuses = filter.status ?? null;
  if (filter.order === "oldest") return { ids: await findLongestWaiting(db, filter, limit), lookedTo: null };
  const onlyFailed = statuses?.length === 1 && statuses[0] === "FAILED";
  // Of one run there are few: it may have none of the last failures of all.
  if (onlyFailed && filter.runId === undefined) return await findFailed(db, filter, limit);
  const onlyOpen = statuses !== null && statuses.every((status) => OPEN_STATUSES.includes(status));
  const ids = onlyOpen
    ? await findOpen(db, statuses, filter, limit)
    : await findAny(db, statuses, filter, limit);
  return { ids, lookedTo: null };
}

interface Wanted {
  readonly before: string | null;
  readonly runId: string | null;
  readonly kind: string | null;
  readonly queue: string | null;
  readonly tag: string | null;
  readonly outcome: readonly string[] | null;
  readonly newest: boolean;
}

function wantedOf({ before, runId, kind, queue, tag, outcome, newest }: TaskRunFilter): Wanted {
  return {
    before: before ?? null,
    runId: runId ?? null,
    kind: kind ?? null,
    queue: queue ?? null,
    tag: tag ?? null,
    outcome: outcome ?? null,
    newest: newest ?? false,
  };
}

async function findLongestWaiting(
  db: Database,
  filter: TaskRunFilter,
  limit: number,
): Promise<readonly TaskRunId[]> {
  const wanted = wantedOf(filter);
  const rows = await db.query(
    sql<{ taskRunId: string }>("findLongestWaiting")`
      SELECT task_run_id AS "taskRunId"
        FROM signalbox.waiting
       WHERE task_run_id > coalesce(${wanted.before}::uuid, '00000000-0000-0000-0000-000000000000')
         AND (${wanted.runId}::uuid IS NULL OR run_id = ${wanted.runId}::uuid)
         AND (${wanted.kind}::text IS NULL OR kind = ${wanted.kind}::text)
         AND (${wanted.queue}::text IS NULL OR queue = ${wanted.queue}::text)
         AND ${wanted.outcome}::text[] IS NULL
         AND (${wanted.tag}::text IS NULL
              OR EXISTS (SELECT FROM signalbox.task WHERE task.id = task_id AND tags @> ARRAY[${wanted.tag}::text]))
       ORDER BY task_run_id
       LIMIT ${limit}
    `,
  );
  return rows.map(({ taskRunId }) => asTaskRunId(taskRunId));
}

/** So many failures are looked at for one page: of those that were tried again there may be any number in a row. */
const FAILURES_LOOKED_AT = 5_000;

/** Whoever fails leaves an error, in the same transaction. */
async function findFailed(db: Database, filter: TaskRunFilter, limit: number): Promise<FoundIds> {
  const wanted = wantedOf(filter);
  const rows = await db.query(
    sql<{ taskRunId: string | null; lookedTo: string | null }>("findFailedTaskRuns")`
      WITH looked AS MATERIALIZED (
        SELECT task_run_id
          FROM signalbox.task_run_result
         WHERE error IS NOT NULL
           AND task_run_id < coalesce(${wanted.before}::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
         ORDER BY task_run_id DESC
         LIMIT ${FAILURES_LOOKED_AT}
      )
      SELECT g.looked_to AS "lookedTo", failed.id AS "taskRunId"
        FROM (SELECT (SELECT task_run_id FROM looked OFFSET ${FAILURES_LOOKED_AT - 1} LIMIT 1) AS looked_to) AS g
        LEFT JOIN LATERAL (
             SELECT t.id
               FROM looked
              CROSS JOIN LATERAL (SELECT * FROM signalbox.task_run WHERE id = looked.task_run_id OFFSET 0) AS t
              WHERE t.status = 'FAILED'
                AND (${wanted.kind}::text IS NULL OR t.kind = ${wanted.kind}::text)
                AND (${wanted.queue}::text IS NULL OR t.queue = ${wanted.queue}::text)
                AND (${wanted.outcome}::text[] IS NULL OR t.outcome = ANY (${wanted.outcome}::text[]))
                AND (NOT ${wanted.newest}
                     OR NOT EXISTS (SELECT FROM signalbox.task_run AS later
                                     WHERE later.task_id = t.task_id AND later.attempt > t.attempt))
                AND (${wanted.tag}::text IS NULL
                     OR EXISTS (SELECT FROM signalbox.task WHERE task.id = t.task_id AND tags @> ARRAY[${wanted.tag}::text]))
              ORDER BY t.id DESC
              LIMIT ${limit}) AS failed ON true
       ORDER BY failed.id DESC
    `,
  );
  const lookedTo = rows[0]?.lookedTo ?? null;
  return {
    ids: rows.flatMap(({ taskRunId }) => (taskRunId === null ? [] : [asTaskRunId(taskRunId)])),
    lookedTo: lookedTo === null ? null : asTaskRunId(lookedTo),
  };
}

async function findOpen(
  db: Database,
  statuses: readonly TaskRunStatus[],
  filter: TaskRunFilter,
  limit: number,
): Promise<readonly TaskRunId[]> {
  const wanted = wantedOf(filter);
  const rows = await db.query(
    sql<{ taskRunId: string }>("findOpenTaskRuns")`
      SELECT t.id AS "taskRunId"
        FROM (SELECT task_run_id AS id FROM signalbox.waiting WHERE 'PENDING' = ANY (${statuses}::text[])
              UNION ALL
              SELECT task_run_id FROM signalbox.ready WHERE 'AVAILABLE' = ANY (${statuses}::text[])
              UNION ALL
              SELECT unnest(task_run_ids) FROM signalbox.claim_batch WHERE 'RUNNING' = ANY (${statuses}::text[])
              UNION ALL
              SELECT task_run_id FROM signalbox.outside_job WHERE 'RUNNING' = ANY (${statuses}::text[])) AS active
        JOIN signalbox.task_run AS t ON t.id = active.id
       WHERE t.status = ANY (${statuses}::text[])
         AND (${wanted.before}::uuid IS NULL OR t.id < ${wanted.before}::uuid)
         AND (${wanted.runId}::uuid IS NULL OR t.run_id = ${wanted.runId}::uuid)
         AND (${wanted.kind}::text IS NULL OR t.kind = ${wanted.kind}::text)
         AND (${wanted.queue}::text IS NULL OR t.queue = ${wanted.queue}::text)
         AND ${wanted.outcome}::text[] IS NULL            -- nobody open has ended
         AND (${wanted.tag}::text IS NULL
              OR EXISTS (SELECT FROM signalbox.task WHERE task.id = t.task_id AND tags @> ARRAY[${wanted.tag}::text]))
       GROUP BY t.id
       ORDER BY t.id DESC
       LIMIT ${limit}
    `,
  );
  return rows.map(({ taskRunId }) => asTaskRunId(taskRunId));
}

async function findAny(
  db: Database,
  statuses: readonly TaskRunStatus[] | null,
  filter: TaskRunFilter,
  limit: number,
): Promise<readonly TaskRunId[]> {
  const wanted = wantedOf(filter);
  const rows = await db.query(
    sql<{ taskRunId: string }>("findTaskRuns")`
      SELECT id AS "taskRunId"
        FROM signalbox.task_run AS t
       WHERE (${statuses}::text[] IS NULL OR status = ANY (${statuses}::text[]))
         AND (${wanted.before}::uuid IS NULL OR id < ${wanted.before}::uuid)
         AND (${wanted.runId}::uuid IS NULL OR run_id = ${wanted.runId}::uuid)
         AND (${wanted.kind}::text IS NULL OR kind = ${wanted.kind}::text)
         AND (${wanted.queue}::text IS NULL OR queue = ${wanted.queue}::text)
         AND (${wanted.outcome}::text[] IS NULL OR outcome = ANY (${wanted.outcome}::text[]))
         AND (NOT ${wanted.newest}
              OR NOT EXISTS (SELECT FROM signalbox.task_run AS later
                              WHERE later.task_id = t.task_id AND later.attempt > t.attempt))
         AND (${wanted.tag}::text IS NULL
              OR task_id IN (SELECT id FROM signalbox.task WHERE tags <> '{}' AND tags @> ARRAY[${wanted.tag}::text]))
       ORDER BY id DESC
       LIMIT ${limit}
    `,
  );
  return rows.map(({ taskRunId }) => asTaskRunId(taskRunId));
}
