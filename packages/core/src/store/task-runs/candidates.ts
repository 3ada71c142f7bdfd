/**
 * Which waiting task runs a promotion pass looks at: new ones, due ones, and the front of what is parked
 * at gates that were woken. Never the rest of the backlog, however long it is.
 */

import type { Candidate } from "../../domain/gates/gate.ts";
import { asRunId, asTaskId, asTaskRunId, type RunId, type TaskRunId } from "../../domain/ids.ts";
import type { Resource, ResourceMode, ResourceName } from "../../domain/resource.ts";
import type { WaitingCode } from "../../domain/waiting-cause.ts";
import type { Database } from "../database.ts";
import { sql } from "../sql.ts";

/** A candidate with where it is parked now. */
export interface WaitingCandidate extends Candidate {
  readonly blockedOn: WaitingCode | null;
  readonly blockedKey: string | null;
}

interface WaitingRow {
  readonly taskRunId: string;
  readonly taskId: string;
  readonly runId: string | null;
  readonly priority: number;
  /** Microseconds since 1970; `pg` gives a bigint as text. */
  readonly enqueuedUs: string;
  readonly runAt: Date | null;
  readonly version: string | null;
  readonly resources: readonly Resource[];
  readonly blockedOn: WaitingCode | null;
  readonly blockedKey: string | null;
}

function toCandidate(row: WaitingRow): WaitingCandidate {
  return {
    taskRunId: asTaskRunId(row.taskRunId),
    taskId: asTaskId(row.taskId),
    runId: row.runId === null ? null : asRunId(row.runId),
    priority: row.priority,
    enqueuedUs: Number(row.enqueuedUs),
    runAt: row.runAt,
    version: row.version,
    resources: row.resources,
    blockedOn: row.blockedOn,
    blockedKey: row.blockedKey,
  };
}

