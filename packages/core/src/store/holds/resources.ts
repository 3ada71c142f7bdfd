/** What the gates look at of resources: holders, the front of the line, the smallest open version. */

import type { LineEntry } from "../../domain/gates/gate.ts";
import { asTaskId, asTaskRunId } from "../../domain/ids.ts";
import type { ResourceSnapshot } from "../../domain/promotion-snapshot.ts";
import type { ResourceMode, ResourceName } from "../../domain/resource.ts";
import type { Database } from "../database.ts";
import { preparedSql } from "../sql.ts";

/** How far into a line of sharers one look goes; whoever stands behind is seen by the next. */
export const LINE_DEPTH = 32;
/** How many of those that share a resource are named. */
const NAMED_SHARERS = 5;

export async function loadResources(
  db: Database,
  names: readonly ResourceName[],
): Promise<ReadonlyMap<ResourceName, ResourceSnapshot>> {
  if (names.length === 0) return new Map();
  const [lines, rows] = await Promise.all([loadLines(db, names), loadUse(db, names)]);
  return new Map(rows.map((row) => [row.name, toSnapshot(row, lines.get(row.name) ?? EMPTY_LINE)]));
}

async function loadUse(db: Database, names: readonly ResourceName[]): Promise<readonly ResourceRow[]> {
  return await db.query(
    preparedSql<ResourceRow>("loadResources")`
      SELECT g.name, alone.task_run_id AS "exclusiveHolder",
             CASE WHEN alone.task_run_id IS NULL THEN alone.reserved_for END AS "reservedFor",
             coalesce(used.shared, 0) AS "sharedCount",
             -- Nobody shares most of them: no search for each then.
             CASE WHEN used.shared > 0
                  THEN ARRAY(SELECT task_run_id
                               FROM signalbox.hold
                              WHERE scope = 'resource:' || g.name AND slot > 0
                              ORDER BY slot
                              LIMIT ${NAMED_SHARERS})
                  ELSE '{}' END AS "sharedHolders",
             CASE WHEN used.shared > 0
                  THEN (SELECT max(slot) FROM signalbox.hold WHERE scope = 'resource:' || g.name)
                  ELSE 0 END + 1 AS "nextSharedSlot",
             array_to_string(lowest.version, '.') AS "lowestVersion", lowest.task_run_id AS "lowestTaskRunId",
             (SELECT array_to_string(version, '.') FROM signalbox.done_version WHERE done_version.name = g.name) AS "doneVersion"
        FROM unnest(${names}::text[]) AS g (name)
        -- With a limit it stays a search for each name. Without one the planner may compare each name with each hold.
        LEFT JOIN LATERAL (
             SELECT task_run_id, reserved_for FROM signalbox.hold WHERE scope = 'resource:' || g.name AND slot = 0 LIMIT 1
             ) AS alone ON true
        LEFT JOIN LATERAL (
             SELECT shared FROM signalbox.resource_use WHERE resource_use.name = g.name LIMIT 1) AS used ON true
        LEFT JOIN LATERAL (
             SELECT version, task_run_id
               FROM signalbox.open_version
              WHERE open_version.name = g.name
              ORDER BY version, task_run_id
              LIMIT 1) AS lowest ON true
    `,
  );
}

interface ResourceRow {
  readonly name: string;
  readonly exclusiveHolder: string | null;
  readonly reservedFor: string | null;
  readonly sharedCount: number;
  readonly sharedHolders: readonly string[];
  readonly nextSharedSlot: number;
  readonly lowestVersion: string | null;
  readonly lowestTaskRunId: string | null;
  readonly doneVersion: string | null;
}

interface LineFront {
  readonly line: readonly LineEntry[];
  readonly goesOn: boolean;
  readonly exclusiveGoesOn: boolean;
}
const EMPTY_LINE: LineFront = { line: [], goesOn: false, exclusiveGoesOn: false };

