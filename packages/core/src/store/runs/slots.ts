import { asRunId, type RunId } from "../../domain/ids.ts";
import type { RunSnapshot } from "../../domain/promotion-snapshot.ts";
import type { Database } from "../database.ts";
import { sql } from "../sql.ts";

/** Limits of runs, how many of their task runs are active, and up to `wanted` free slots of each. */
export async function loadRuns(
  db: Database,
  runIds: readonly RunId[],
  wanted: number,
): Promise<ReadonlyMap<RunId, RunSnapshot>> {
  if (runIds.length === 0) return new Map();
  const rows = await db.query(
    sql<{ runId: string; limit: number; active: string; freeSlots: readonly number[] }>("loadRuns")`
      SELECT r.id AS "runId", r.task_limit AS "limit", used.active,
             CASE WHEN r.task_limit = 0
                  THEN ARRAY(SELECT used.top + n FROM generate_series(1, ${wanted}::integer) AS n)
                  -- Below the limit, and no further than needed: at most "active" of these slots are taken.
                  ELSE ARRAY(SELECT slot
                               FROM generate_series(0, least(r.task_limit, used.active + ${wanted})::integer - 1) AS slot
                              WHERE NOT EXISTS (SELECT FROM signalbox.hold
                                                 WHERE hold.scope = 'run:' || r.id AND hold.slot = slot.slot)
                              ORDER BY slot
                              LIMIT ${wanted})
             END AS "freeSlots"
        FROM signalbox.run AS r
       CROSS JOIN LATERAL (
             SELECT count(*) AS active, coalesce(max(slot), -1) AS top
               FROM signalbox.hold
              WHERE hold.scope = 'run:' || r.id) AS used
       WHERE r.id = ANY (${runIds}::uuid[])
    `,
  );
  return new Map(
    rows.map((row) => [
      asRunId(row.runId),
      { limit: row.limit, active: Number(row.active), freeSlots: row.freeSlots },
    ]),
  );
}
