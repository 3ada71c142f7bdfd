/** Resources as callers see them: who has each, who waits for it, and what was put on it. */

import { type Count, countUpTo } from "../../domain/count.ts";
import { asTaskId, asTaskRunId } from "../../domain/ids.ts";
import type { ResourceMode, ResourceName } from "../../domain/resource.ts";
import type {
  Holder,
  InLine,
  ResourceDetail,
  ResourceFilter,
  ResourcePage,
  ResourceView,
} from "../../domain/resource-view.ts";
import { resourceScope } from "../../domain/scope.ts";
import type { TaskRunStatus } from "../../domain/task-status.ts";
import type { Transaction } from "../database.ts";
import { loadRulesOn } from "../rules/on.ts";
import { sql } from "../sql.ts";
import { readClock } from "../task-runs/explain.ts";

const COUNTED_IN_LINE = 1_000;
const NAMED_IN_LIST = 5;
const NAMED_OF_ONE = 100;

/** By name. To be read by index, in a snapshot. */
export async function listResources(
  tx: Transaction,
  { search, limit, after }: Required<ResourceFilter>,
): Promise<ResourcePage> {
  const computedAt = await readClock(tx);
  const names = await findNames(tx, { search, limit: limit + 1, after });
  const page = names.slice(0, limit);
  return {
    computedAt,
    resources: await loadViews(tx, page, { named: NAMED_IN_LIST, now: computedAt }),
    next: names.length > limit ? (page.at(-1) ?? null) : null,
  };
}

/** Any name is a resource: one that nobody has named is free. */
export async function readResource(tx: Transaction, name: ResourceName): Promise<ResourceDetail> {
  const computedAt = await readClock(tx);
  const [view] = await loadViews(tx, [name], { named: NAMED_OF_ONE, now: computedAt });
  if (view === undefined) throw new Error(`${name} was asked for and not answered`);
  return { ...view, computedAt, line: await readLine(tx, name) };
}

/** From one name to the next that is in any of the tables: many rows of one resource are passed by in one step. */
async function findNames(
  tx: Transaction,
  { search, limit, after }: Required<ResourceFilter>,
): Promise<readonly ResourceName[]> {
  const rows = await tx.query(
    sql<{ name: string }>("findResourceNames")`
      WITH RECURSIVE names (name) AS (
        SELECT ${after}::text
        UNION ALL
        SELECT next.name
          FROM names AS n
         CROSS JOIN LATERAL (
               SELECT min(found.name) AS name
                 FROM ((SELECT u.name FROM signalbox.resource_use AS u
                         WHERE u.name > n.name AND u.name >= ${search}::text ORDER BY u.name LIMIT 1)
                       UNION ALL
                       (SELECT l.name FROM signalbox.line AS l
                         WHERE l.name > n.name AND l.name >= ${search}::text ORDER BY l.name LIMIT 1)
                       UNION ALL
                       (SELECT v.name FROM signalbox.open_version AS v
                         WHERE v.name > n.name AND v.name >= ${search}::text ORDER BY v.name LIMIT 1)
                       UNION ALL
                       (SELECT p.name FROM signalbox.pause AS p
                         WHERE p.over = 'resource' AND p.name > n.name AND p.name >= ${search}::text AND p.paused
                         ORDER BY p.name LIMIT 1)
                       UNION ALL
                       (SELECT w.name FROM signalbox.start_window AS w
                         WHERE w.over = 'resource' AND w.name > n.name AND w.name >= ${search}::text
                           AND w.windows <> '[]'::jsonb
                         ORDER BY w.name LIMIT 1)) AS found) AS next
         WHERE n.name IS NOT NULL
           -- In the order of their bytes those that begin alike stand together; by the rules of a language they need not.
           AND NOT ('B'::text < 'a'::text AND n.name > ${search}::text AND NOT starts_with(n.name, ${search}::text))
      )
      SELECT name
        FROM names
       WHERE name > ${after}::text AND starts_with(name, ${search}::text)
       LIMIT ${limit}
    `,
  );
  return rows.map(({ name }) => name);
}

async function loadViews(
  tx: Transaction,
  names: readonly ResourceName[],
  { named, now }: { readonly named: number; readonly now: Date },
): Promise<readonly ResourceView[]> {
  if (names.length === 0) return [];
  const uses = await loadUses(tx, names);
  const holders = await loadHolders(tx, names, named);
  const rulesOn = await loadRulesOn(tx, names.map(resourceScope), now);
  return uses.map(({ name, ...use }) => ({
    resource: name,
    ...rulesOn(resourceScope(name)),
    ...use,
    holders: holders.filter(({ resource }) => resource === name).map(({ holder }) => holder),
  }));
}

