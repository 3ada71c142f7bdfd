-- Breaks nothing: older instances know of no operation, and carry none on.

-- A cancel or a retry of many that instances carry on bite by bite. `reached_id` is moved by the transaction that has done the
-- bite, so whoever goes on after a crash begins where the last commit ended.
CREATE TABLE signalbox.operation (
  id uuid PRIMARY KEY DEFAULT signalbox.new_id(),
  project text NOT NULL DEFAULT 'default',
  verb text NOT NULL CONSTRAINT operation_verb_check CHECK (verb IN ('cancel', 'retry')),
  filter jsonb NOT NULL,
  asked_by text,
  reason text,
  status text NOT NULL DEFAULT 'RUNNING' CONSTRAINT operation_status_check CHECK (status IN ('RUNNING', 'DONE', 'ABORTED')),
  -- What came later is not meant: a retry would find its own new attempts.
  before_id uuid NOT NULL DEFAULT signalbox.new_id(),
  reached_id uuid NOT NULL,
  -- As it was when somebody asked: what the filter fits, by why it could not be done, and whether the count stopped at its bound.
  expected jsonb NOT NULL,
  done integer NOT NULL DEFAULT 0,
  skipped jsonb NOT NULL DEFAULT '{}',
  failed integer NOT NULL DEFAULT 0,
  items integer NOT NULL DEFAULT 0,
  aborted_by text,
  abort_reason text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamptz,
  -- Whoever had its last turn longest ago is next. What went wrong with that turn stays until one goes well.
  turned_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  problem text,
  row_version integer NOT NULL DEFAULT 1,
  CONSTRAINT operation_ended_has_a_time CHECK ((status = 'RUNNING') = (ended_at IS NULL)),
  CONSTRAINT operation_counts_are_not_negative CHECK (done >= 0 AND failed >= 0 AND items >= 0)
) WITH (fillfactor = 50);
-- The few that go on, oldest first; it costs nothing to find that there is none.
CREATE INDEX operation_running ON signalbox.operation (id) WHERE status = 'RUNNING';
CREATE INDEX operation_by_end ON signalbox.operation (ended_at) WHERE ended_at IS NOT NULL;

-- The first thousand that an operation could not do, each with why.
CREATE TABLE signalbox.operation_item (
  operation_id uuid NOT NULL CONSTRAINT operation_item_of_operation REFERENCES signalbox.operation ON DELETE CASCADE,
  item_no integer NOT NULL,
  task_run_id uuid NOT NULL,
  result text NOT NULL CONSTRAINT operation_item_result_check CHECK (result IN ('skipped', 'failed')),
  reason text NOT NULL,
  detail text,
  PRIMARY KEY (operation_id, item_no)
);
