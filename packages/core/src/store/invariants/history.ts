/**
 * What the stamps on the rows and the events of irregular moves tell about the past. A *stay* is the time
 * a task run spends AVAILABLE or RUNNING; it starts with every arrival there.
 */

import { type Statement, sql } from "../sql.ts";
import type { Violation } from "./active-sets.ts";

/** S1: only the moves of the status model happen. */
export function onlyKnownMoves(since: Date): Statement<Violation> {
  return sql<Violation>("onlyKnownMoves")`
    SELECT format('task run %s moved from %s to %s', aggregate_id, data->>'from', data->>'to') AS detail
      FROM signalbox.event_store
     WHERE aggregate_type = 'task_run' AND at >= ${since}
       AND data ? 'from'
       AND (data->>'from', data->>'to') NOT IN (('AVAILABLE', 'PENDING'), ('RUNNING', 'PENDING'), ('RUNNING', 'FAILED'), ('RUNNING', 'CANCELED'))
       AND NOT (type = 'task_run.out_of_order' AND data->>'from' = 'PENDING' AND data->>'to' = 'FAILED')
       AND NOT (type = 'task_run.queue_timed_out' AND data->>'from' IN ('PENDING', 'AVAILABLE') AND data->>'to' = 'FAILED')
       AND NOT (type IN ('task_run.let_go', 'task_run.resumed') AND data->>'from' = 'RUNNING' AND data->>'to' = 'RUNNING')
    UNION ALL
    SELECT format('task run %s ended %s without a claim', id, outcome)
      FROM signalbox.task_run
     WHERE finished_at >= ${since} AND status = 'FAILED' AND claimed_by IS NULL AND outcome NOT IN ('QUEUE_TIMEOUT', 'OUT_OF_ORDER')
    UNION ALL
    SELECT format('gated task run %s was never promoted and is %s', id, status)
      FROM signalbox.task_run
     WHERE coalesce(finished_at, 'infinity') >= ${since} AND gated AND available_at IS NULL AND status IN ('AVAILABLE', 'RUNNING', 'DONE')
    UNION ALL
    SELECT format('task run %s is %s and its stamps do not rise', id, status)
      FROM signalbox.task_run
     WHERE coalesce(finished_at, 'infinity') >= ${since}
       AND NOT (enqueued_at <= coalesce(available_at, 'infinity')
                AND coalesce(available_at, '-infinity') <= coalesce(claimed_at, 'infinity')
                AND coalesce(claimed_at, '-infinity') <= coalesce(finished_at, 'infinity'))
    UNION ALL
    SELECT format('task run %s was never claimed and is %s', id, status)
      FROM signalbox.task_run
     WHERE coalesce(finished_at, 'infinity') >= ${since} AND claim_no IS NULL AND status = 'DONE'
  `;
}

/** S3: attempts are 1..n without gaps, only the last is open, and a claim number has one owner. */
export function attemptsAreAChain(since: Date): Statement<Violation> {
  return sql<Violation>("attemptsAreAChain")`
    SELECT format('task %s has attempt %s where %s is next', task_id, attempt, place) AS detail
      FROM (SELECT task_id, attempt, row_number() OVER (PARTITION BY task_id ORDER BY attempt) AS place
              FROM signalbox.task_run
             WHERE enqueued_at >= ${since}
                OR task_id IN (SELECT task_id FROM signalbox.task_run WHERE enqueued_at >= ${since})) AS chain
     WHERE attempt <> place
    UNION ALL
    SELECT format('task %s went on to attempt %s while attempt %s is %s', later.task_id, later.attempt, t.attempt, t.status)
      FROM signalbox.task_run AS later
      JOIN signalbox.task_run AS t ON t.task_id = later.task_id AND t.attempt = later.attempt - 1
     WHERE later.enqueued_at >= ${since}
       AND (t.finished_at IS NULL OR t.finished_at > later.enqueued_at
            -- After a cancel only somebody who asks for it brings a new attempt.
            OR NOT (t.status = 'FAILED'
                    OR (t.status = 'CANCELED'
                        AND EXISTS (SELECT FROM signalbox.event_store
                                     WHERE aggregate_id = later.id AND type = 'task_run.retried'))))
    UNION ALL
    SELECT format('claim %s has %s owners', claim_no, count(DISTINCT claimed_by))
      FROM signalbox.task_run
     WHERE enqueued_at >= ${since} AND claim_no IS NOT NULL AND claimed_by IS NOT NULL
     GROUP BY claim_no
    HAVING count(DISTINCT claimed_by) > 1
    UNION ALL
    SELECT format('claims of task run %s do not rise: %s after %s', e.aggregate_id, t.claim_no, e.data->>'claimNo')
      FROM signalbox.event_store AS e JOIN signalbox.task_run AS t ON t.id = e.aggregate_id
     WHERE e.at >= ${since} AND e.type IN ('task_run.handed_back', 'task_run.deferred') AND e.data->>'to' = 'PENDING'
       AND t.claimed_by IS NOT NULL
       AND t.claim_no <= (e.data->>'claimNo')::bigint
  `;
}

