-- Breaks nothing: old instances go on, a little slower where they look for the row of one task run. What came to `ready`
-- under older rules of its queue has a place of its own in the index (docs/adr/0010-queue-rules.md).

-- The rows of `ready` that these task runs have. A task run does not know under which rules it came there: of its kind
-- and queue there is seldom more than one number, so each is asked for.
CREATE FUNCTION signalbox.ready_of(task_run_ids uuid[]) RETURNS SETOF tid
LANGUAGE sql STABLE AS $$
  SELECT found.place
    FROM signalbox.task_run AS t
   CROSS JOIN LATERAL (
         WITH RECURSIVE present (rules_no) AS (
           SELECT min(r.rules_no) FROM signalbox.ready AS r WHERE r.kind = t.kind AND r.queue = t.queue
           UNION ALL
           SELECT (SELECT min(r.rules_no) FROM signalbox.ready AS r
                    WHERE r.kind = t.kind AND r.queue = t.queue AND r.rules_no > p.rules_no)
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

-- step outside a transaction
-- What an interrupted earlier try left behind is an invalid index.
DROP INDEX CONCURRENTLY IF EXISTS signalbox.ready_by_rules;
CREATE UNIQUE INDEX CONCURRENTLY ready_by_rules
    ON signalbox.ready (kind, queue, rules_no, priority, available_at, task_run_id);

-- step
ALTER TABLE signalbox.ready
  DROP CONSTRAINT ready_pkey,
  ADD CONSTRAINT ready_pkey PRIMARY KEY USING INDEX ready_by_rules;
