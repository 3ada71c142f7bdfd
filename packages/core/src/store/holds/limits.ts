/** What the gates look at of runs, queues and concurrency keys: limits, how many are active, free slots. */

import { freeSlotsOf } from "../../domain/free-slots.ts";
import { asRunId, type RunId } from "../../domain/ids.ts";
import type { LimitSnapshot } from "../../domain/promotion-snapshot.ts";
import { type LimitScope, partsOf } from "../../domain/scope.ts";
import type { Database } from "../database.ts";
import { preparedSql } from "../sql.ts";

/** A key that nobody has given a limit is held by one at a time. */
const LIMIT_OF_A_KEY = 1;

/** So many taken slots are read, and what is free is worked out from them. Of more the server says what is free. */
const LISTED_SLOTS = 1_000;

export interface TakenSlots {
  /** 0: none. */
  readonly limit: number;
  /** Nobody counts where there is no limit. */
  readonly active: number;
  /** In order; of what has no limit only the last one. Null: too many to be read. */
  readonly taken: readonly number[] | null;
}

/** With as many free slots of each as are wanted there, or as there is room for. */
export async function loadFreeSlots(
  db: Database,
  slots: ReadonlyMap<LimitScope, TakenSlots>,
  wantedOf: (scope: LimitScope) => number,
): Promise<ReadonlyMap<LimitScope, LimitSnapshot>> {
  const unread = [...slots].flatMap(([scope, { limit, active, taken }]) =>
    taken === null ? [{ scope, limit, active, wanted: wantedOf(scope) }] : [],
  );
  const free = await findFreeSlots(db, unread);
  return new Map(
    [...slots].map(([scope, { limit, active, taken }]) => [
      scope,
      {
        limit,
        active,
        freeSlots: taken === null ? (free.get(scope) ?? []) : freeSlotsOf(limit, taken, wantedOf(scope)),
      },
    ]),
  );
}

async function findFreeSlots(
  db: Database,
  unread: readonly {
    readonly scope: LimitScope;
    readonly limit: number;
    readonly active: number;
    readonly wanted: number;
  }[],
): Promise<ReadonlyMap<LimitScope, readonly number[]>> {
  if (unread.length === 0) return new Map();
  const rows = await db.query(
    preparedSql<{ scope: LimitScope; freeSlots: readonly number[] }>("findFreeSlots")`
      SELECT g.scope,
             CASE WHEN used.top + g.wanted < g.slot_limit
                  THEN ARRAY(SELECT used.top + n FROM generate_series(1, g.wanted) AS n)
                  -- Not enough room behind the last one: those between, then those behind.
                  ELSE ARRAY(SELECT free.slot
                               FROM (SELECT hold.slot, lag(hold.slot, 1, -1) OVER (ORDER BY hold.slot) AS before
                                       FROM signalbox.hold
                                      WHERE hold.scope = g.scope) AS taken
                              CROSS JOIN LATERAL generate_series(taken.before + 1, least(taken.slot, g.slot_limit, taken.before + 1 + g.wanted) - 1)
                                    AS free (slot)
                              UNION ALL
                             SELECT slot FROM generate_series(used.top + 1, g.slot_limit - 1) AS free (slot)
                              LIMIT least(g.wanted, greatest(0, g.slot_limit - g.active)))
             END AS "freeSlots"
        FROM unnest(${unread.map(({ scope }) => scope)}::text[], ${unread.map(({ limit }) => limit)}::integer[],
                    ${unread.map(({ active }) => active)}::integer[], ${unread.map(({ wanted }) => wanted)}::integer[])
             AS g (scope, slot_limit, active, wanted)
       CROSS JOIN LATERAL (SELECT max(slot) AS top FROM signalbox.hold WHERE hold.scope = g.scope) AS used
    `,
  );
  return new Map(rows.map(({ scope, freeSlots }) => [scope, freeSlots]));
}

