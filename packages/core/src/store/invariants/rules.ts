/** What people and packages forbade did not happen: limits of queues and keys, pauses, stops, rates. */

import { type Statement, sql } from "../sql.ts";
import type { Violation } from "./active-sets.ts";

/**
 * S7 for queues: after each promotion no more of it are active than the limit in force at that moment. Counts only what
 * was claimed: what is only AVAILABLE may be a stray that came in a late transaction, which no claim takes.
 */
export function queueLimitsHold(since: Date): Statement<Violation> {
  return sql<Violation>("queueLimitsHold")`
    WITH stay AS (
      SELECT queue, available_at AS s, coalesce(finished_at, 'infinity') AS e
        FROM signalbox.task_run
       WHERE claimed_at IS NOT NULL AND coalesce(finished_at, 'infinity') >= ${since}
         AND queue IN (SELECT name FROM signalbox.queue)
    ), step AS (
      SELECT queue, s AS at, 1 AS change FROM stay
      UNION ALL
      SELECT queue, e, -1 FROM stay WHERE e < 'infinity'
    ), counted AS (
      SELECT queue, at, change, sum(change) OVER (PARTITION BY queue ORDER BY at, change ROWS UNBOUNDED PRECEDING) AS active
        FROM step
    )
    SELECT format('queue %s had %s active at %s with a limit of %s', c.queue, c.active, c.at, limited.in_force) AS detail
      FROM counted AS c
      JOIN signalbox.queue AS q ON q.name = c.queue
     CROSS JOIN LATERAL (
           SELECT coalesce((SELECT (e.data->>'from')::integer
                              FROM signalbox.event_store AS e
                             WHERE e.aggregate_id = md5('queue:' || q.name)::uuid AND e.type = 'queue.changed' AND e.at > c.at
                             ORDER BY e.at LIMIT 1), q.slot_limit) AS in_force) AS limited
     WHERE c.change = 1 AND limited.in_force > 0 AND c.active > limited.in_force
  `;
}

/** S7 for keys, against the largest limit that this key or its group had in the time that is looked at. */
export function keyLimitsHold(since: Date): Statement<Violation> {
  return sql<Violation>("keyLimitsHold")`
    WITH stay AS (
      SELECT k.concurrency_key AS key, t.available_at AS s, coalesce(t.finished_at, 'infinity') AS e
        FROM signalbox.task_run AS t JOIN signalbox.task AS k ON k.id = t.task_id
       WHERE k.concurrency_key IS NOT NULL AND t.available_at IS NOT NULL AND coalesce(t.finished_at, 'infinity') >= ${since}
    ), step AS (
      SELECT key, s AS at, 1 AS change FROM stay
      UNION ALL
      SELECT key, e, -1 FROM stay WHERE e < 'infinity'
    ), counted AS (
      SELECT key, at, change, sum(change) OVER (PARTITION BY key ORDER BY at, change ROWS UNBOUNDED PRECEDING) AS active
        FROM step
    )
    SELECT format('concurrency key %s had %s active at %s with a limit of %s', c.key, c.active, c.at, largest.allowed) AS detail
      FROM counted AS c
     CROSS JOIN LATERAL (
           SELECT greatest(1,
                           (SELECT max(slot_limit) FROM signalbox.key_limit
                             WHERE concurrency_key IN (c.key, split_part(c.key, ':', 1) || ':*')),
                           (SELECT max(greatest((e.data->>'from')::integer, (e.data->>'to')::integer))
                              FROM signalbox.event_store AS e
                             WHERE e.type = 'key.limit_changed' AND e.at >= ${since}
                               AND e.data->>'key' IN (c.key, split_part(c.key, ':', 1) || ':*'))) AS allowed) AS largest
     WHERE c.change = 1 AND c.active > largest.allowed
  `;
}

/** S9: nothing starts that is paused or stopped, and no rate is exceeded by starts. */
export function nothingForbiddenStarts(since: Date): Statement<Violation> {
  return sql<Violation>("nothingForbiddenStarts")`
    WITH paused AS (
      SELECT data->>'scope' AS scope, type, at AS from_at,
             coalesce(lead(at) OVER (PARTITION BY aggregate_id ORDER BY aggregate_version), 'infinity') AS until_at
        FROM signalbox.event_store
       WHERE aggregate_type = 'pause'
    ), started AS (
      SELECT t.id, t.task_id, t.claimed_at, 'queue:' || t.queue AS scope
        FROM signalbox.task_run AS t WHERE t.claimed_at >= ${since}
      UNION ALL
      SELECT t.id, t.task_id, t.claimed_at, 'run:' || t.run_id
        FROM signalbox.task_run AS t WHERE t.claimed_at >= ${since} AND t.run_id IS NOT NULL
      UNION ALL
      SELECT t.id, t.task_id, t.claimed_at, 'resource:' || r.name
        FROM signalbox.task_run AS t
        JOIN signalbox.task AS k ON k.id = t.task_id
       CROSS JOIN LATERAL jsonb_to_recordset(k.resources) AS r (name text)
       WHERE t.claimed_at >= ${since}
    )
    SELECT format('task run %s was claimed at %s while %s was paused', s.id, s.claimed_at, s.scope) AS detail
      FROM started AS s
      JOIN paused AS p ON p.scope = s.scope
       -- Of a run or a resource what is AVAILABLE is sent back in bites, and the pause is answered after the last.
       AND p.type = CASE WHEN p.scope LIKE 'queue:%' THEN 'scope.paused' ELSE 'scope.recalled' END
       AND s.claimed_at > p.from_at AND s.claimed_at < p.until_at
    UNION ALL
    SELECT format('task run %s was claimed at %s, after %s had stopped its task', t.id, t.claimed_at, s.code)
      FROM signalbox.stop AS s JOIN signalbox.task_run AS t ON t.task_id = s.task_id
     WHERE t.claimed_at > s.since AND t.claimed_at >= ${since}
    UNION ALL
    SELECT format('rate %s: %s starts within %s ms at %s', r.name, r.amount + 1, r.per_ms, counted.claimed_at)
      FROM signalbox.rate AS r
     CROSS JOIN LATERAL (
           SELECT t.claimed_at, nth_value(t.claimed_at, r.amount + 1) OVER (
                    ORDER BY t.claimed_at DESC ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS before
             FROM signalbox.task AS k JOIN signalbox.task_run AS t ON t.task_id = k.id
            WHERE k.rate = r.name AND t.claimed_at >= ${since}
              -- Whoever was AVAILABLE when the rate was changed had its slot already.
              AND t.available_at > coalesce((SELECT max(e.at) FROM signalbox.event_store AS e
                                            WHERE e.aggregate_id = md5('rate:' || r.name)::uuid), '-infinity')) AS counted
     WHERE counted.before > counted.claimed_at - r.per_ms * interval '1 ms'
  `;
}
