import type { Overview } from "../../domain/task-run.ts";
import type { Database } from "../database.ts";
import { sql } from "../sql.ts";
import { readInstances } from "./read.ts";

/** Counts come from the work sets, which hold only what is open. */
export async function readOverview(db: Database): Promise<Overview> {
  const waiting = await db.query(
    sql<{ cause: keyof Overview["waiting"]; count: string }>("countWaiting")`
      SELECT coalesce(blocked_on, 'NOT_EVALUATED') AS cause, count(*) FROM signalbox.waiting GROUP BY 1 ORDER BY 1
    `,
  );
  const [now] = await db.query(
    sql<{ computedAt: Date; available: string; letGo: string }>("countReady")`
      SELECT clock_timestamp() AS "computedAt", (SELECT count(*) FROM signalbox.ready) AS available,
             (SELECT count(*) FROM signalbox.outside_job WHERE next_poll_at < 'infinity') AS "letGo"
    `,
  );
  const instances = await readInstances(db);
  return {
    computedAt: now?.computedAt ?? new Date(0),
    waiting: Object.fromEntries(waiting.map(({ cause, count }) => [cause, Number(count)])),
    available: Number(now?.available ?? 0),
    // What an outside job goes on with is nobody's, or is polled by somebody at this moment.
    running: instances.reduce((sum, { view, polls }) => sum + view.running + polls, Number(now?.letGo ?? 0)),
    instances: instances.map(({ view }) => view),
  };
}