/** A queue without a limit is left out: nothing is counted there. */
export async function loadTakenSlots(
  db: Database,
  scopes: readonly LimitScope[],
): Promise<ReadonlyMap<LimitScope, TakenSlots>> {
  if (scopes.length === 0) return new Map();
  const parts = scopes.map(partsOf);
  const keys = parts.flatMap(({ over, name }) => (over === "key" ? [name] : []));
  const [rows, limitOfKey] = await Promise.all([
    db.query(
      preparedSql<{
        scope: LimitScope;
        limit: number | null;
        active: number;
        taken: readonly number[] | null;
      }>("loadTakenSlots")`
        SELECT g.scope, l.slot_limit AS "limit",
               CASE WHEN l.slot_limit = 0 THEN 0
                    WHEN cardinality(t.slots) <= ${LISTED_SLOTS} THEN cardinality(t.slots)
                    ELSE (SELECT count(*)::integer FROM signalbox.hold WHERE hold.scope = g.scope) END AS active,
               CASE WHEN cardinality(t.slots) <= ${LISTED_SLOTS} THEN t.slots END AS taken
          FROM unnest(${scopes}::text[], ${parts.map(({ over }) => over)}::text[],
                      ${parts.map(({ name }) => name)}::text[]) AS g (scope, over, name)
         CROSS JOIN LATERAL (
               SELECT task_limit AS slot_limit FROM signalbox.run WHERE g.over = 'run' AND run.id = g.name::uuid
               UNION ALL
               SELECT slot_limit FROM signalbox.queue WHERE g.over = 'queue' AND queue.name = g.name AND slot_limit > 0
               UNION ALL
               SELECT NULL WHERE g.over = 'key') AS l
         CROSS JOIN LATERAL (
               SELECT CASE WHEN l.slot_limit = 0
                           -- Who holds the last slot is known at a glance, however many there are.
                           THEN ARRAY(SELECT slot FROM signalbox.hold WHERE hold.scope = g.scope ORDER BY slot DESC LIMIT 1)
                           ELSE ARRAY(SELECT slot FROM signalbox.hold WHERE hold.scope = g.scope ORDER BY slot
                                       LIMIT ${LISTED_SLOTS + 1}) END AS slots
               OFFSET 0) AS t              -- so that they are read once
      `,
    ),
    loadKeyLimits(db, keys),
  ]);
  return new Map(
    rows.map(({ scope, limit, active, taken }) => [
      scope,
      { limit: limit ?? limitOfKey(partsOf(scope).name), active, taken },
    ]),
  );
}

/** Answers the limit of a key: its own, or that of the narrowest group it belongs to. */
async function loadKeyLimits(db: Database, keys: readonly string[]): Promise<(key: string) => number> {
  if (keys.length === 0) return () => LIMIT_OF_A_KEY;
  const names = [...new Set(keys.flatMap((key) => [key, ...groupsOf(key)]))];
  const rows = await db.query(
    preparedSql<{ key: string; limit: number }>("loadKeyLimits")`
      SELECT concurrency_key AS key, slot_limit AS "limit" FROM signalbox.key_limit WHERE concurrency_key = ANY (${names}::text[])
    `,
  );
  const limits = new Map(rows.map(({ key, limit }) => [key, limit]));
  return (key) => {
    const named = limits.size === 0 ? undefined : [key, ...groupsOf(key)].find((name) => limits.has(name));
    return (named === undefined ? undefined : limits.get(named)) ?? LIMIT_OF_A_KEY;
  };
}

/** The narrowest first: "customer:eu:*" before "customer:*". */
function groupsOf(key: string): readonly string[] {
  const groups: string[] = [];
  for (let at = key.lastIndexOf(":"); at >= 0; at = at === 0 ? -1 : key.lastIndexOf(":", at - 1))
    groups.push(`${key.slice(0, at + 1)}*`);
  return groups;
}

/**
 * How many task runs of each run are AVAILABLE; there are never many more than the fair share. Left out where the run's own limit
 * is at most `uncounted`: so many cannot be AVAILABLE there.
 */
export async function countAvailable(
  db: Database,
  runIds: readonly RunId[],
  uncounted = 0,
): Promise<ReadonlyMap<RunId, number>> {
  if (runIds.length === 0) return new Map();
  const rows = await db.query(
    preparedSql<{ runId: string; available: string }>("countAvailable")`
      SELECT g.id AS "runId",
             (SELECT count(*)
                FROM signalbox.hold AS h
               WHERE h.scope = 'run:' || g.id
                 AND (SELECT status FROM signalbox.task_run AS t WHERE t.id = h.task_run_id) = 'AVAILABLE') AS available
        FROM unnest(${runIds}::uuid[]) AS g (id)
       WHERE NOT EXISTS (SELECT FROM signalbox.run WHERE run.id = g.id AND run.task_limit BETWEEN 1 AND ${uncounted})
    `,
  );
  return new Map(rows.map(({ runId, available }) => [asRunId(runId), Number(available)]));
}
