-- Breaks nothing: AVAILABLE between PENDING and RUNNING. Writers of 0001 go on while this runs.

ALTER TABLE signalbox.task_run
  DROP CONSTRAINT task_run_status_check,
  ADD CONSTRAINT task_run_status_check
    CHECK (status IN ('PENDING', 'AVAILABLE', 'RUNNING', 'DONE', 'FAILED', 'CANCELED')) NOT VALID,
  ADD COLUMN available_at timestamptz;

-- step
-- By itself, so that the scan of the table holds no lock that a writer waits for.
ALTER TABLE signalbox.task_run VALIDATE CONSTRAINT task_run_status_check;

-- step outside a transaction
-- What an interrupted earlier try left behind is an invalid index.
DROP INDEX CONCURRENTLY IF EXISTS signalbox.task_run_active_status_id_new;
CREATE INDEX CONCURRENTLY task_run_active_status_id_new ON signalbox.task_run (status, id)
  WHERE status IN ('PENDING', 'AVAILABLE', 'RUNNING');

-- step
DROP INDEX signalbox.task_run_active_status_id;
ALTER INDEX signalbox.task_run_active_status_id_new RENAME TO task_run_active_status_id;
