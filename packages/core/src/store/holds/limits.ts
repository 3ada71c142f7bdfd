/** What the gates look at of runs, queues and concurrency keys: limits, how many are active, free slots. */

import { freeSlotsOf } from "../../domain/free-slots.ts";
import { asRunId, type RunId } from "../../domain/ids.ts";
import type { LimitSnapshot } from "../../domain/promotion-snapshot.ts";
import { type LimitScope, partsOf } from "../../domain/scope.ts";
import type { Database } from "../database.ts";
import { preparedSql } from "../sql.ts";

/** A key that nobody has given a limit is held by one at a time. */
const LIMIT_OF_A_KEY = 1;

/** A limit and the slots that are taken, in order; of what has no limit (0) only the last one. */
export interface TakenSlots {
  readonly limit: number;
  readonly taken: readonly number[];
}

/** With as many free slots of each as are wanted there, or as there is room for. */
export function limitsOf(
  slots: ReadonlyMap<LimitScope, TakenSlots>,
  wantedOf: (scope: LimitScope) => number,
): ReadonlyMap<LimitScope, LimitSnapshot> {
  return new Map([...slots].map(([scope, each]) => [scope, limitOf(each, wantedOf(scope))]));
}

function limitOf({ limit, taken }: TakenSlots, wanted: number): LimitSnapshot {
  // Nobody counts where there is no limit.
  return { limit, active: limit === 0 ? 0 : taken.length, freeSlots: freeSlotsOf(limit, taken, wanted) };
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
      preparedSql<{ scope: LimitScope; limit: number | null; taken: readonly number[] }>("loadTakenSlots")`
        SELECT g.scope, l.slot_limit AS "limit",
               CASE WHEN l.slot_limit = 0
                    -- Who holds the last slot is known at a glance, however many there are.
                    THEN ARRAY(SELECT slot FROM signalbox.hold WHERE hold.scope = g.scope ORDER BY slot DESC LIMIT 1)
                    ELSE ARRAY(SELECT slot FROM signalbox.hold WHERE hold.scope = g.scope ORDER BY slot) END AS taken
          FROM unnest(${scopes}::text[], ${parts.map(({ over }) => over)}::text[],
                      ${parts.map(({ name }) => name)}::text[]) AS g (scope, over, name)
         CROSS JOIN LATERAL (
               SELECT task_limit AS slot_limit FROM signalbox.run WHERE g.over = 'run' AND run.id = g.name::uuid
               UNION ALL
               SELECT slot_limit FROM signalbox.queue WHERE g.over = 'queue' AND queue.name = g.name AND slot_limit > 0
               UNION ALL
               SELECT NULL WHERE g.over = 'key') AS l
      `,
    ),
    loadKeyLimits(db, keys),
  ]);
  return new Map(
    rows.map(({ scope, limit, taken }) => [
      scope,
      { limit: limit ?? limitOfKey(partsOf(scope).name), taken },
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
