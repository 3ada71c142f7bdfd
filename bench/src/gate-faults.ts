/** Whether a limit was broken, by the stamps that the rows of a finished round carry. */

import type { Load } from "./contestants/contestant.ts";
import type { Database } from "./server.ts";

/** From claim to end: the hold is taken earlier and given back in the transaction of the end. */
const STAYS = `
  SELECT t.id, t.run_id, t.claimed_at, t.finished_at, k.version, k.concurrency_key, k.resources->0->>'name' AS resource
    FROM signalbox.task_run AS t JOIN signalbox.task AS k ON k.id = t.task_id`;

export async function gateFaults(database: Database, { runs, keyLimit }: Load): Promise<readonly string[]> {
  const [overlaps] = await database.query<{ shared: string; inverted: string }>(`
    WITH stay AS (${STAYS}), line AS (
      SELECT claimed_at, version, lag(finished_at) OVER w AS before, lag(version) OVER w AS smaller
        FROM stay WINDOW w AS (PARTITION BY resource ORDER BY claimed_at)
    )
    SELECT count(*) FILTER (WHERE before > claimed_at) AS shared, count(*) FILTER (WHERE smaller > version) AS inverted FROM line`);
  const faults = [
    ...over("shared a resource", overlaps?.shared),
    ...over("started before a smaller version", overlaps?.inverted),
  ];
  if (runs !== undefined) faults.push(...(await beyond(database, "run_id", runs.limit)));
  if (keyLimit !== undefined) faults.push(...(await beyond(database, "concurrency_key", keyLimit)));
  return faults;
}

function over(what: string, count: string | undefined): readonly string[] {
  return count === "0" ? [] : [`${count} ${what}`];
}

/** How many were at work at once, where it was most. */
async function beyond(database: Database, by: string, limit: number): Promise<readonly string[]> {
  const [row] = await database.query<{ most: string }>(`
    WITH stay AS (${STAYS}), edge AS (
      SELECT ${by} AS scope, claimed_at AS at, 1 AS step FROM stay
      UNION ALL
      SELECT ${by}, finished_at, -1 FROM stay
    ), level AS (SELECT sum(step) OVER (PARTITION BY scope ORDER BY at, step) AS used FROM edge)
    SELECT max(used) AS most FROM level`);
  const most = Number(row?.most);
  return most > limit ? [`${most} at once of one ${by}, limit ${limit}`] : [];
}
