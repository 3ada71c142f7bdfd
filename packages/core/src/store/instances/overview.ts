import type { Overview } from "../../domain/task-run.ts";
import type { Database } from "../database.ts";
import { sql } from "../sql.ts";
import { readInstances } from "./read.ts";

/** Gates with an index of their own, and those that share one: a count goes by an index and ends at its bound. */
type Alone = "RUN_AT" | "VERSION_ORDER" | "NOT_EVALUATED";
// As a record, so that a new cause that is not counted does not compile.
const PARKED_TOGETHER: Readonly<Record<Exclude<keyof Overview["waiting"], Alone>, true>> = {
  STOPPED: true,
  PAUSED: true,
  NO_EXECUTOR: true,
  WINDOW: true,
  OUT_OF_ORDER: true,
  RUN_LIMIT: true,
  QUEUE_LIMIT: true,
  KEY_LIMIT: true,
  FAIR_SHARE: true,
  RATE_LIMIT: true,
  RESOURCE_BUSY: true,
};

/** Counts come from the work sets, which hold only what is open. Each goes up to `countUpTo` and no further. */
export async function readOverview(db: Database, countUpTo: number): Promise<Overview> {
  const waiting = await db.query(
    sql<{ cause: keyof Overview["waiting"]; count: string }>("countWaiting")`
      SELECT 'NOT_EVALUATED' AS cause, count(*)
        FROM (SELECT FROM signalbox.waiting WHERE blocked_on IS NULL LIMIT ${countUpTo}) AS counted
      UNION ALL
      SELECT 'RUN_AT', count(*) FROM (SELECT FROM signalbox.waiting WHERE blocked_on = 'RUN_AT' LIMIT ${countUpTo}) AS counted
      UNION ALL
      SELECT 'VERSION_ORDER', count(*)
        FROM (SELECT FROM signalbox.waiting WHERE blocked_on = 'VERSION_ORDER' LIMIT ${countUpTo}) AS counted
      UNION ALL
      SELECT g.cause, parked.count
        FROM unnest(${Object.keys(PARKED_TOGETHER)}::text[]) AS g (cause)
       CROSS JOIN LATERAL (
             SELECT count(*)
               FROM (SELECT FROM signalbox.waiting
                      WHERE blocked_on = g.cause AND blocked_on NOT IN ('RUN_AT', 'VERSION_ORDER')
                      LIMIT ${countUpTo}) AS counted) AS parked
    `,
  );
  const [now] = await db.query(
    sql<{ computedAt: Date; timeline: number; available: string; letGo: string }>("countReady")`
      SELECT clock_timestamp() AS "computedAt", signalbox.current_timeline() AS timeline,
             (SELECT count(*) FROM (SELECT FROM signalbox.ready LIMIT ${countUpTo}) AS counted) AS available,
             (SELECT count(*) FROM (SELECT FROM signalbox.outside_job WHERE next_poll_at < 'infinity' LIMIT ${countUpTo}) AS counted)
             AS "letGo"
    `,
  );
  const instances = await readInstances(db);
  return {
    computedAt: now?.computedAt ?? new Date(0),
    timeline: now?.timeline ?? 0,
    countedUpTo: countUpTo,
    waiting: Object.fromEntries(
      waiting.flatMap(({ cause, count }) => (count === "0" ? [] : [[cause, Number(count)]])),
    ),
    available: Number(now?.available ?? 0),
    // What an outside job goes on with is nobody's, or is polled by somebody at this moment.
    running: instances.reduce((sum, { view, polls }) => sum + view.running + polls, Number(now?.letGo ?? 0)),
    instances: instances.map(({ view }) => view),
  };
}
