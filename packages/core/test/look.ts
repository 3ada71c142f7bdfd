/** Short looks at the database that many tests of rules need. */

import type { Fixture } from "./fixture.ts";

/** How many task runs of a queue are in which status. */
export async function statusesIn(box: Fixture, queue: string): Promise<Record<string, number>> {
  const rows = await box.query<{ status: string; count: number }>(
    "SELECT status, count(*)::integer AS count FROM signalbox.task_run WHERE queue = $1 GROUP BY status ORDER BY status",
    [queue],
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

/** "QUEUE_LIMIT mail": the gate and the key under which a task run is parked; null where no pass has looked. */
export async function parkingIn(box: Fixture, taskRunId: string): Promise<string | null> {
  return await box.value<string | null>(
    "SELECT blocked_on || ' ' || blocked_key FROM signalbox.waiting WHERE task_run_id = $1",
    [taskRunId],
  );
}

/** Who holds slots of a scope. */
export async function holdersIn(box: Fixture, scope: string): Promise<readonly string[]> {
  const rows = await box.query<{ id: string }>(
    "SELECT task_run_id AS id FROM signalbox.hold WHERE scope = $1 ORDER BY slot",
    [scope],
  );
  return rows.map(({ id }) => id);
}
