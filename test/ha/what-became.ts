/** Questions about what became of task runs and of who ran them, asked of the database. */

import type { Instance } from "./instance.ts";
import type { Rig } from "./rig.ts";
import { until } from "./until.ts";

const WITHIN_MS = 60_000;

interface Running {
  readonly instance: Instance;
  readonly ran: readonly string[];
}

export async function someoneWhoRuns(rig: Rig, taskRunIds: readonly string[]): Promise<Running> {
  return await until("an instance runs some of them", async () => await whoRuns(rig, taskRunIds), {
    withinMs: WITHIN_MS,
    everyMs: 10,
  });
}

/**
 * Who runs the most of them now, and which. Not only by the database: an instance that has not seen the answer to its
 * claim has not begun.
 */
export async function whoRuns(rig: Rig, taskRunIds: readonly string[]): Promise<Running | null> {
  const { rows } = await rig.db.query<{ bootId: string; ran: string[] }>(
    `SELECT claimed_by AS "bootId", array_agg(id ORDER BY id) AS ran FROM signalbox.task_run
      WHERE id = ANY ($1::uuid[]) AND status = 'RUNNING'
      GROUP BY claimed_by ORDER BY count(*) DESC LIMIT 1`,
    [taskRunIds],
  );
  const [found] = rows;
  if (found === undefined) return null;
  const instance = rig.cluster.ofBootId(found.bootId);
  const claims = (await instance.list())?.claims ?? {};
  return found.ran.every((taskRunId) => taskRunId in claims) ? { instance, ran: found.ran } : null;
}

interface NextAttempt {
  readonly taskRunId: string;
  readonly status: string;
}

/** Null while one of them has not ended LEASE_LOST and got a next attempt. */
export async function rescued(
  rig: Rig,
  taskRunIds: readonly string[],
): Promise<readonly NextAttempt[] | null> {
  const { rows } = await rig.db.query<NextAttempt>(
    `SELECT later.id AS "taskRunId", later.status
       FROM signalbox.task_run AS t
       JOIN signalbox.task_run AS later ON later.task_id = t.task_id AND later.attempt = t.attempt + 1
      WHERE t.id = ANY ($1::uuid[]) AND t.outcome = 'LEASE_LOST'`,
    [taskRunIds],
  );
  return rows.length === taskRunIds.length ? rows : null;
}

/** Null while one of them has no next attempt that has ended. */
export async function nextAttempts(
  rig: Rig,
  taskRunIds: readonly string[],
): Promise<readonly NextAttempt[] | null> {
  const next = await rescued(rig, taskRunIds);
  return next?.every(({ status }) => ["DONE", "FAILED", "CANCELED"].includes(status)) ? next : null;
}

export async function isDead(rig: Rig, bootId: string): Promise<boolean> {
  const { rows } = await rig.db.query<{ state: string }>(
    "SELECT state FROM signalbox.instance WHERE boot_id = $1",
    [bootId],
  );
  return rows[0]?.state === "DEAD";
}

export async function hasDone(rig: Rig, bootId: string): Promise<boolean> {
  const { rowCount } = await rig.db.query(
    "SELECT FROM signalbox.task_run WHERE claimed_by = $1 AND status = 'DONE' LIMIT 1",
    [bootId],
  );
  return rowCount === 1;
}
