/** Enough rows in every table for the planner to see that an index pays. Not one consistent world: only plans are looked at. */
export const LONG_BACKLOG = `
  INSERT INTO signalbox.instance (boot_id, name, kinds, slots, expires_at)
  SELECT gen_random_uuid(), 'instance', '{}', 1, now() + interval '1 hour' FROM generate_series(1, 20);
  INSERT INTO signalbox.task (id, kind, title, input, priority, policy, gated)
  SELECT gen_random_uuid(), 'echo', 'echo', '1', 5, '{}', false FROM generate_series(1, 20000);
  INSERT INTO signalbox.task_run (id, task_id, kind, priority, attempt, gated, status, available_at, claim_no,
                                  claimed_at, claimed_by, finished_at, outcome, enqueued_at)
  SELECT gen_random_uuid(), id, 'echo', 5, 1, false, 'DONE', now(), 1, now(), gen_random_uuid(), now(), 'X', now()
    FROM signalbox.task;
  INSERT INTO signalbox.queue (name, slot_limit, rules_no) SELECT 'queue ' || n, 1, n % 2 FROM generate_series(1, 500) AS n;
  INSERT INTO signalbox.ready (kind, queue, priority, task_run_id, open_until)
  SELECT 'kind ' || n % 5, 'queue ' || n % 3, n % 10, gen_random_uuid(),
         CASE WHEN n % 10 = 0 THEN now() + n * interval '1 min' ELSE 'infinity' END
    FROM generate_series(1, 15000) AS n;
  INSERT INTO signalbox.key_limit SELECT 'key ' || n, 1 FROM generate_series(1, 3000) AS n;
  INSERT INTO signalbox.rate SELECT 'rate ' || n, 10, 1000 FROM generate_series(1, 300) AS n;
  INSERT INTO signalbox.rate_slot (rate, slot, task_run_id)
  SELECT 'rate ' || n, slot, gen_random_uuid() FROM generate_series(1, 300) AS n, generate_series(0, 9) AS slot;
  INSERT INTO signalbox.pause (over, name, paused) SELECT 'queue', 'queue ' || n, true FROM generate_series(1, 3000) AS n;
  INSERT INTO signalbox.start_window (over, name, windows) SELECT 'queue', 'queue ' || n, '[{}]' FROM generate_series(1, 3000) AS n;
  INSERT INTO signalbox.stop (task_id, code) SELECT gen_random_uuid(), 'APPROVAL' FROM generate_series(1, 3000) AS n;
  INSERT INTO signalbox.waiting (task_run_id, task_id, kind, priority, enqueued_at, run_at, version, resources,
                                 blocked_on, blocked_key, blocked_since)
  SELECT gen_random_uuid(), gen_random_uuid(), 'echo', 5, now(), now() + n * interval '1 min', ARRAY[n], '[]',
         gate, CASE WHEN gate IS NOT NULL THEN 'key ' || n % 5 END, CASE WHEN gate IS NOT NULL THEN now() END
    FROM generate_series(1, 3000) AS n,
         unnest('{NULL,RUN_AT,VERSION_ORDER,RUN_LIMIT,QUEUE_LIMIT,PAUSED,FAIR_SHARE,OUT_OF_ORDER,RESOURCE_BUSY}'::text[]) AS gate;
  INSERT INTO signalbox.line (name, priority, enqueued_at, task_run_id, mode)
  SELECT blocked_key, priority, enqueued_at, task_run_id, 'shared'
    FROM signalbox.waiting WHERE blocked_on = 'RESOURCE_BUSY';
  INSERT INTO signalbox.hold (scope, slot, task_run_id)
  SELECT scope || n, 0, gen_random_uuid() FROM generate_series(1, 3000) AS n, unnest('{run:,queue:,key:,resource:}'::text[]) AS scope;
  INSERT INTO signalbox.resource_use SELECT 'name ' || n, 1, 0 FROM generate_series(1, 3000) AS n;
  INSERT INTO signalbox.done_version SELECT 'name ' || n, ARRAY[n] FROM generate_series(1, 3000) AS n;
  INSERT INTO signalbox.open_version SELECT 'name ' || n % 100, ARRAY[n], gen_random_uuid() FROM generate_series(1, 3000) AS n;
  INSERT INTO signalbox.run (id, title, open_tasks) SELECT gen_random_uuid(), 'run', 1 FROM generate_series(1, 3000);
  INSERT INTO signalbox.gate_wake (key) SELECT 'key ' || n FROM generate_series(1, 3000) AS n;
  INSERT INTO signalbox.gate_wake (key, due_at)
  SELECT 'rate:' || n, now() + n * interval '1 s' FROM generate_series(1, 3000) AS n;
  UPDATE signalbox.task SET run_id = (SELECT id FROM signalbox.run LIMIT 1), gated = true
   WHERE id IN (SELECT id FROM signalbox.task LIMIT 5000);
  INSERT INTO signalbox.event_store (aggregate_type, aggregate_id, aggregate_version, type, data)
  SELECT 'task_run', id, 1, 'x', '{}' FROM signalbox.task_run;
  INSERT INTO signalbox.task_run_result SELECT id, '1', NULL FROM signalbox.task_run;
  INSERT INTO signalbox.idempotency_key (key, request_hash, answer, created_at)
  SELECT 'key ' || n, '', '{}', now() - n * interval '1 hour' FROM generate_series(1, 3000) AS n;
  INSERT INTO signalbox.retention_range (after_id, to_id, oldest_done)
  SELECT id, 'ffffffff-ffff-ffff-ffff-ffffffffffff', now() FROM signalbox.task LIMIT 100;
  INSERT INTO signalbox.claim_batch (claim_no, instance_id, request_no, task_run_ids)
  SELECT n, (SELECT boot_id FROM signalbox.instance LIMIT 1), 1, ARRAY[gen_random_uuid()]
    FROM generate_series(1, 300) AS n;
  ANALYZE;
`;
