/** Whether everything has come to its end: no open task run, and nothing left in any table of what is active. */

import type pg from "pg";
import { until } from "./until.ts";

/** Rows by what they are. A count that is not 0 is something left over. */
export type Leftovers = Readonly<Record<string, number>>;

const LEFT = {
  "open task runs": "FROM signalbox.task_run WHERE status IN ('PENDING', 'AVAILABLE', 'RUNNING')",
  "open runs": "FROM signalbox.run WHERE status = 'RUNNING'",
  waiting: "FROM signalbox.waiting",
  ready: "FROM signalbox.ready",
  line: "FROM signalbox.line",
  hold: "FROM signalbox.hold",
  "resources in use": "FROM signalbox.resource_use WHERE exclusive <> 0 OR shared <> 0",
  open_version: "FROM signalbox.open_version",
  gate_wake: "FROM signalbox.gate_wake",
  claim_batch: "FROM signalbox.claim_batch",
  outside_job: "FROM signalbox.outside_job",
  queue_deadline: "FROM signalbox.queue_deadline",
} as const;

/**
 * Resolves once everything has ended. Whatever is open moves all the time; where it does not, a wake was lost: the
 * slow sweep would find it one day, and hide the mistake.
 */
export async function drain(
  db: pg.Pool | pg.Client,
  { withinMs, standsStillMs }: { readonly withinMs: number; readonly standsStillMs: number },
): Promise<void> {
  let movedAtMs = performance.now();
  const leftovers = async (): Promise<readonly string[]> => findLeftovers(await readLeftovers(db));
  const describe = async (): Promise<string> =>
    `${(await leftovers()).join(", ")}\n${await describeOpen(db)}`;
  await until(
    "everything has ended",
    async () => {
      if ((await leftovers()).length === 0) return true;
      if ((await countMoving(db)) > 0) movedAtMs = performance.now();
      if (performance.now() - movedAtMs < standsStillMs) return false;
      throw new Error(`Nothing moves any more: ${await describe()}`);
    },
    { withinMs, instead: describe },
  );
}

export async function readLeftovers(db: pg.Pool | pg.Client): Promise<Leftovers> {
  const columns = Object.entries(LEFT).map(
    ([name, from]) => `(SELECT count(*) ${from})::integer AS "${name}"`,
  );
  const { rows } = await db.query<Leftovers>(`SELECT ${columns.join(", ")}`);
  if (rows[0] === undefined) throw new Error("The leftovers were not counted");
  return rows[0];
}

/** Empty: drained. */
export function findLeftovers(leftovers: Leftovers): readonly string[] {
  return Object.entries(leftovers)
    .filter(([, count]) => count !== 0)
    .map(([name, count]) => `${count} in ${name}`);
}

/** The oldest open task runs and where they stand, for the message of a test that does not end. */
async function describeOpen(db: pg.Pool | pg.Client): Promise<string> {
  const { rows } = await db.query<{ text: string }>(`
    SELECT format('%s attempt %s %s, parked at %s %s since %s, claimed by %s (%s until %s), run %s, wants %s, version %s', t.id,
                  t.attempt, t.status, w.blocked_on, w.blocked_key, w.blocked_since, t.claimed_by, i.state, i.expires_at,
                  t.run_id, k.resources,
                  k.version) AS text
      FROM signalbox.task_run AS t
      JOIN signalbox.task AS k ON k.id = t.task_id
      LEFT JOIN signalbox.waiting AS w ON w.task_run_id = t.id
      LEFT JOIN signalbox.instance AS i ON i.boot_id = t.claimed_by
     WHERE t.status IN ('PENDING', 'AVAILABLE', 'RUNNING')
     ORDER BY t.id LIMIT 10`);
  return rows.map(({ text }) => text).join("\n");
}

/** What can still move by itself: it runs, may be claimed, or waits for its time. */
async function countMoving(db: pg.Pool | pg.Client): Promise<number> {
  const { rows } = await db.query<{ count: number }>(`
    SELECT (SELECT count(*) FROM signalbox.task_run AS t
             WHERE t.status IN ('AVAILABLE', 'RUNNING'))::integer
         + (SELECT count(*) FROM signalbox.waiting AS w
             WHERE w.run_at > clock_timestamp() - interval '2 s')::integer AS count`);
  return rows[0]?.count ?? 0;
}

/** S15: what was answered as enqueued is there. */
export function findLostTasks(
  acknowledged: readonly string[],
  there: ReadonlySet<string>,
): readonly string[] {
  return acknowledged
    .filter((taskRunId) => !there.has(taskRunId))
    .map((taskRunId) => `S15: task run ${taskRunId} was answered as enqueued and is not there`);
}
