/** Whether a limit was broken, by the stamps that the rows of a finished round carry. */

import type { Load } from "./contestants/contestant.ts";
import type { Database } from "./database.ts";

/**
 * From claim to end: the hold is taken earlier and given back in the transaction of the end. Only what was enqueued since
 * and has been claimed; one that has not ended stays for ever.
 */
const STAYS = `
  SELECT t.run_id, t.claimed_at, coalesce(t.finished_at, 'infinity') AS finished_at, k.version, k.concurrency_key,
         k.resources->0->>'name' AS resource
    FROM signalbox.task_run AS t JOIN signalbox.task AS k ON k.id = t.task_id
   WHERE t.enqueued_at >= $1::timestamptz AND t.claimed_at IS NOT NULL`;

export async function gateFaults(
  database: Database,
  { runLimit, keyLimit }: Pick<Load, "runLimit" | "keyLimit">,
  since: string,
): Promise<readonly string[]> {
  const [overlaps] = await database.query<{ shared: number; inverted: number }>(
    `WITH stay AS (${STAYS}), line AS (
       SELECT claimed_at, version, lag(finished_at) OVER w AS before, max(version) OVER (w ROWS UNBOUNDED PRECEDING) AS largest
         FROM stay WHERE resource IS NOT NULL WINDOW w AS (PARTITION BY resource ORDER BY claimed_at)
     )
     SELECT count(*) FILTER (WHERE before > claimed_at)::int AS shared,
            count(*) FILTER (WHERE largest > version)::int AS inverted FROM line`,
    [since],
  );
  return [
    ...over("shared a resource", overlaps?.shared ?? 0),
    ...over("started after a larger version", overlaps?.inverted ?? 0),
    ...(runLimit === undefined ? [] : await beyond(database, "run_id", runLimit, since)),
    ...(keyLimit === undefined ? [] : await beyond(database, "concurrency_key", keyLimit, since)),
  ];
}

function over(what: string, count: number): readonly string[] {
  return count === 0 ? [] : [`${count} ${what}`];
}

/** How many were at work at once, where it was most. */
async function beyond(
  database: Database,
  by: "run_id" | "concurrency_key",
  limit: number,
  since: string,
): Promise<readonly string[]> {
  const [row] = await database.query<{ most: number | null }>(
    `WITH stay AS (${STAYS}), edge AS (
       SELECT ${by} AS scope, claimed_at AS at, 1 AS step FROM stay WHERE ${by} IS NOT NULL
       UNION ALL
       SELECT ${by}, finished_at, -1 FROM stay WHERE ${by} IS NOT NULL
     ), level AS (SELECT sum(step) OVER (PARTITION BY scope ORDER BY at, step ROWS UNBOUNDED PRECEDING) AS used FROM edge)
     SELECT max(used)::int AS most FROM level`,
    [since],
  );
  const most = row?.most ?? 0;
  return most > limit ? [`${most} at once of one ${by}, limit ${limit}`] : [];
}
