/** Whether a process had more at work than it has slots, and whether each call was recorded: by the stamps of the rows. */

import type { Database } from "./database.ts";

export interface WorkedOff {
  readonly slots: number;
  /** Only what was claimed from then on, by the database's clock. */
  readonly since: string;
  /** How often a handler was called. */
  readonly calls: number;
}

/** A stay lasts from the claim to the end; one that has not ended lasts for ever. */
export async function stayFaults(
  database: Database,
  { slots, since, calls }: WorkedOff,
): Promise<readonly string[]> {
  const [row] = await database.query<{ most: number | null; done: number }>(
    `WITH stay AS (
       SELECT claimed_by, claimed_at, coalesce(finished_at, 'infinity') AS finished_at, status
         FROM signalbox.task_run WHERE claimed_at >= $1::timestamptz
     ), edge AS (
       SELECT claimed_by, claimed_at AS at, 1 AS step FROM stay
       UNION ALL
       SELECT claimed_by, finished_at, -1 FROM stay
     ), level AS (SELECT sum(step) OVER (PARTITION BY claimed_by ORDER BY at, step ROWS UNBOUNDED PRECEDING) AS used FROM edge)
     SELECT (SELECT max(used)::int FROM level) AS most, (SELECT count(*)::int FROM stay WHERE status = 'DONE') AS done`,
    [since],
  );
  const most = row?.most ?? 0;
  const done = row?.done ?? 0;
  return [
    ...(most > slots ? [`${most} were RUNNING at once on ${slots} slots`] : []),
    ...(done === calls ? [] : [`${calls} were called and ${done} are DONE`]),
  ];
}