/** S6: on one resource no two stays overlap of which one is exclusive; after a loss it is the same task's turn. */
export function exclusionHolds(since: Date): Statement<Violation> {
  return sql<Violation>("exclusionHolds")`
    WITH stay AS (
      SELECT t.id, t.task_id, t.attempt, t.available_at AS s, coalesce(t.finished_at, 'infinity') AS e, t.outcome
        FROM signalbox.task_run AS t
       WHERE t.available_at IS NOT NULL AND coalesce(t.finished_at, 'infinity') >= ${since}
      UNION ALL
      SELECT e.aggregate_id, (e.data->>'taskId')::uuid, NULL, (e.data->>'availableAt')::timestamptz, e.at, NULL
        FROM signalbox.event_store AS e
       WHERE e.type IN ('task_run.handed_back', 'task_run.deferred', 'task_run.demoted') AND e.data->>'to' = 'PENDING'
         AND e.at >= ${since}
    ), at_resource AS (
      SELECT stay.*, r.name, r.mode
        FROM stay
        JOIN signalbox.task AS k ON k.id = stay.task_id
       CROSS JOIN LATERAL jsonb_to_recordset(k.resources) AS r (name text, mode text)
    ), in_order AS (
      -- Everyone against the latest end of an exclusive stay, and of any stay, that began before: linear, where a
      -- join of all stays with all stays is not.
      SELECT *,
             max(e) FILTER (WHERE mode = 'exclusive') OVER earlier AS exclusive_until,
             max(e) OVER earlier AS any_until
        FROM at_resource
      WINDOW earlier AS (PARTITION BY name ORDER BY s, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
    )
    SELECT format('%s: task run %s (%s) began at %s, before an earlier stay ended at %s', name, id, mode, s,
                  CASE WHEN mode = 'exclusive' THEN any_until ELSE exclusive_until END) AS detail
      FROM in_order
     WHERE s < CASE WHEN mode = 'exclusive' THEN any_until ELSE exclusive_until END
    UNION ALL
    SELECT format('%s: task run %s began at %s, while it was kept for task %s', other.name, other.id,
                  other.s, lost.task_id)
      FROM at_resource AS lost
     CROSS JOIN LATERAL (
           SELECT least(CASE WHEN bool_or(t.status IN ('PENDING', 'AVAILABLE', 'RUNNING')) THEN 'infinity'
                             ELSE max(t.finished_at) END,
                        (SELECT min(e.at)
                           FROM signalbox.event_store AS e
                          WHERE e.type = 'task_run.reservation_released' AND e.at >= lost.e
                            AND e.data->>'taskId' = lost.task_id::text AND e.data->>'resource' = lost.name)) AS at
             FROM signalbox.task_run AS t
            WHERE t.task_id = lost.task_id
              -- Up to where it ended: from there on it was kept for nobody, until somebody asked for a retry.
              AND t.attempt < coalesce((SELECT min(again.attempt)
                                          FROM signalbox.task_run AS again
                                          JOIN signalbox.event_store AS e
                                            ON e.aggregate_id = again.id AND e.type = 'task_run.retried'
                                         WHERE again.task_id = lost.task_id AND again.attempt > lost.attempt),
                                       2147483647)) AS task_end
      JOIN at_resource AS other
        ON other.name = lost.name AND other.task_id <> lost.task_id AND other.s > lost.e AND other.s < task_end.at
     WHERE lost.outcome IN ('LEASE_LOST', 'WARDEN_LOST', 'END_LOST', 'HANDLER_STUCK') AND lost.mode = 'exclusive'
  `;
}

/** S7: after each promotion no more of a run are active than the limit in force at that moment. */
export function runLimitsHold(since: Date): Statement<Violation> {
  return sql<Violation>("runLimitsHold")`
    WITH stay AS (
      SELECT run_id, available_at AS s, coalesce(finished_at, 'infinity') AS e
        FROM signalbox.task_run
       WHERE run_id IS NOT NULL AND available_at IS NOT NULL AND coalesce(finished_at, 'infinity') >= ${since}
      UNION ALL
      SELECT (data->>'runId')::uuid, (data->>'availableAt')::timestamptz, at
        FROM signalbox.event_store
       WHERE type IN ('task_run.handed_back', 'task_run.deferred', 'task_run.demoted') AND data->>'to' = 'PENDING'
         AND data->>'runId' IS NOT NULL AND at >= ${since}
    ), step AS (
      SELECT run_id, s AS at, 1 AS change FROM stay
      UNION ALL
      SELECT run_id, e, -1 FROM stay WHERE e < 'infinity'
    ), counted AS (
      -- At one instant ends come before starts: a slot that is given back can be taken at once.
      SELECT run_id, at, change, sum(change) OVER (PARTITION BY run_id ORDER BY at, change ROWS UNBOUNDED PRECEDING) AS active
        FROM step
    )
    SELECT format('run %s had %s active at %s with a limit of %s', c.run_id, c.active, c.at, limited.in_force) AS detail
      FROM counted AS c
      JOIN signalbox.run AS r ON r.id = c.run_id
     CROSS JOIN LATERAL (
           SELECT coalesce((SELECT (e.data->>'from')::integer
                              FROM signalbox.event_store AS e
                             WHERE e.aggregate_id = r.id AND e.type = 'run.limit_changed' AND e.at > c.at
                             ORDER BY e.at LIMIT 1), r.task_limit) AS in_force) AS limited
     WHERE c.change = 1 AND limited.in_force > 0 AND c.active > limited.in_force
  `;
}

