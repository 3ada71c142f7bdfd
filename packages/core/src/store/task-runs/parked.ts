/** The fronts of what is parked at gates that were woken, each in the order in which it may go. */

import { asTaskRunId, type TaskRunId } from "../../domain/ids.ts";
import type { ParkedFront } from "../../domain/promotion-wakes.ts";
import type { ResourceMode, ResourceName } from "../../domain/resource.ts";
import type { Parking, WaitingCode } from "../../domain/waiting-cause.ts";
import type { Database } from "../database.ts";
import { preparedSql } from "../sql.ts";

/**
 * Those of the smallest version that is parked under each resource: who has a larger one waits for their end. Nobody where a smaller
 * one is still open, whose end leaves a wake of its own, unless a larger one is DONE: then it can never start.
 */
export async function findParkedAtVersions(
  db: Database,
  resources: readonly ResourceName[],
  depth: number,
): Promise<readonly ParkedFront[]> {
  if (resources.length === 0) return [];
  const rows = await db.query(
    preparedSql<ParkedRow>("findParkedAtVersions")`
      SELECT g.key, w.task_run_id AS "taskRunId"
        FROM unnest(${resources}::text[]) WITH ORDINALITY AS g (key, position)
       CROSS JOIN LATERAL (
             SELECT version
               FROM signalbox.waiting
              WHERE blocked_on = 'VERSION_ORDER' AND blocked_key = g.key
              ORDER BY version
              LIMIT 1) AS smallest
       CROSS JOIN LATERAL (
             SELECT task_run_id, priority, enqueued_at
               FROM signalbox.waiting
              WHERE blocked_on = 'VERSION_ORDER' AND blocked_key = g.key AND version = smallest.version
              ORDER BY priority, enqueued_at, task_run_id
              LIMIT ${depth + 1}) AS w
       WHERE smallest.version <= greatest(
               (SELECT version FROM signalbox.open_version WHERE name = g.key ORDER BY version LIMIT 1),
               (SELECT version FROM signalbox.done_version WHERE name = g.key))
       ORDER BY g.position, w.priority, w.enqueued_at, w.task_run_id
    `,
  );
  return cutFronts(rows, () => ({ blockedOn: "VERSION_ORDER", depth }));
}

/** A gate's key with how many of those parked there are worth a look. */
export interface ParkedAt extends Parking {
  readonly depth: number;
}

export async function findParked(
  db: Database,
  parkings: readonly ParkedAt[],
): Promise<readonly ParkedFront[]> {
  if (parkings.length === 0) return [];
  const rows = await db.query(
    preparedSql<ParkedRow & { gate: WaitingCode; depth: number }>("findParked")`
      SELECT g.gate, g.key, w.task_run_id AS "taskRunId", g.depth
        FROM unnest(${parkings.map(({ blockedOn }) => blockedOn)}::text[],
                    ${parkings.map(({ blockedKey }) => blockedKey)}::text[],
                    ${parkings.map(({ depth }) => depth)}::integer[])
             WITH ORDINALITY AS g (gate, key, depth, position)
       CROSS JOIN LATERAL (
             SELECT task_run_id, priority, enqueued_at
               FROM signalbox.waiting
              WHERE blocked_on = g.gate AND blocked_key = g.key
                AND blocked_on NOT IN ('RUN_AT', 'VERSION_ORDER')
              ORDER BY priority, enqueued_at, task_run_id
              LIMIT g.depth + 1) AS w
       ORDER BY g.position, w.priority, w.enqueued_at, w.task_run_id
    `,
  );
  return cutFronts(rows, ({ gate, depth }) => ({ blockedOn: gate, depth }));
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
    preparedSql<ParkedRow & { mode: ResourceMode }>("findParkedAtResources")`
      SELECT g.key, w.task_run_id AS "taskRunId", w.mode
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
  const wantAlone = new Set(
    rows.filter(({ mode }) => mode === "exclusive").map(({ taskRunId }) => taskRunId),
  );
  return cutFronts(rows, () => ({ blockedOn: "RESOURCE_BUSY", depth })).map((front) =>
    upToExclusive(front, wantAlone),
  );
}

function upToExclusive(front: ParkedFront, wantAlone: ReadonlySet<string>): ParkedFront {
  const end = front.taskRunIds.findIndex((id) => wantAlone.has(id));
  if (end < 0 || end === front.taskRunIds.length - 1) return front;
  return { ...front, taskRunIds: front.taskRunIds.slice(0, end + 1), goesOn: true };
}

interface ParkedRow {
  readonly key: string;
  readonly taskRunId: string;
}

interface Look {
  readonly blockedOn: WaitingCode;
  readonly depth: number;
}

/** Those of one gate and key come one after the other. */
function cutFronts<Row extends ParkedRow>(
  rows: readonly Row[],
  lookOf: (row: Row) => Look,
): readonly ParkedFront[] {
  const fronts: (Look & { readonly blockedKey: string; readonly ids: TaskRunId[] })[] = [];
  for (const row of rows) {
    const look = lookOf(row);
    const last = fronts.at(-1);
    if (last?.blockedKey === row.key && last.blockedOn === look.blockedOn)
      last.ids.push(asTaskRunId(row.taskRunId));
    else fronts.push({ ...look, blockedKey: row.key, ids: [asTaskRunId(row.taskRunId)] });
  }
  return fronts.map(({ blockedOn, blockedKey, ids, depth }) => ({
    blockedOn,
    blockedKey,
    taskRunIds: ids.slice(0, depth),
    goesOn: ids.length > depth,
  }));
}
