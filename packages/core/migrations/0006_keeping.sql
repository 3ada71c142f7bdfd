-- Breaks nothing: idempotency keys, the way from a run to its tasks, and where the pruner stands.

-- Written in the transaction of the enqueue that it stands for: whoever comes with the same key waits for that commit.
CREATE TABLE signalbox.idempotency_key (
  project      text NOT NULL DEFAULT 'default',
  key          text NOT NULL,
  request_hash bytea NOT NULL,
  answer       jsonb,                                       -- NULL only until its transaction has enqueued
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (project, key)
) WITH (fillfactor = 50);                                   -- the answer is a HOT update
CREATE INDEX idempotency_key_by_age ON signalbox.idempotency_key (created_at);

-- How far the pruner has walked along the ids of tasks, and since when.
CREATE TABLE signalbox.retention_walk (
  one       boolean PRIMARY KEY DEFAULT true,
  walked_to uuid NOT NULL,
  began_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT retention_walk_is_one CHECK (one)
);

-- Behind it: the tasks that it had to leave, a bite of ids each, with what tells when it is worth to look again.
CREATE TABLE signalbox.retention_range (
  after_id        uuid PRIMARY KEY,
  to_id           uuid NOT NULL,
  oldest_done     timestamptz,
  oldest_failed   timestamptz,
  oldest_canceled timestamptz,
  open_seen_at    timestamptz,                              -- something was open then: it cannot end before that
  CONSTRAINT retention_range_goes_on CHECK (after_id < to_id)
);

-- step outside a transaction
-- What an interrupted earlier try left behind is an invalid index. Tasks are never updated, so it costs only the insert.
DROP INDEX CONCURRENTLY IF EXISTS signalbox.task_of_run;
CREATE INDEX CONCURRENTLY task_of_run ON signalbox.task (run_id, id) WHERE run_id IS NOT NULL;
