-- Breaks nothing: a new table, for what task runs print. Whoever holds the claim appends; of a long log the middle is
-- deleted. The log of a task run is one range of the key, for whoever reads, follows or prunes it.

CREATE TABLE signalbox.log_chunk (
  task_run_id  uuid NOT NULL,
  start_offset bigint NOT NULL,                             -- in bytes as printed, all streams together: a gap was left out
  end_offset   bigint NOT NULL,
  claim_no     bigint NOT NULL,
  stream       text NOT NULL,
  text         text NOT NULL,
  at           timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (task_run_id, start_offset),
  CONSTRAINT log_chunk_is_a_range CHECK (start_offset >= 0 AND end_offset > start_offset),
  CONSTRAINT log_chunk_stream_check CHECK (stream IN ('stdout', 'stderr', 'task', 'system'))
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
