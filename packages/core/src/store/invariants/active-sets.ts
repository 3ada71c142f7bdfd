/** The work sets must say what the status says: they are written with it and can be checked against it. */

import { type Statement, sql } from "../sql.ts";

export interface Violation {
  readonly detail: string;
}

export function waitingIsPending(): Statement<Violation> {
  return sql<Violation>("waitingIsPending")`
    SELECT format('task run %s is %s and in waiting', w.task_run_id, coalesce(t.status, 'gone')) AS detail
      FROM signalbox.waiting AS w LEFT JOIN signalbox.task_run AS t ON t.id = w.task_run_id
     WHERE t.status IS DISTINCT FROM 'PENDING'
    UNION ALL
    SELECT format('task run %s is %s and in ready', r.task_run_id, coalesce(t.status, 'gone'))
      FROM signalbox.ready AS r LEFT JOIN signalbox.task_run AS t ON t.id = r.task_run_id
     WHERE t.status IS DISTINCT FROM 'AVAILABLE'
    UNION ALL
    SELECT format('task run %s is %s and in no work set', t.id, t.status)
      FROM signalbox.task_run AS t
     WHERE (t.status = 'PENDING' AND NOT EXISTS (SELECT FROM signalbox.waiting WHERE task_run_id = t.id))
        OR (t.status = 'AVAILABLE' AND NOT EXISTS (SELECT FROM signalbox.ready_of(ARRAY[t.id])))
    UNION ALL
    SELECT format('task run %s is %s and has an outside job', j.task_run_id, coalesce(t.status, 'gone'))
      FROM signalbox.outside_job AS j LEFT JOIN signalbox.task_run AS t ON t.id = j.task_run_id
     WHERE t.status IS DISTINCT FROM 'RUNNING'
    UNION ALL
    SELECT format('task run %s is %s and has a queue timeout that nobody looks at', t.id, t.status)
      FROM signalbox.task_run AS t JOIN signalbox.task AS k ON k.id = t.task_id
     WHERE t.status IN ('PENDING', 'AVAILABLE') AND k.policy->'timeouts' ? 'queuedMs'
       AND NOT EXISTS (SELECT FROM signalbox.queue_deadline WHERE task_run_id = t.id)
    UNION ALL
    SELECT format('task run %s has no task', t.id)
      FROM signalbox.task_run AS t
     WHERE NOT EXISTS (SELECT FROM signalbox.task WHERE id = t.task_id)
  `;
}

/** S5: RUNNING has an owner, the owner is known by its batch, and is not DEAD for longer than a rescue takes. */
export function runningIsOwned(deadForMs: number): Statement<Violation> {
  return sql<Violation>("runningIsOwned")`
    SELECT format('task run %s is RUNNING under claim %s, which no batch of its owner lists', t.id, t.claim_no) AS detail
      FROM signalbox.task_run AS t
     WHERE t.status = 'RUNNING' AND t.claimed_by IS NOT NULL
       AND NOT EXISTS (SELECT FROM signalbox.claim_batch AS b
                        WHERE b.claim_no = t.claim_no AND b.instance_id = t.claimed_by AND t.id = ANY (b.task_run_ids))
    UNION ALL
    SELECT format('task run %s is RUNNING and its owner %s has been dead since %s', t.id, t.claimed_by, i.expires_at)
      FROM signalbox.task_run AS t LEFT JOIN signalbox.instance AS i ON i.boot_id = t.claimed_by
     WHERE t.status = 'RUNNING' AND t.claimed_by IS NOT NULL
       AND (i.boot_id IS NULL
            OR (i.state = 'DEAD' AND i.expires_at < clock_timestamp() - ${deadForMs} * interval '1 ms'))
    UNION ALL
    SELECT format('task run %s was let go, and no outside job of it is to be polled', t.id)
      FROM signalbox.task_run AS t
     WHERE t.status = 'RUNNING' AND t.claimed_by IS NULL
       AND NOT EXISTS (SELECT FROM signalbox.outside_job AS j WHERE j.task_run_id = t.id AND j.next_poll_at < 'infinity')
  `;
}

