/** Runs as callers see them. */

import { DEFAULT_PAGE } from "../../domain/filter.ts";
import { asRunId, type RunId } from "../../domain/ids.ts";
import { RUN_STATUSES, type Run, type RunDetail, type RunFilter, type RunPage } from "../../domain/run.ts";
import type { TaskRunStatus } from "../../domain/task-status.ts";
import type { Transaction } from "../database.ts";
import { sql } from "../sql.ts";

type StoredRun = Omit<Run, "runId" | "paused"> & {
  readonly runId: string;
  readonly pausedSince: Date | null;
  readonly pausedBy: string | null;
  readonly pauseReason: string | null;
};

function toRun({ runId, pausedSince, pausedBy, pauseReason, ...run }: StoredRun): Run {
  return {
    ...run,
    runId: asRunId(runId),
    paused: pausedSince === null ? null : { since: pausedSince, by: pausedBy, reason: pauseReason },
  };
}

async function loadRuns(tx: Transaction, runIds: readonly RunId[]): Promise<readonly Run[]> {
  if (runIds.length === 0) return [];
  const rows = await tx.query(
    sql<StoredRun>("loadRuns")`
      SELECT r.id AS "runId", r.title, r.status, r.task_limit AS "limit", r.open_tasks AS "openTasks",
             r.failed_tasks AS "failedTasks", r.canceled_tasks AS "canceledTasks", r.created_at AS "createdAt",
             r.finished_at AS "finishedAt", r.row_version AS "rowVersion",
             p.since AS "pausedSince", p.changed_by AS "pausedBy", p.reason AS "pauseReason"
        FROM signalbox.run AS r
        LEFT JOIN signalbox.pause AS p ON p.over = 'run' AND p.name = r.id::text AND p.paused
       WHERE r.id = ANY (${runIds}::uuid[])
       ORDER BY r.id DESC
    `,
  );
  return rows.map(toRun);
}

/** In a snapshot: its own counters and the count of its tasks must agree. Null: there is no such run. */
export async function readRun(tx: Transaction, runId: RunId): Promise<RunDetail | null> {
  const [run] = await loadRuns(tx, [runId]);
  return run === undefined ? null : { ...run, tasks: await countTasks(tx, runId) };
}

/** Reads one run's tasks and no others, each by one look at an index: fractions of a second for 100,000 of them. */
async function countTasks(tx: Transaction, runId: RunId): Promise<RunDetail["tasks"]> {
  const rows = await tx.query(
    sql<{ status: TaskRunStatus; count: number }>("countTasksOfRun")`
      SELECT newest.status, count(*)::integer AS count
        FROM signalbox.task AS k
       CROSS JOIN LATERAL (
             SELECT t.status FROM signalbox.task_run AS t WHERE t.task_id = k.id ORDER BY t.attempt DESC LIMIT 1) AS newest
       WHERE k.run_id = ${runId}
       GROUP BY newest.status
    `,
  );
  const counted = Object.fromEntries(rows.map(({ status, count }) => [status, count]));
  return { PENDING: 0, AVAILABLE: 0, RUNNING: 0, DONE: 0, FAILED: 0, CANCELED: 0, ...counted };
}

/** Newest first; in a snapshot, so that none of them has another status by the time that it is read. */
export async function listRuns(tx: Transaction, filter: RunFilter): Promise<RunPage> {
  const size = filter.limit ?? DEFAULT_PAGE;
  const ids = await findRuns(tx, filter, size + 1);
  const page = ids.slice(0, size);
  return { runs: await loadRuns(tx, page), next: ids.length > size ? (page.at(-1) ?? null) : null };
}

const LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

async function findRuns(tx: Transaction, filter: RunFilter, limit: number): Promise<readonly RunId[]> {
  const statuses = new Set(filter.status ?? RUN_STATUSES);
  const rows = await tx.query(
    sql<{ runId: string }>("findRuns")`
      SELECT r.id AS "runId"
        FROM unnest(${[...statuses]}::text[]) AS g (status)
       CROSS JOIN LATERAL (             -- each status from its newest on: a long history of another is not passed by
             SELECT id
               FROM signalbox.run
              WHERE run.status = g.status AND id < coalesce(${filter.before ?? null}::uuid, ${LAST_ID}::uuid)
              ORDER BY id DESC
              LIMIT ${limit}) AS r
       ORDER BY r.id DESC
       LIMIT ${limit}
    `,
  );
  return rows.map(({ runId }) => asRunId(runId));
}