/**
 * S8: nothing becomes AVAILABLE while a smaller version is open on one of its resources. A task is open from
 * the commit that brought it, which only `track_commit_timestamp` knows: until then nobody could see it. A
 * task that goes on after its instance was lost had its turn before.
 */
export function versionsStartInOrder(since: Date): Statement<Violation> {
  return sql<Violation>("versionsStartInOrder")`
    WITH retried AS (
      SELECT t.task_id, t.attempt, pg_xact_commit_timestamp(e.xmin) AS open_from
        FROM signalbox.event_store AS e JOIN signalbox.task_run AS t ON t.id = e.aggregate_id
       WHERE e.type = 'task_run.retried'
    ), versioned AS (
      -- A retry by hand opens a task that was closed: each time that it was open is a row.
      SELECT k.id AS task_id, k.version, r.name, coalesce(retried.open_from, pg_xact_commit_timestamp(k.xmin)) AS open_from,
             opened.attempt AS first_attempt, until.attempt AS before_attempt,
             (SELECT CASE WHEN bool_or(t.status IN ('PENDING', 'AVAILABLE', 'RUNNING')) THEN 'infinity'
                          ELSE max(t.finished_at) END
                FROM signalbox.task_run AS t
               WHERE t.task_id = k.id AND t.attempt >= opened.attempt AND t.attempt < until.attempt) AS open_until
        FROM signalbox.task AS k
       CROSS JOIN LATERAL (
             SELECT 1 AS attempt UNION ALL SELECT attempt FROM retried WHERE retried.task_id = k.id) AS opened
        LEFT JOIN retried ON retried.task_id = k.id AND retried.attempt = opened.attempt
       CROSS JOIN LATERAL (
             SELECT coalesce(min(next.attempt), 2147483647) AS attempt
               FROM retried AS next WHERE next.task_id = k.id AND next.attempt > opened.attempt) AS until
       CROSS JOIN LATERAL jsonb_to_recordset(k.resources) AS r (name text, mode text)
       WHERE k.version IS NOT NULL
         AND (k.created_at >= ${since}
              OR k.id IN (SELECT t.task_id
                            FROM signalbox.open_version AS v JOIN signalbox.task_run AS t ON t.id = v.task_run_id))
    )
    SELECT format('%s: task run %s (version %s) became AVAILABLE at %s, while version %s (task %s) was open', late.name,
                  t.id, array_to_string(late.version, '.'), t.available_at, array_to_string(early.version, '.'),
                  early.task_id) AS detail
      FROM versioned AS late
      JOIN signalbox.task_run AS t
        ON t.task_id = late.task_id AND t.available_at IS NOT NULL
       AND t.attempt >= late.first_attempt AND t.attempt < late.before_attempt
      JOIN versioned AS early
        ON early.name = late.name AND early.version < late.version
       AND early.open_from < t.available_at AND early.open_until > t.available_at
       -- A pass looks before it writes: of what was committed in between it could not know. Whoever saw the later
       -- version saw everything that was there before it.
       AND (early.open_from <= late.open_from OR early.open_from < t.available_at - interval '10 s')
     WHERE NOT EXISTS (SELECT FROM signalbox.task_run AS before
                        WHERE before.task_id = t.task_id AND before.attempt < t.attempt
                          AND before.outcome IN ('LEASE_LOST', 'WARDEN_LOST', 'END_LOST', 'HANDLER_STUCK'))
  `;
}

/** S9: nothing starts before its run time. */
export function nothingStartsEarly(since: Date): Statement<Violation> {
  return sql<Violation>("nothingStartsEarly")`
    SELECT format('task run %s became AVAILABLE at %s, before its run time %s', id, available_at, run_at) AS detail
      FROM signalbox.task_run
     WHERE coalesce(finished_at, 'infinity') >= ${since} AND run_at IS NOT NULL AND available_at < run_at
  `;
}
