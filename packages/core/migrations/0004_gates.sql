-- Breaks instances of 0003: stop them first. Queues, keys, rates, pauses, windows and stops
-- (docs/adr/0010-queue-rules.md).

ALTER TABLE signalbox.task
  ADD COLUMN queue           text NOT NULL DEFAULT 'default',
  ADD COLUMN concurrency_key text,
  ADD COLUMN rate            text,
  ADD COLUMN tags            text[] NOT NULL DEFAULT '{}',
  DROP CONSTRAINT task_gated_where_a_gate_applies,
  -- One way only: a task that names no gate is gated too when its queue has rules.
  ADD CONSTRAINT task_gated_where_a_gate_applies
    CHECK (gated OR (run_id IS NULL AND run_at IS NULL AND version IS NULL AND resources = '[]'::jsonb
                     AND concurrency_key IS NULL AND rate IS NULL)) NOT VALID;
CREATE INDEX task_tags ON signalbox.task USING gin (tags) WHERE tags <> '{}';

ALTER TABLE signalbox.task_run ADD COLUMN queue text NOT NULL DEFAULT 'default';

ALTER TABLE signalbox.waiting
  ADD COLUMN queue           text NOT NULL DEFAULT 'default',
  ADD COLUMN concurrency_key text,
  ADD COLUMN rate            text,
  ADD COLUMN waited          jsonb;                         -- milliseconds by cause, of the gates it has left
-- One index for every gate whose key has a line of its own; RUN_AT and VERSION_ORDER sort by something else.
CREATE INDEX waiting_parked ON signalbox.waiting (blocked_on, blocked_key, priority, enqueued_at, task_run_id)
  WHERE blocked_on NOT IN ('RUN_AT', 'VERSION_ORDER');
DROP INDEX signalbox.waiting_for_run;
DROP INDEX signalbox.waiting_for_resource;

ALTER TABLE signalbox.ready
  ADD COLUMN queue        text NOT NULL DEFAULT 'default',
  ADD COLUMN available_at timestamptz NOT NULL DEFAULT clock_timestamp(),  -- the stamp of its task run
  ADD COLUMN rules_no     integer NOT NULL DEFAULT 0,       -- the rules of its queue under which it came here
  ADD COLUMN open_until   timestamptz NOT NULL DEFAULT 'infinity',
  DROP CONSTRAINT ready_pkey;
UPDATE signalbox.ready SET available_at = t.available_at FROM signalbox.task_run AS t WHERE t.id = ready.task_run_id;
-- By when it came here, not by its age: otherwise what is left of an old run goes before every younger one.
ALTER TABLE signalbox.ready ADD PRIMARY KEY (kind, queue, priority, available_at, task_run_id);
CREATE INDEX ready_closing ON signalbox.ready (open_until) WHERE open_until < 'infinity';

-- A queue without a row has no rules: unlimited, weight 1. Rows are never deleted, so that `rules_no` only rises.
CREATE TABLE signalbox.queue (
  name        text PRIMARY KEY,
  slot_limit  integer NOT NULL DEFAULT 0,                   -- 0: unlimited
  weight      integer NOT NULL DEFAULT 1,
  rules_no    integer NOT NULL DEFAULT 0,                   -- raised by each rule that closes: what is AVAILABLE must go back
  row_version integer NOT NULL DEFAULT 1,
  CONSTRAINT queue_limit_is_not_negative CHECK (slot_limit >= 0),
  CONSTRAINT queue_weight_in_range CHECK (weight BETWEEN 1 AND 1000)
);

-- A key without a row has a limit of one. 'customer:*' stands for every key that begins with 'customer:'.
CREATE TABLE signalbox.key_limit (
  concurrency_key text PRIMARY KEY,
  slot_limit      integer NOT NULL,
  row_version     integer NOT NULL DEFAULT 1,
  CONSTRAINT key_limit_is_positive CHECK (slot_limit >= 1)
);

CREATE TABLE signalbox.rate (
  name        text PRIMARY KEY,
  amount      integer NOT NULL,
  per_ms      bigint NOT NULL,
  row_version integer NOT NULL DEFAULT 1,
  CONSTRAINT rate_amount_in_range CHECK (amount BETWEEN 1 AND 10000),
  CONSTRAINT rate_per_in_range CHECK (per_ms BETWEEN 1 AND 86400000)
);

-- A rate of ten a second is ten slots, each free again a second after the start of whoever took it last.
CREATE TABLE signalbox.rate_slot (
  rate        text NOT NULL,
  slot        integer NOT NULL,
  task_run_id uuid NOT NULL,
  started_at  timestamptz,                                  -- a start that its task run does not tell any more: it was deferred
  PRIMARY KEY (rate, slot)
) WITH (fillfactor = 70);

CREATE TABLE signalbox.pause (
  over        text NOT NULL,
  name        text NOT NULL,                                -- of the queue or resource, or the run's id
  paused      boolean NOT NULL,
  since       timestamptz NOT NULL DEFAULT clock_timestamp(),
  changed_by  text,
  reason      text,
  row_version integer NOT NULL DEFAULT 1,
  PRIMARY KEY (over, name),
  CONSTRAINT pause_over_check CHECK (over IN ('queue', 'run', 'resource'))
);

CREATE TABLE signalbox.start_window (
  over        text NOT NULL,
  name        text NOT NULL,
  windows     jsonb NOT NULL,                               -- all windows of this scope; '[]': none any more
  row_version integer NOT NULL DEFAULT 1,
  PRIMARY KEY (over, name),
  CONSTRAINT start_window_over_check CHECK (over IN ('queue', 'resource'))
);

-- Put by a package that keeps a task from starting. Core shows the code and knows no more of it.
CREATE TABLE signalbox.stop (
  task_id uuid NOT NULL,
  code    text NOT NULL,
  detail  text,
  since   timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (task_id, code)
);

-- What a task run waited for before it became AVAILABLE, in milliseconds by cause.
CREATE TABLE signalbox.wait_time (
  task_run_id uuid PRIMARY KEY,
  waited      jsonb NOT NULL
);

CREATE FUNCTION signalbox.add_wait(waited jsonb, cause text, since timestamptz) RETURNS jsonb
LANGUAGE sql PARALLEL SAFE AS $$
  SELECT CASE WHEN cause IS NULL THEN waited
              ELSE coalesce(waited, '{}') || jsonb_build_object(
                     cause, coalesce((waited->>cause)::bigint, 0)
                            + (extract(epoch FROM clock_timestamp() - since) * 1000)::bigint) END
$$;

-- A wake may lie ahead: the opening of a window, the next slot of a rate. One of these per key.
ALTER TABLE signalbox.gate_wake ADD COLUMN due_at timestamptz;
CREATE UNIQUE INDEX gate_wake_due ON signalbox.gate_wake (key) WHERE due_at IS NOT NULL;

-- step
ALTER TABLE signalbox.task VALIDATE CONSTRAINT task_gated_where_a_gate_applies;
