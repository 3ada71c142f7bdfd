-- Breaks nothing: the same answer in less time, also for old instances.

-- The row of each task run in `ready`, under whichever rules it came there. From the newest rules to the oldest: what claims and
-- cancels have taken lies in front and is passed over entry by entry until it is vacuumed, for each task run anew.
CREATE OR REPLACE FUNCTION signalbox.ready_of(task_run_ids uuid[]) RETURNS SETOF tid LANGUAGE sql STABLE AS $$
  SELECT found.place
    FROM signalbox.task_run AS t
   CROSS JOIN LATERAL (
         WITH RECURSIVE present (rules_no) AS (
           SELECT max(r.rules_no) FROM signalbox.ready AS r WHERE r.kind = t.kind AND r.queue = t.queue
           UNION ALL
           SELECT (SELECT max(r.rules_no) FROM signalbox.ready AS r
                    WHERE r.kind = t.kind AND r.queue = t.queue AND r.rules_no < p.rules_no)
             FROM present AS p
            WHERE p.rules_no IS NOT NULL
         )
         SELECT rules_no FROM present) AS rules
   CROSS JOIN LATERAL (                 -- LIMIT, not a join: the planner would look for it under any rules
         SELECT r.ctid AS place
           FROM signalbox.ready AS r
          WHERE r.kind = t.kind AND r.queue = t.queue AND r.rules_no = rules.rules_no
            AND r.priority = t.priority AND r.available_at = t.available_at AND r.task_run_id = t.id
          LIMIT 1) AS found
   WHERE t.id = ANY (task_run_ids)
$$;
