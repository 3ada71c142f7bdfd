-- Breaks nothing: the first tables. Task runs go straight from PENDING to RUNNING; 0002 brings AVAILABLE.

CREATE TABLE signalbox.run (
  id          uuid PRIMARY KEY,
  project     text NOT NULL DEFAULT 'default',
  title       text NOT NULL,
  status      text NOT NULL DEFAULT 'RUNNING',
  task_limit  integer NOT NULL DEFAULT 0,                  -- 0: unlimited
  open_tasks  integer NOT NULL,
  failed_tasks   integer NOT NULL DEFAULT 0,
  canceled_tasks integer NOT NULL DEFAULT 0,
  row_version integer NOT NULL DEFAULT 1,
  created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  finished_at timestamptz,
  CONSTRAINT run_status_check CHECK (status IN ('RUNNING', 'DONE', 'FAILED', 'CANCELED')),
  CONSTRAINT run_limit_is_not_negative CHECK (task_limit >= 0),
  -- Two last tasks that settle at once must end the run once: the count cannot pass zero unseen.
  CONSTRAINT run_ends_with_its_last_task
    CHECK (open_tasks >= 0 AND (open_tasks = 0) = (status <> 'RUNNING') AND (open_tasks = 0) = (finished_at IS NOT NULL))
);

-- Never updated: what is to be done does not change while it is being done.
CREATE TABLE signalbox.task (
  id         uuid PRIMARY KEY,
  project    text NOT NULL DEFAULT 'default',
  run_id     uuid,
  kind       text NOT NULL,
  title      text NOT NULL,
  input      jsonb NOT NULL,
  priority   smallint NOT NULL,
  run_at     timestamptz,
  version    bigint[],
  resources  jsonb NOT NULL DEFAULT '[]',                  -- [{"name": …, "mode": "exclusive" | "shared"}]
  policy     jsonb NOT NULL,
  gated      boolean NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT task_priority_in_range CHECK (priority BETWEEN 0 AND 9),
  CONSTRAINT task_version_orders_a_resource CHECK (version IS NULL OR resources <> '[]'),
  CONSTRAINT task_gated_where_a_gate_applies
    CHECK (gated = (run_id IS NOT NULL OR run_at IS NOT NULL OR version IS NOT NULL OR resources <> '[]'))
);

CREATE TABLE signalbox.task_run (
  id            uuid PRIMARY KEY,
  task_id       uuid NOT NULL,
  run_id        uuid,
  kind          text NOT NULL,
  priority      smallint NOT NULL,
  attempt       integer NOT NULL,
  interruptions smallint NOT NULL DEFAULT 0,
  gated         boolean NOT NULL,
  status        text NOT NULL,
  run_at        timestamptz,
  claim_no      bigint,
  claimed_by    uuid,                                      -- no foreign key: an owner that is gone must not block a settle
  enqueued_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  claimed_at    timestamptz,
  finished_at   timestamptz,
  outcome       text,
  cancel_requested_at timestamptz,
  cancel_requested_by text,
  cancel_reason text,
  row_version   integer NOT NULL DEFAULT 1,
  CONSTRAINT task_run_status_check CHECK (status IN ('PENDING', 'RUNNING', 'DONE', 'FAILED', 'CANCELED')),
  CONSTRAINT task_run_one_per_attempt UNIQUE (task_id, attempt),
  CONSTRAINT task_run_attempt_counts_from_one CHECK (attempt >= 1 AND interruptions BETWEEN 0 AND attempt - 1),
  CONSTRAINT task_run_running_was_claimed
    CHECK (status <> 'RUNNING' OR (claim_no IS NOT NULL AND claimed_at IS NOT NULL AND claimed_by IS NOT NULL)),
  CONSTRAINT task_run_ended_with_an_outcome
    CHECK ((status IN ('DONE', 'FAILED', 'CANCELED')) = (finished_at IS NOT NULL AND outcome IS NOT NULL))
);

CREATE INDEX task_run_active_status_id ON signalbox.task_run (status, id)
  WHERE status IN ('PENDING', 'RUNNING');

CREATE SEQUENCE signalbox.claim_no;

-- Ids are uuid v7 by the database's clock, with the microseconds in the twelve bits after the version,
-- so that ids of one batch sort in the order of the batch on every server from PostgreSQL 14 on.
CREATE FUNCTION signalbox.new_id() RETURNS uuid
LANGUAGE sql VOLATILE PARALLEL SAFE
AS $$
  SELECT encode(
           overlay(
             overlay(
               uuid_send(gen_random_uuid())
               PLACING substring(int8send(us / 1000) FROM 3) FROM 1 FOR 6)
             PLACING substring(int4send((28672 + (us % 1000) * 4096 / 1000)::integer) FROM 3) FROM 7 FOR 2),
           'hex')::uuid
    FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS us OFFSET 0) AS now
$$;

CREATE FUNCTION signalbox.refuse_change_of_ended() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
  RAISE EXCEPTION 'Task run % is % and never changes again', OLD.id, OLD.status
    USING ERRCODE = 'restrict_violation', CONSTRAINT = 'task_run_ended_never_changes';
END
$$;

-- AFTER, not BEFORE: a BEFORE trigger locks every tuple that is updated, also where WHEN is false.
CREATE TRIGGER task_run_ended_never_changes
  AFTER UPDATE ON signalbox.task_run
  FOR EACH ROW WHEN (OLD.status IN ('DONE', 'FAILED', 'CANCELED'))
  EXECUTE FUNCTION signalbox.refuse_change_of_ended();
