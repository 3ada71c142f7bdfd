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
        OR (t.status = 'AVAILABLE'
            AND NOT EXISTS (SELECT FROM signalbox.ready
                             WHERE kind = t.kind AND priority = t.priority AND task_run_id = t.id))
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
     WHERE t.status = 'RUNNING'
       AND NOT EXISTS (SELECT FROM signalbox.claim_batch AS b
                        WHERE b.claim_no = t.claim_no AND b.instance_id = t.claimed_by AND t.id = ANY (b.task_run_ids))
    UNION ALL
    SELECT format('task run %s is RUNNING and its owner %s has been dead since %s', t.id, t.claimed_by, i.expires_at)
      FROM signalbox.task_run AS t LEFT JOIN signalbox.instance AS i ON i.boot_id = t.claimed_by
     WHERE t.status = 'RUNNING'
       AND (i.boot_id IS NULL
            OR (i.state = 'DEAD' AND i.expires_at < clock_timestamp() - ${deadForMs} * interval '1 ms'))
  `;
}

/** S21: holds are what AVAILABLE and RUNNING task runs need, no more and no less. */
export function holdsAreWhatIsActive(): Statement<Violation> {
  return sql<Violation>("holdsAreWhatIsActive")`
    WITH active AS (
      SELECT t.id, t.run_id, k.resources
        FROM signalbox.task_run AS t JOIN signalbox.task AS k ON k.id = t.task_id
       WHERE t.status IN ('AVAILABLE', 'RUNNING')
    ), needed AS (
      SELECT id, 'run:' || run_id AS scope, NULL AS mode FROM active WHERE run_id IS NOT NULL
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
                  CASE WHEN w.blocked_on = 'RESOURCE_BUSY' THEN 'stands in no line' ELSE 'stands in a line' END)
      FROM signalbox.waiting AS w
     WHERE (w.blocked_on IS NOT DISTINCT FROM 'RESOURCE_BUSY')
           <> EXISTS (SELECT FROM signalbox.line AS l WHERE l.task_run_id = w.task_run_id)
  `;
}

/** S25 and the counter of S21: a run ends with its last task, with exactly one event. */
export function runsEndOnce(): Statement<Violation> {
  return sql<Violation>("runsEndOnce")`
    SELECT format('run %s counts %s open tasks and has %s', r.id, r.open_tasks, counted.open) AS detail
      FROM signalbox.run AS r
     CROSS JOIN LATERAL (
           SELECT count(DISTINCT t.task_id) AS open
             FROM signalbox.task_run AS t
            WHERE t.run_id = r.id AND t.status IN ('PENDING', 'AVAILABLE', 'RUNNING')) AS counted
     WHERE r.open_tasks <> counted.open
    UNION ALL
    SELECT format('run %s is %s with %s end events', r.id, r.status, counted.ends)
      FROM signalbox.run AS r
     CROSS JOIN LATERAL (
           SELECT count(*) AS ends
             FROM signalbox.event_store AS e
            WHERE e.aggregate_id = r.id AND e.type = 'run.ended') AS counted
     WHERE counted.ends <> CASE WHEN r.status = 'RUNNING' THEN 0 ELSE 1 END
  `;
}