interface Use extends Pick<ResourceView, "holderCount" | "reservedFor"> {
  readonly name: ResourceName;
  readonly inLine: Count;
}

async function loadUses(tx: Transaction, names: readonly ResourceName[]): Promise<readonly Use[]> {
  const rows = await tx.query(
    sql<{ name: string; reservedFor: string | null; holderCount: number; inLine: number }>(
      "loadResourceUses",
    )`
      SELECT g.name, alone.reserved_for AS "reservedFor",
             coalesce(used.shared, 0) + CASE WHEN alone.task_run_id IS NULL THEN 0 ELSE 1 END AS "holderCount",
             (SELECT count(*)::integer
                FROM (SELECT FROM signalbox.line AS l WHERE l.name = g.name LIMIT ${COUNTED_IN_LINE + 1}) AS counted) AS "inLine"
        FROM unnest(${names}::text[]) WITH ORDINALITY AS g (name, nth)
        LEFT JOIN LATERAL (
             SELECT task_run_id, reserved_for FROM signalbox.hold WHERE scope = 'resource:' || g.name AND slot = 0 LIMIT 1
             ) AS alone ON true
        LEFT JOIN LATERAL (
             SELECT shared FROM signalbox.resource_use WHERE resource_use.name = g.name LIMIT 1) AS used ON true
       ORDER BY g.nth
    `,
  );
  return rows.map(({ name, reservedFor, holderCount, inLine }) => ({
    name,
    holderCount,
    inLine: countUpTo(COUNTED_IN_LINE, inLine),
    reservedFor: reservedFor === null ? null : asTaskId(reservedFor),
  }));
}

interface NamedRow {
  readonly taskRunId: string;
  readonly taskId: string;
  readonly title: string;
  readonly status: TaskRunStatus;
  readonly instanceName: string | null;
  readonly since: Date;
  readonly mode: ResourceMode;
}

async function loadHolders(
  tx: Transaction,
  names: readonly ResourceName[],
  named: number,
): Promise<readonly { readonly resource: ResourceName; readonly holder: Holder }[]> {
  const rows = await tx.query(
    sql<NamedRow & { resource: string }>("loadResourceHolders")`
      SELECT g.name AS resource, h.task_run_id AS "taskRunId", t.task_id AS "taskId", k.title, t.status,
             (SELECT name FROM signalbox.instance WHERE boot_id = t.claimed_by) AS "instanceName", h.since,
             CASE WHEN h.slot = 0 THEN 'exclusive' ELSE 'shared' END AS mode
        FROM unnest(${names}::text[]) AS g (name)
       CROSS JOIN LATERAL (
             SELECT slot, task_run_id, since
               FROM signalbox.hold
              WHERE scope = 'resource:' || g.name AND task_run_id IS NOT NULL
              ORDER BY slot
              LIMIT ${named}) AS h
        JOIN signalbox.task_run AS t ON t.id = h.task_run_id
        JOIN signalbox.task AS k ON k.id = t.task_id
       ORDER BY g.name, h.slot
    `,
  );
  return rows.map(({ resource, ...row }) => ({ resource, holder: withIds(row) }));
}

async function readLine(tx: Transaction, name: ResourceName): Promise<readonly InLine[]> {
  const rows = await tx.query(
    sql<NamedRow & { version: string | null }>("readLineOfResource")`
      SELECT l.task_run_id AS "taskRunId", t.task_id AS "taskId", k.title, t.status, NULL AS "instanceName",
             coalesce(w.blocked_since, l.enqueued_at) AS since, l.mode, array_to_string(l.version, '.') AS version
        FROM (SELECT task_run_id, priority, enqueued_at, mode, version
                FROM signalbox.line
               WHERE name = ${name}
               ORDER BY priority, enqueued_at, task_run_id
               LIMIT ${NAMED_OF_ONE}) AS l
        JOIN signalbox.task_run AS t ON t.id = l.task_run_id
        JOIN signalbox.task AS k ON k.id = t.task_id
        LEFT JOIN signalbox.waiting AS w ON w.task_run_id = l.task_run_id
       ORDER BY l.priority, l.enqueued_at, l.task_run_id
    `,
  );
  return rows.map(({ version, ...row }, index) => ({ ...withIds(row), position: index + 1, version }));
}

function withIds(row: NamedRow): Holder {
  return { ...row, taskRunId: asTaskRunId(row.taskRunId), taskId: asTaskId(row.taskId) };
}
