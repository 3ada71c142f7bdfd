/** What the gates look at of runs, queues and concurrency keys: limits, how many are active, free slots. */

import { asRunId, type RunId } from "../../domain/ids.ts";
import type { LimitSnapshot } from "../../domain/promotion-snapshot.ts";
import { type LimitScope, partsOf } from "../../domain/scope.ts";
import type { Database } from "../database.ts";
import { sql } from "../sql.ts";

/** A key that nobody has given a limit is held by one at a time. */
const LIMIT_OF_A_KEY = 1;

/** Up to `wanted` free slots of each. A queue without a limit is left out: nothing is counted there. */
export async function loadLimits(
  db: Database,
  scopes: readonly LimitScope[],
  wanted: number,
): Promise<ReadonlyMap<LimitScope, LimitSnapshot>> {
  if (scopes.length === 0) return new Map();
  const parts = scopes.map(partsOf);
  const rows = await db.query(
    sql<{ scope: LimitScope; limit: number; active: string; freeSlots: readonly number[] }>("loadLimits")`
      SELECT g.scope, l.slot_limit AS "limit", used.active,
             CASE WHEN l.slot_limit = 0
                  THEN ARRAY(SELECT used.top + n FROM generate_series(1, ${wanted}::integer) AS n)
                  -- Below the limit, and no further than needed: at most "active" of these slots are taken.
                  ELSE ARRAY(SELECT slot
                               FROM generate_series(0, least(l.slot_limit, used.active + ${wanted})::integer - 1) AS slot
                              WHERE NOT EXISTS (SELECT FROM signalbox.hold
                                                 WHERE hold.scope = g.scope AND hold.slot = slot.slot)
                              ORDER BY slot
                              LIMIT ${wanted})
             END AS "freeSlots"
        FROM unnest(${scopes}::text[], ${parts.map(({ over }) => over)}::text[],
                    ${parts.map(({ name }) => name)}::text[]) AS g (scope, over, name)
       CROSS JOIN LATERAL (
             SELECT task_limit AS slot_limit FROM signalbox.run WHERE g.over = 'run' AND run.id = g.name::uuid
             UNION ALL
             SELECT slot_limit FROM signalbox.queue WHERE g.over = 'queue' AND queue.name = g.name AND slot_limit > 0
             UNION ALL
             SELECT coalesce((SELECT slot_limit FROM signalbox.key_limit WHERE concurrency_key = g.name),
                             -- Of the narrowest group it belongs to: "customer:eu:*" before "customer:*".
                             (SELECT slot_limit FROM signalbox.key_limit
                               WHERE concurrency_key = ANY (ARRAY(
                                       SELECT left(g.name, length) || '*' FROM generate_series(1, length(g.name)) AS length
                                        WHERE substr(g.name, length, 1) = ':'))
                               ORDER BY length(concurrency_key) DESC
                               LIMIT 1),
                             ${LIMIT_OF_A_KEY})
              WHERE g.over = 'key') AS l
       CROSS JOIN LATERAL (
             SELECT count(*) AS active, coalesce(max(slot), -1) AS top
               FROM signalbox.hold
              WHERE hold.scope = g.scope) AS used
    `,
  );
  return new Map(
    rows.map(({ scope, limit, active, freeSlots }) => [scope, { limit, active: Number(active), freeSlots }]),
  );
}

/** How many task runs of each run are AVAILABLE; there are never many more than the fair share. */
export async function countAvailable(
  db: Database,
  runIds: readonly RunId[],
): Promise<ReadonlyMap<RunId, number>> {
  if (runIds.length === 0) return new Map();
  const rows = await db.query(
    sql<{ runId: string; available: string }>("countAvailable")`
      SELECT g.id AS "runId",
             (SELECT count(*)
                FROM signalbox.hold AS h
               WHERE h.scope = 'run:' || g.id
                 AND (SELECT status FROM signalbox.task_run AS t WHERE t.id = h.task_run_id) = 'AVAILABLE') AS available
        FROM unnest(${runIds}::uuid[]) AS g (id)
    `,
  );
  return new Map(rows.map(({ runId, available }) => [asRunId(runId), Number(available)]));
}