function toSnapshot(row: ResourceRow, front: LineFront): ResourceSnapshot {
  const { lowestVersion, lowestTaskRunId } = row;
  return {
    exclusiveHolder: row.exclusiveHolder === null ? null : asTaskRunId(row.exclusiveHolder),
    reservedFor: row.reservedFor === null ? null : asTaskId(row.reservedFor),
    sharedHolders: row.sharedHolders.map(asTaskRunId),
    sharedCount: row.sharedCount,
    nextSharedSlot: row.nextSharedSlot,
    line: front.line,
    lineGoesOn: front.goesOn,
    exclusiveGoesOn: front.exclusiveGoesOn,
    lowestOpenVersion:
      lowestVersion === null || lowestTaskRunId === null
        ? null
        : { version: lowestVersion, taskRunId: asTaskRunId(lowestTaskRunId) },
    doneVersion: row.doneVersion,
  };
}

/**
 * The front of each line: up to and with the first that wants the resource alone and that nobody behind it can go
 * before. One with a version is not such a one: who has a smaller version does not wait for it, but may have to wait
 * for the next. The first that wants it alone is looked up where it stands further back.
 */
export async function loadLines(
  db: Database,
  names: readonly ResourceName[],
): Promise<ReadonlyMap<ResourceName, LineFront>> {
  const rows = await db.query(
    preparedSql<LineRow>("loadLines")`
      SELECT g.name, l.task_run_id AS "taskRunId", l.priority, l.mode, array_to_string(l.version, '.') AS version,
             (extract(epoch FROM l.enqueued_at) * 1000000)::bigint AS "enqueuedUs", l.in_sight AS "inSight"
        FROM unnest(${names}::text[]) AS g (name)
       CROSS JOIN LATERAL (
             (SELECT task_run_id, priority, enqueued_at, mode, version, in_sight
                FROM (SELECT task_run_id, priority, enqueued_at, mode, version, count(*) OVER () AS in_sight,
                             count(*) FILTER (WHERE mode = 'exclusive' AND (version IS NULL OR priority < 0))
                               OVER (ORDER BY priority, enqueued_at, task_run_id
                                     ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS exclusive_ahead
                        FROM (SELECT task_run_id, priority, enqueued_at, mode, version
                                FROM signalbox.line
                               WHERE line.name = g.name
                               ORDER BY priority, enqueued_at, task_run_id
                               LIMIT ${LINE_DEPTH + 1}) AS front) AS counted
               WHERE exclusive_ahead = 0)
             UNION ALL
             (SELECT task_run_id, priority, enqueued_at, mode, version, NULL
                FROM signalbox.line
               WHERE line.name = g.name AND line.mode = 'exclusive'
               ORDER BY priority, enqueued_at, task_run_id
               LIMIT 1)) AS l
       ORDER BY g.name, l.priority, l.enqueued_at, l.task_run_id, l.in_sight NULLS LAST
    `,
  );
  return new Map([...groupByName(rows)].map(([name, entries]) => [name, toFront(entries)]));
}

function toFront(rows: readonly LineRow[]): LineFront {
  // The first exclusive one comes twice where it is in sight.
  const entries = rows.filter((row, index) => row.taskRunId !== rows[index - 1]?.taskRunId);
  const inSight = Math.max(0, ...rows.map((row) => Number(row.inSight ?? 0)));
  const goesOn = inSight > LINE_DEPTH || inSight > entries.filter((row) => row.inSight !== null).length;
  const hasExclusive = entries.some(({ mode }) => mode === "exclusive");
  return { line: entries.map(toLineEntry), goesOn, exclusiveGoesOn: goesOn && hasExclusive };
}

interface LineRow {
  readonly name: string;
  readonly taskRunId: string;
  readonly priority: number;
  readonly mode: ResourceMode;
  readonly version: string | null;
  readonly enqueuedUs: string;
  /** How many were counted in the front; null: looked up behind it. */
  readonly inSight: string | null;
}

function toLineEntry(row: LineRow): LineEntry {
  return {
    taskRunId: asTaskRunId(row.taskRunId),
    priority: row.priority,
    enqueuedUs: Number(row.enqueuedUs),
    mode: row.mode,
    version: row.version,
  };
}

function groupByName(rows: readonly LineRow[]): ReadonlyMap<ResourceName, readonly LineRow[]> {
  const groups = new Map<ResourceName, LineRow[]>();
  for (const row of rows) {
    const group = groups.get(row.name);
    if (group === undefined) groups.set(row.name, [row]);
    else group.push(row);
  }
  return groups;
}
