/**
 * Queues as callers see them: those with rules, and those with open work. There is no index that begins with a queue but the
 * one of `ready`, so of what waits or runs only so much is looked at, and the answer says so.
 */

import { type Count, countUpTo } from "../../domain/count.ts";
import type { QueueList, QueueView } from "../../domain/queue-view.ts";
import { type QueueName, queueScope } from "../../domain/scope.ts";
import type { Transaction } from "../database.ts";
import { loadRulesOn } from "../rules/on.ts";
import { sql } from "../sql.ts";
import { readClock } from "../task-runs/explain.ts";

/** Task runs that are looked at, of those that wait and of those that run. */
const LOOKED_AT = 20_000;
/** Of each kind in each queue so many are counted. */
const COUNTED_OF_KIND = 1_000;
/** So many kinds of work in so many queues are looked for. */
const KINDS_IN_QUEUES = 1_000;

type Counts = ReadonlyMap<QueueName, Count>;

interface Counted {
  readonly counts: Counts;
  /** There is more than what was looked at, perhaps in other queues. */
  readonly cut: boolean;
}

/** By name, up to `most`. To be read by index, in a snapshot. */
export async function listQueues(tx: Transaction, most: number): Promise<QueueList> {
  const computedAt = await readClock(tx);
  const ruled = await findRuled(tx, most + 1);
  const waiting = await countWaiting(tx);
  const available = await countAvailable(tx);
  const running = await countRunning(tx);
  const worked = [waiting, available, running].flatMap(({ counts }) => [...counts.keys()]);
  const names = [...new Set([...ruled, ...worked])].toSorted(byCodeUnits);
  const shown = names.slice(0, most);
  const settings = await loadSettings(tx, shown);
  const rulesOn = await loadRulesOn(tx, shown.map(queueScope), computedAt);
  const queues = shown.map(
    (queue): QueueView => ({
      queue,
      ...(settings.get(queue) ?? { limit: 0, weight: 1 }),
      ...rulesOn(queueScope(queue)),
      waiting: countIn(waiting, queue),
      available: countIn(available, queue),
      running: countIn(running, queue),
    }),
  );
  const someCut = [waiting, available, running].some(({ cut }) => cut);
  return { computedAt, queues, cut: someCut || names.length > most };
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function countIn({ counts, cut }: Counted, queue: QueueName): Count {
  return counts.get(queue) ?? { count: 0, atLeast: cut };
}

async function findRuled(tx: Transaction, limit: number): Promise<readonly QueueName[]> {
  const rows = await tx.query(
    sql<{ queue: string }>("findRuledQueues")`
      (SELECT name AS queue FROM signalbox.queue WHERE slot_limit > 0 OR weight <> 1 ORDER BY name LIMIT ${limit})
      UNION
      (SELECT name FROM signalbox.pause WHERE over = 'queue' AND paused ORDER BY name LIMIT ${limit})
      UNION
      (SELECT name FROM signalbox.start_window WHERE over = 'queue' AND windows <> '[]'::jsonb ORDER BY name LIMIT ${limit})
    `,
  );
  return rows.map(({ queue }) => queue);
}

/** The oldest of all that waits. */
async function countWaiting(tx: Transaction): Promise<Counted> {
  const rows = await tx.query(
    sql<{ queue: string; count: number }>("countWaitingInQueues")`
      SELECT queue, count(*)::integer AS count
        FROM (SELECT queue FROM signalbox.waiting ORDER BY task_run_id LIMIT ${LOOKED_AT + 1}) AS looked
       GROUP BY queue
    `,
  );
  const looked = rows.reduce((sum, { count }) => sum + count, 0);
  return { ...toCounted(rows, looked > LOOKED_AT) };
}

function toCounted(
  rows: readonly { readonly queue: string; readonly count: number }[],
  cut: boolean,
): Counted {
  return { counts: new Map(rows.map(({ queue, count }) => [queue, { count, atLeast: cut }])), cut };
}

/** From one kind in one queue to the next by the index, and of each as many as are counted. */
async function countAvailable(tx: Transaction): Promise<Counted> {
  const rows = await tx.query(
    sql<{ queue: string; count: number }>("countAvailableInQueues")`
      WITH RECURSIVE present (kind, queue) AS (
        (SELECT kind, queue FROM signalbox.ready ORDER BY kind, queue LIMIT 1)
        UNION ALL
        SELECT further.kind, further.queue
          FROM present AS p
         CROSS JOIN LATERAL (
               SELECT r.kind, r.queue
                 FROM signalbox.ready AS r
                WHERE (r.kind, r.queue) > (p.kind, p.queue)
                ORDER BY r.kind, r.queue
                LIMIT 1) AS further
      )
      SELECT p.queue, counted.count
        FROM (SELECT kind, queue FROM present LIMIT ${KINDS_IN_QUEUES + 1}) AS p
       CROSS JOIN LATERAL (
             SELECT count(*)::integer AS count
               FROM (SELECT FROM signalbox.ready AS r
                      WHERE r.kind = p.kind AND r.queue = p.queue
                      LIMIT ${COUNTED_OF_KIND + 1}) AS counted) AS counted
    `,
  );
  const cut = rows.length > KINDS_IN_QUEUES;
  const counts = new Map<QueueName, Count>();
  for (const { queue, count } of rows) {
    const before = counts.get(queue) ?? { count: 0, atLeast: cut };
    const own = countUpTo(COUNTED_OF_KIND, count);
    counts.set(queue, { count: before.count + own.count, atLeast: before.atLeast || own.atLeast });
  }
  return { counts, cut };
}

/** What instances have, and what was let go and is nobody's. */
async function countRunning(tx: Transaction): Promise<Counted> {
  const rows = await tx.query(
    sql<{ queue: string | null; count: number | null; looked: number }>("countRunningInQueues")`
      WITH held AS MATERIALIZED (
        (SELECT g.id, b.claim_no, b.instance_id
           FROM signalbox.claim_batch AS b
          CROSS JOIN LATERAL unnest(b.task_run_ids) AS g (id)
          ORDER BY b.claim_no
          LIMIT ${LOOKED_AT + 1})
        UNION ALL
        (SELECT task_run_id, NULL, NULL
           FROM signalbox.outside_job
          WHERE next_poll_at < 'infinity'
          ORDER BY kind, next_poll_at
          LIMIT ${LOOKED_AT + 1})
      )
      SELECT counted.queue, counted.count, looked.count AS looked
        FROM (SELECT count(*)::integer AS count FROM held) AS looked
        -- Also where none of them runs any more: what lies behind them may.
        LEFT JOIN (SELECT t.queue, count(*)::integer AS count
                     FROM held
                     JOIN signalbox.task_run AS t ON t.id = held.id
                    WHERE t.status = 'RUNNING'
                      AND (held.claim_no IS NULL OR (t.claim_no = held.claim_no AND t.claimed_by = held.instance_id))
                    GROUP BY t.queue) AS counted ON true
    `,
  );
  return toCounted(
    rows.flatMap(({ queue, count }) => (queue === null || count === null ? [] : [{ queue, count }])),
    (rows[0]?.looked ?? 0) > LOOKED_AT,
  );
}

async function loadSettings(
  tx: Transaction,
  names: readonly QueueName[],
): Promise<ReadonlyMap<QueueName, { readonly limit: number; readonly weight: number }>> {
  if (names.length === 0) return new Map();
  const rows = await tx.query(
    sql<{ queue: string; limit: number; weight: number }>("loadQueueSettings")`
      SELECT name AS queue, slot_limit AS "limit", weight FROM signalbox.queue WHERE name = ANY (${names}::text[])
    `,
  );
  return new Map(rows.map(({ queue, limit, weight }) => [queue, { limit, weight }]));
}
