/** What the gates look at of runs, queues and concurrency keys: limits, how many are active, free slots. */

import { asRunId, type RunId } from "../../domain/ids.ts";
import type { LimitSnapshot } from "../../domain/promotion-snapshot.ts";
import { type LimitScope, partsOf } from "../../domain/scope.ts";
import type { Database } from "../database.ts";
import { preparedSql } from "../sql.ts";

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
    preparedSql<{ scope: LimitScope; limit: number; active: string; freeSlots: readonly number[] }>(
      "loadLimits",
    )`
      SELECT g.scope, l.slot_limit AS "limit", used.active,
             CASE WHEN l.slot_limit = 0 OR used.top + ${wanted}::integer < l.slot_limit
                  THEN ARRAY(SELECT used.top + n FROM generate_series(1, ${wanted}::integer) AS n)
                  -- Not enough room behind the last one: those between, then those behind.
                  ELSE ARRAY(SELECT free.slot
                               FROM (SELECT hold.slot, lag(hold.slot, 1, -1) OVER (ORDER BY hold.slot) AS before
                                       FROM signalbox.hold
                                      WHERE hold.scope = g.scope) AS taken
                              CROSS JOIN LATERAL generate_series(taken.before + 1, least(taken.slot, l.slot_limit, taken.before + 1 + ${wanted}::integer) - 1)
                                    AS free (slot)
                              UNION ALL
                             SELECT slot FROM generate_series(used.top + 1, l.slot_limit - 1) AS free (slot)
                              LIMIT least(${wanted}, greatest(0, l.slot_limit - used.active)))
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
             -- Nobody counts where there is no limit; who holds the last slot is known at a glance.
             SELECT CASE WHEN l.slot_limit = 0 THEN 0
                         ELSE (SELECT count(*) FROM signalbox.hold WHERE hold.scope = g.scope) END AS active,
                    coalesce((SELECT max(slot) FROM signalbox.hold WHERE hold.scope = g.scope), -1) AS top
             OFFSET 0) AS used            -- so that they are counted once
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
    preparedSql<{ runId: string; available: string }>("countAvailable")`
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
