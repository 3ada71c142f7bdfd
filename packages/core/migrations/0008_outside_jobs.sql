-- Old instances go on: they never let go and set no queue deadline. Outside jobs (docs/adr/0017-outside-jobs.md),
-- deferrals and queue timeouts.

ALTER TABLE signalbox.task_run
  ADD COLUMN let_go_at timestamptz,                         -- since when an outside job goes on with it
  ADD COLUMN deferrals smallint NOT NULL DEFAULT 0,
  DROP CONSTRAINT task_run_running_was_claimed,
  ADD CONSTRAINT task_run_running_was_claimed
    CHECK (status <> 'RUNNING' OR (claim_no IS NOT NULL AND claimed_at IS NOT NULL
                                   AND (claimed_by IS NOT NULL OR let_go_at IS NOT NULL))) NOT VALID,
  ADD CONSTRAINT task_run_pending_is_not_let_go CHECK (status <> 'PENDING' OR let_go_at IS NULL) NOT VALID;

-- What goes on outside, or would after the loss of its instance. Deleted with the end of its task run.
CREATE TABLE signalbox.outside_job (
  task_run_id  uuid PRIMARY KEY,
  kind         text NOT NULL,
  handle       jsonb NOT NULL,
  next_poll_at timestamptz NOT NULL,                        -- 'infinity' while an instance has it
  deadline     timestamptz NOT NULL,
  losses       smallint NOT NULL DEFAULT 0                  -- instances that were lost while they had it
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
CREATE INDEX outside_job_due ON signalbox.outside_job (kind, next_poll_at);

-- Only of those that were enqueued with a queue timeout. A row of one that was claimed in time goes when it is due.
CREATE TABLE signalbox.queue_deadline (
  task_run_id uuid PRIMARY KEY,
  at          timestamptz NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
CREATE INDEX queue_deadline_due ON signalbox.queue_deadline (at);

-- step
ALTER TABLE signalbox.task_run VALIDATE CONSTRAINT task_run_running_was_claimed;
ALTER TABLE signalbox.task_run VALIDATE CONSTRAINT task_run_pending_is_not_let_go;