/** S21: holds are what AVAILABLE and RUNNING task runs need, no more and no less. */
export function holdsAreWhatIsActive(): Statement<Violation> {
  return sql<Violation>("holdsAreWhatIsActive")`
    WITH active AS (
      SELECT t.id, t.run_id, t.queue, t.gated, k.concurrency_key, k.resources
        FROM signalbox.task_run AS t JOIN signalbox.task AS k ON k.id = t.task_id
       WHERE t.status IN ('AVAILABLE', 'RUNNING')
    ), needed AS (
      SELECT id, 'run:' || run_id AS scope, NULL AS mode FROM active WHERE run_id IS NOT NULL
      UNION ALL
      SELECT id, 'key:' || concurrency_key, NULL FROM active WHERE concurrency_key IS NOT NULL
      UNION ALL
      -- What came straight to AVAILABLE is a stray there, which no claim takes; what is gated holds a slot.
      SELECT id, 'queue:' || queue, NULL
        FROM active WHERE gated AND EXISTS (SELECT FROM signalbox.queue AS q WHERE q.name = active.queue AND q.slot_limit > 0)
      UNION ALL
      SELECT id, 'resource:' || r.name, r.mode
        FROM active CROSS JOIN LATERAL jsonb_to_recordset(resources) AS r (name text, mode text)
    )
    SELECT format('task run %s is active without its hold on %s', n.id, n.scope) AS detail
      FROM needed AS n
     WHERE NOT EXISTS (SELECT FROM signalbox.hold AS h
                        WHERE h.task_run_id = n.id AND h.scope = n.scope
                          AND (n.mode IS NULL OR (n.mode = 'exclusive') = (h.slot = 0)))
    UNION ALL
    SELECT format('task run %s holds %s and is not active', h.task_run_id, h.scope)
      FROM signalbox.hold AS h
     WHERE h.task_run_id IS NOT NULL
       AND NOT EXISTS (SELECT FROM needed AS n WHERE n.id = h.task_run_id AND n.scope = h.scope)
       -- A limit that was taken off leaves its slots with those that have them, until they end.
       AND NOT (h.scope LIKE 'queue:%' AND EXISTS (SELECT FROM active AS a WHERE a.id = h.task_run_id))
    UNION ALL
    SELECT format('%s is reserved for task %s, which has nothing open', h.scope, h.reserved_for)
      FROM signalbox.hold AS h
     WHERE h.reserved_for IS NOT NULL
       AND NOT EXISTS (SELECT FROM signalbox.task_run AS t
                        WHERE t.task_id = h.reserved_for AND t.status IN ('PENDING', 'AVAILABLE', 'RUNNING'))
    UNION ALL
    SELECT format('resource_use counts %s+%s on %s, holds say %s+%s', coalesce(u.exclusive, 0), coalesce(u.shared, 0),
                  coalesce(u.name, c.name), coalesce(c.exclusive, 0), coalesce(c.shared, 0))
      FROM signalbox.resource_use AS u
      FULL JOIN (SELECT substr(scope, length('resource:') + 1) AS name, count(*) FILTER (WHERE slot = 0) AS exclusive,
                        count(*) FILTER (WHERE slot > 0) AS shared
                   FROM signalbox.hold WHERE scope LIKE 'resource:%' GROUP BY scope) AS c ON c.name = u.name
     WHERE coalesce(u.exclusive, 0) <> coalesce(c.exclusive, 0) OR coalesce(u.shared, 0) <> coalesce(c.shared, 0)
    UNION ALL
    SELECT format('version %s of task run %s is open on %s and the task run is %s', array_to_string(v.version, '.'),
                  v.task_run_id, v.name, coalesce(t.status, 'gone'))
      FROM signalbox.open_version AS v LEFT JOIN signalbox.task_run AS t ON t.id = v.task_run_id
     WHERE t.status IS NULL OR t.status NOT IN ('PENDING', 'AVAILABLE', 'RUNNING')
    UNION ALL
    SELECT format('task run %s is open with a version, and open_version does not know it', t.id)
      FROM signalbox.task_run AS t JOIN signalbox.task AS k ON k.id = t.task_id
     WHERE t.status IN ('PENDING', 'AVAILABLE', 'RUNNING') AND k.version IS NOT NULL
       AND NOT EXISTS (SELECT FROM signalbox.open_version AS v WHERE v.task_run_id = t.id)
    UNION ALL
    SELECT format('task run %s is parked at %s and %s', w.task_run_id, coalesce(w.blocked_on, 'no gate'),
                  CASE WHEN w.blocked_on = 'RESOURCE_BUSY' THEN 'does not stand in every line' ELSE 'stands in a line' END)
      FROM signalbox.waiting AS w
     WHERE (SELECT count(*) FROM signalbox.line AS l WHERE l.task_run_id = w.task_run_id)
           <> CASE WHEN w.blocked_on = 'RESOURCE_BUSY' THEN jsonb_array_length(w.resources) ELSE 0 END
    UNION ALL
    SELECT format('task run %s stands in the line of %s and waits no more', l.task_run_id, l.name)
      FROM signalbox.line AS l
     WHERE NOT EXISTS (SELECT FROM signalbox.waiting AS w WHERE w.task_run_id = l.task_run_id)
  `;
}

/** S25 and the counter of S21: a run ends with its last task, with exactly one event for each time it was open. */
export function runsEndOnce(since: Date): Statement<Violation> {
  return sql<Violation>("runsEndOnce")`
    WITH looked_at AS (
      SELECT id, status, open_tasks FROM signalbox.run WHERE status = 'RUNNING' OR finished_at >= ${since}
    ), open AS (
      SELECT run_id, count(DISTINCT task_id) AS tasks
        FROM signalbox.task_run
       WHERE run_id IS NOT NULL AND status IN ('PENDING', 'AVAILABLE', 'RUNNING')
       GROUP BY run_id
    ), ends AS (
      -- Reopened since, by a retry: the end before it is undone. Of one that ended before that only the undoing is seen.
      SELECT aggregate_id AS run_id,
             count(*) FILTER (WHERE type = 'run.ended') - count(*) FILTER (WHERE type = 'run.reopened')
               + CASE WHEN (array_agg(type ORDER BY aggregate_version))[1] = 'run.reopened' THEN 1 ELSE 0 END AS events
        FROM signalbox.event_store
       WHERE type IN ('run.ended', 'run.reopened') AND at >= ${since}
       GROUP BY aggregate_id
    )
    SELECT format('run %s counts %s open tasks and has %s', r.id, r.open_tasks, coalesce(open.tasks, 0)) AS detail
      FROM looked_at AS r LEFT JOIN open ON open.run_id = r.id
     WHERE r.open_tasks <> coalesce(open.tasks, 0)
    UNION ALL
    SELECT format('run %s is %s with %s end events', r.id, r.status, coalesce(ends.events, 0))
      FROM looked_at AS r LEFT JOIN ends ON ends.run_id = r.id
     WHERE coalesce(ends.events, 0) <> CASE WHEN r.status = 'RUNNING' THEN 0 ELSE 1 END
  `;
}
