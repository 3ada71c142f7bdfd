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
  // Each by one look at its index for all names, and only what is there comes back: most resources are held by nobody.
  const [lines, holders, sharers, lowest, done] = await Promise.all([
    loadLines(db, names),
    loadHolders(db, names),
    loadSharers(db, names),
    loadLowestVersions(db, names),
    loadDoneVersions(db, names),
  ]);
  return new Map(
    names.map((name) => {
      const { exclusiveHolder, reservedFor } = holders.get(name) ?? NO_HOLDER;
      const { sharedCount, sharedHolders, nextSharedSlot } = sharers.get(name) ?? NO_SHARERS;
      const { line, lineGoesOn, exclusiveGoesOn } = lines.get(name) ?? EMPTY_LINE;
      const lowestOpenVersion = lowest.get(name) ?? null;
      const doneVersion = done.get(name) ?? null;
      const resource: ResourceSnapshot = {
        exclusiveHolder,
        reservedFor,
        sharedCount,
        sharedHolders,
        nextSharedSlot,
        line,
        lineGoesOn,
        exclusiveGoesOn,
        lowestOpenVersion,
        doneVersion,
      };
      return [name, resource];
    }),
  );
}

type Holder = Pick<ResourceSnapshot, "exclusiveHolder" | "reservedFor">;
const NO_HOLDER: Holder = { exclusiveHolder: null, reservedFor: null };

async function loadHolders(
  db: Database,
  names: readonly ResourceName[],
): Promise<ReadonlyMap<ResourceName, Holder>> {
  const rows = await db.query(
    preparedSql<{ name: string; taskRunId: string | null; reservedFor: string | null }>("loadHolders")`
      SELECT substr(scope, length('resource:') + 1) AS name, task_run_id AS "taskRunId",
             CASE WHEN task_run_id IS NULL THEN reserved_for END AS "reservedFor"
        FROM signalbox.hold
       WHERE scope = ANY (ARRAY(SELECT 'resource:' || name FROM unnest(${names}::text[]) AS name)) AND slot = 0
    `,
  );
  return new Map(
    rows.map(({ name, taskRunId, reservedFor }) => [
      name,
      {
        exclusiveHolder: taskRunId === null ? null : asTaskRunId(taskRunId),
        reservedFor: reservedFor === null ? null : asTaskId(reservedFor),
      },
    ]),
  );
}

type Sharers = Pick<ResourceSnapshot, "sharedCount" | "sharedHolders" | "nextSharedSlot">;
const NO_SHARERS: Sharers = { sharedCount: 0, sharedHolders: [], nextSharedSlot: 1 };

async function loadSharers(
  db: Database,
  names: readonly ResourceName[],
): Promise<ReadonlyMap<ResourceName, Sharers>> {
  const rows = await db.query(
    preparedSql<Omit<Sharers, "sharedHolders"> & { name: string; sharedHolders: readonly string[] }>(
      "loadSharers",
    )`
      SELECT name, shared AS "sharedCount",
             ARRAY(SELECT task_run_id
                     FROM signalbox.hold
                    WHERE scope = 'resource:' || used.name AND slot > 0
                    ORDER BY slot
                    LIMIT ${NAMED_SHARERS}) AS "sharedHolders",
             (SELECT max(slot) FROM signalbox.hold WHERE scope = 'resource:' || used.name) + 1 AS "nextSharedSlot"
        FROM signalbox.resource_use AS used
       WHERE name = ANY (${names}::text[]) AND shared > 0
    `,
  );
  return new Map(
    rows.map(({ name, sharedHolders, ...counts }) => [
      name,
      { ...counts, sharedHolders: sharedHolders.map(asTaskRunId) },
    ]),
  );
}

async function loadLowestVersions(
  db: Database,
  names: readonly ResourceName[],
): Promise<ReadonlyMap<ResourceName, NonNullable<ResourceSnapshot["lowestOpenVersion"]>>> {
  const rows = await db.query(
    preparedSql<{ name: string; version: string; taskRunId: string }>("loadLowestVersions")`
      SELECT g.name, array_to_string(lowest.version, '.') AS version, lowest.task_run_id AS "taskRunId"
        FROM unnest(${names}::text[]) AS g (name)
       CROSS JOIN LATERAL (
             SELECT version, task_run_id
               FROM signalbox.open_version
              WHERE open_version.name = g.name
              ORDER BY version, task_run_id
              LIMIT 1) AS lowest
    `,
  );
  return new Map(
    rows.map(({ name, version, taskRunId }) => [name, { version, taskRunId: asTaskRunId(taskRunId) }]),
  );
}

async function loadDoneVersions(
  db: Database,
  names: readonly ResourceName[],
): Promise<ReadonlyMap<ResourceName, string>> {
  const rows = await db.query(
    preparedSql<{ name: string; version: string }>("loadDoneVersions")`
      SELECT name, array_to_string(version, '.') AS version FROM signalbox.done_version WHERE name = ANY (${names}::text[])
    `,
  );
  return new Map(rows.map(({ name, version }) => [name, version]));
}

type LineFront = Pick<ResourceSnapshot, "line" | "lineGoesOn" | "exclusiveGoesOn">;
const EMPTY_LINE: LineFront = { line: [], lineGoesOn: false, exclusiveGoesOn: false };

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
  return { line: entries.map(toLineEntry), lineGoesOn: goesOn, exclusiveGoesOn: goesOn && hasExclusive };
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