/** New rows first in line, and rows whose run time has come. */
export async function findNewAndDue(db: Database, limit: number): Promise<readonly TaskRunId[]> {
  const rows = await db.query(
    sql<{ taskRunId: string }>("findNewAndDue")`
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

/** What is parked under one woken key, in the order in which it may go. */
export interface ParkedFront {
  readonly key: string;
  readonly taskRunIds: readonly TaskRunId[];
  /** There is more behind the last one. */
  readonly goesOn: boolean;
}

export async function findParkedAtVersions(
  db: Database,
  resources: readonly ResourceName[],
  depth: number,
): Promise<readonly ParkedFront[]> {
  if (resources.length === 0) return [];
  const rows = await db.query(
    sql<ParkedRow>("findParkedAtVersions")`
      SELECT g.key, w.task_run_id AS "taskRunId", ${depth}::integer AS depth
        FROM unnest(${resources}::text[]) WITH ORDINALITY AS g (key, position)
       CROSS JOIN LATERAL (
             SELECT task_run_id, version, priority, enqueued_at
               FROM signalbox.waiting
              WHERE blocked_on = 'VERSION_ORDER' AND blocked_key = g.key
              ORDER BY version, priority, enqueued_at, task_run_id
              LIMIT ${depth + 1}) AS w
       ORDER BY g.position, w.version, w.priority, w.enqueued_at, w.task_run_id
    `,
  );
  return cutFronts(rows);
}

/** Twice as many as have room: some of those that find a slot are held up by a resource. */
export async function findParkedAtRuns(
  db: Database,
  runs: readonly RunId[],
  depth: number,
): Promise<readonly ParkedFront[]> {
  if (runs.length === 0) return [];
  const rows = await db.query(
    sql<ParkedRow>("findParkedAtRuns")`
      SELECT r.id::text AS key, w.task_run_id AS "taskRunId", room.depth
        FROM signalbox.run AS r
       CROSS JOIN LATERAL (
             SELECT CASE WHEN r.task_limit = 0 THEN ${depth}::integer
                         ELSE least(${depth}::integer, 2 * greatest(r.task_limit - count(*), 0))::integer END AS depth
               FROM signalbox.hold
              WHERE hold.scope = 'run:' || r.id) AS room
       CROSS JOIN LATERAL (
             SELECT task_run_id, priority, enqueued_at
               FROM signalbox.waiting
              WHERE blocked_on = 'RUN_LIMIT' AND blocked_key = r.id::text
              ORDER BY priority, enqueued_at, task_run_id
              LIMIT room.depth + 1) AS w
       WHERE r.id = ANY (${runs}::uuid[])
       ORDER BY r.id, w.priority, w.enqueued_at, w.task_run_id
    `,
  );
  return cutFronts(rows);
}

/**
 * Whom a free resource may let go: those parked under it, up to the first that wants it alone. Whoever stands in its
 * line and is parked under another resource is looked at when that one is free.
 */
export async function findParkedAtResources(
  db: Database,
  resources: readonly ResourceName[],
  depth: number,
): Promise<readonly ParkedFront[]> {
  if (resources.length === 0) return [];
  const rows = await db.query(
    sql<ParkedRow & { mode: ResourceMode }>("findParkedAtResources")`
      SELECT g.key, w.task_run_id AS "taskRunId", ${depth}::integer AS depth, w.mode
        FROM unnest(${resources}::text[]) WITH ORDINALITY AS g (key, position)
       CROSS JOIN LATERAL (
             SELECT task_run_id, priority, enqueued_at,
                    (SELECT mode FROM signalbox.line
                      WHERE line.name = g.key AND line.priority = waiting.priority
                        AND line.enqueued_at = waiting.enqueued_at AND line.task_run_id = waiting.task_run_id) AS mode
               FROM signalbox.waiting
              WHERE blocked_on = 'RESOURCE_BUSY' AND blocked_key = g.key
              ORDER BY priority, enqueued_at, task_run_id
              LIMIT ${depth + 1}) AS w
       ORDER BY g.position, w.priority, w.enqueued_at, w.task_run_id
    `,
  );
  return cutFronts(rows).map((front) => upToExclusive(front, rows));
}

function upToExclusive(
  front: ParkedFront,
  rows: readonly (ParkedRow & { readonly mode: ResourceMode })[],
): ParkedFront {
  const alone = rows.find(({ key, mode }) => key === front.key && mode === "exclusive");
  const end = alone === undefined ? -1 : front.taskRunIds.findIndex((id) => id === alone.taskRunId);
  if (end < 0 || end === front.taskRunIds.length - 1) return front;
  return { key: front.key, taskRunIds: front.taskRunIds.slice(0, end + 1), goesOn: true };
}

interface ParkedRow {
  readonly key: string;
  readonly taskRunId: string;
  readonly depth: number;
}

function cutFronts(rows: readonly ParkedRow[]): readonly ParkedFront[] {
  const byKey = new Map<string, { readonly depth: number; readonly ids: TaskRunId[] }>();
  for (const { key, taskRunId, depth } of rows) {
    const front = byKey.get(key) ?? { depth, ids: [] };
    front.ids.push(asTaskRunId(taskRunId));
    byKey.set(key, front);
  }
  return [...byKey].map(([key, { depth, ids }]) => ({
    key,
    taskRunIds: ids.slice(0, depth),
    goesOn: ids.length > depth,
  }));
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
  const rows = await db.query(
    sql<WaitingRow>("loadCandidates")`
      SELECT task_run_id AS "taskRunId", task_id AS "taskId", run_id AS "runId", priority,
             (extract(epoch FROM enqueued_at) * 1000000)::bigint AS "enqueuedUs",
             -- Rounded up to what a Date can hold, while "now" is rounded down: never a moment too early.
             date_trunc('milliseconds', run_at + interval '999 microseconds') AS "runAt",
             array_to_string(version, '.') AS version, resources,
             blocked_on AS "blockedOn", blocked_key AS "blockedKey"
        FROM signalbox.waiting
       WHERE task_run_id = ANY (${taskRunIds}::uuid[])
    `,
  );
  return rows.map(toCandidate);
}
