-- Breaks instances of 0001 and 0002: stop them first. Small tables hold what is active, instead of an
-- index on the status (docs/adr/0002-work-sets.md).

CREATE TABLE signalbox.instance (
  boot_id    uuid PRIMARY KEY,
  name       text NOT NULL,
  state      text NOT NULL DEFAULT 'LIVE',
  kinds      text[] NOT NULL,
  slots      integer NOT NULL,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  beat_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL,                          -- not indexed: every beat is a HOT update
  CONSTRAINT instance_state_check CHECK (state IN ('LIVE', 'DRAINING', 'DEAD'))
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- PENDING: one row each, with all its gates look at and where it is parked.
CREATE TABLE signalbox.waiting (
  task_run_id   uuid PRIMARY KEY,
  task_id       uuid NOT NULL,
  run_id        uuid,
  kind          text NOT NULL,
  priority      smallint NOT NULL,
  enqueued_at   timestamptz NOT NULL,
  run_at        timestamptz,
  version       bigint[],
  resources     jsonb NOT NULL,
  blocked_on    text,                                       -- NULL: no pass has looked at it yet
  blocked_key   text,
  blocked_since timestamptz,
  CONSTRAINT waiting_parked_at_one_gate
    CHECK ((blocked_on IS NULL) = (blocked_key IS NULL) AND (blocked_on IS NULL) = (blocked_since IS NULL))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

CREATE INDEX waiting_new ON signalbox.waiting (priority, enqueued_at, task_run_id) WHERE blocked_on IS NULL;
CREATE INDEX waiting_due ON signalbox.waiting (run_at) WHERE blocked_on = 'RUN_AT';
CREATE INDEX waiting_for_version ON signalbox.waiting (blocked_key, version, priority, enqueued_at, task_run_id)
  WHERE blocked_on = 'VERSION_ORDER';
CREATE INDEX waiting_for_run ON signalbox.waiting (blocked_key, priority, enqueued_at, task_run_id)
  WHERE blocked_on = 'RUN_LIMIT';
CREATE INDEX waiting_for_resource ON signalbox.waiting (blocked_key, priority, enqueued_at, task_run_id)
  WHERE blocked_on = 'RESOURCE_BUSY';

-- Who waits at a resource and at nothing else, in line order. Gone with the waiting row, by the schema.
CREATE TABLE signalbox.line (
  name        text NOT NULL,
  priority    smallint NOT NULL,
  enqueued_at timestamptz NOT NULL,
  task_run_id uuid NOT NULL REFERENCES signalbox.waiting ON DELETE CASCADE,
  mode        text NOT NULL,
  version     bigint[],
  PRIMARY KEY (name, priority, enqueued_at, task_run_id),
  CONSTRAINT line_mode_check CHECK (mode IN ('exclusive', 'shared'))
);
CREATE INDEX line_of_task_run ON signalbox.line (task_run_id);
CREATE INDEX line_of_exclusive ON signalbox.line (name, priority, enqueued_at, task_run_id) WHERE mode = 'exclusive';

-- AVAILABLE: what any instance that knows the kind may claim.
CREATE TABLE signalbox.ready (
  kind        text NOT NULL,
  priority    smallint NOT NULL,
  task_run_id uuid NOT NULL,
  PRIMARY KEY (kind, priority, task_run_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Capacity is rows: a limit of three is three slots, and a slot has one holder.
CREATE TABLE signalbox.hold (
  scope        text NOT NULL,                               -- 'run:<id>' or 'resource:<name>'
  slot         integer NOT NULL,                            -- of a resource: 0 is the exclusive one
  task_run_id  uuid,
  reserved_for uuid,                                        -- the task it is kept for since a holder was lost
  since        timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (scope, slot),
  CONSTRAINT hold_has_a_holder_or_is_reserved CHECK (task_run_id IS NOT NULL OR reserved_for IS NOT NULL)
);
CREATE INDEX hold_of_task_run ON signalbox.hold (task_run_id) WHERE task_run_id IS NOT NULL;
CREATE INDEX hold_reserved_for ON signalbox.hold (reserved_for) WHERE reserved_for IS NOT NULL;

-- The net under shared against exclusive, which no unique index can be.
CREATE TABLE signalbox.resource_use (
  name      text PRIMARY KEY,
  exclusive integer NOT NULL,
  shared    integer NOT NULL,
  CONSTRAINT resource_held_alone_or_shared
    CHECK (shared >= 0 AND (exclusive = 0 OR (exclusive = 1 AND shared = 0)))
) WITH (fillfactor = 50);

-- Which versions are open on a resource: PENDING, AVAILABLE or RUNNING alike.
CREATE TABLE signalbox.open_version (
  name        text NOT NULL,
  version     bigint[] NOT NULL,
  task_run_id uuid NOT NULL,
  PRIMARY KEY (name, version, task_run_id)
);
CREATE INDEX open_version_of_task_run ON signalbox.open_version (task_run_id);

-- Which gates may have opened; written in the transaction that opened them.
CREATE TABLE signalbox.gate_wake (
  id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key text NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Which task runs an instance claimed together: what reconcile and rescue read instead of an index on the owner.
CREATE TABLE signalbox.claim_batch (
  claim_no     bigint PRIMARY KEY,
  instance_id  uuid NOT NULL,
  request_no   integer NOT NULL,                            -- the instance's own number of the request
  task_run_ids uuid[] NOT NULL,
  claimed_at   timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
CREATE INDEX claim_batch_of_instance ON signalbox.claim_batch (instance_id);

CREATE TABLE signalbox.task_run_result (
  task_run_id uuid PRIMARY KEY,
  output      jsonb,
  error       jsonb
);

-- Append-only. For task runs it holds the irregular moves, each with the stamps of the stay that it ends;
-- the regular ones are the stamps on the row.
CREATE TABLE signalbox.event_store (
  id                uuid PRIMARY KEY DEFAULT signalbox.new_id(),
  aggregate_type    text NOT NULL,
  aggregate_id      uuid NOT NULL,
  aggregate_version integer NOT NULL,
  type              text NOT NULL,
  data              jsonb NOT NULL,
  at                timestamptz NOT NULL DEFAULT clock_timestamp(),
  xact_id           xid8 NOT NULL DEFAULT pg_current_xact_id(),
  CONSTRAINT event_store_one_per_version UNIQUE (aggregate_id, aggregate_version)
);

-- step
-- What is open in the old tables enters the work sets. The lock keeps a forgotten writer of 0001 out meanwhile.
LOCK TABLE signalbox.task_run IN SHARE ROW EXCLUSIVE MODE;

UPDATE signalbox.task_run
   SET available_at = coalesce(claimed_at, enqueued_at), row_version = row_version + 1
 WHERE status IN ('AVAILABLE', 'RUNNING') AND available_at IS NULL;

INSERT INTO signalbox.waiting (task_run_id, task_id, run_id, kind, priority, enqueued_at, run_at, version, resources)
SELECT t.id, t.task_id, t.run_id, t.kind, t.priority, t.enqueued_at, t.run_at, k.version, k.resources
  FROM signalbox.task_run t JOIN signalbox.task k ON k.id = t.task_id
 WHERE t.status = 'PENDING';

INSERT INTO signalbox.ready (kind, priority, task_run_id)
SELECT kind, priority, id FROM signalbox.task_run WHERE status = 'AVAILABLE';

INSERT INTO signalbox.open_version (name, version, task_run_id)
SELECT r.name, k.version, t.id
  FROM signalbox.task_run t
  JOIN signalbox.task k ON k.id = t.task_id
 CROSS JOIN LATERAL jsonb_to_recordset(k.resources) AS r (name text, mode text)
 WHERE t.status IN ('PENDING', 'AVAILABLE', 'RUNNING') AND k.version IS NOT NULL;

INSERT INTO signalbox.hold (scope, slot, task_run_id)
SELECT 'run:' || run_id, row_number() OVER (PARTITION BY run_id ORDER BY id) - 1, id
  FROM signalbox.task_run
 WHERE status IN ('AVAILABLE', 'RUNNING') AND run_id IS NOT NULL;

-- 0001 had no gates: of two that hold one resource alone, the older keeps it.
INSERT INTO signalbox.hold (scope, slot, task_run_id)
SELECT 'resource:' || r.name,
       CASE r.mode WHEN 'exclusive' THEN 0 ELSE row_number() OVER (PARTITION BY r.name, r.mode ORDER BY t.id) END,
       t.id
  FROM signalbox.task_run t
  JOIN signalbox.task k ON k.id = t.task_id
 CROSS JOIN LATERAL jsonb_to_recordset(k.resources) AS r (name text, mode text)
 WHERE t.status IN ('AVAILABLE', 'RUNNING')
    ON CONFLICT DO NOTHING;

DELETE FROM signalbox.hold AS shared
 WHERE shared.scope LIKE 'resource:%' AND shared.slot > 0
   AND EXISTS (SELECT FROM signalbox.hold AS alone WHERE alone.scope = shared.scope AND alone.slot = 0);

INSERT INTO signalbox.resource_use (name, exclusive, shared)
SELECT substr(scope, length('resource:') + 1), count(*) FILTER (WHERE slot = 0), count(*) FILTER (WHERE slot > 0)
  FROM signalbox.hold
 WHERE scope LIKE 'resource:%'
 GROUP BY scope;

INSERT INTO signalbox.claim_batch (claim_no, instance_id, request_no, task_run_ids)
SELECT claim_no, (array_agg(claimed_by))[1], 0, array_agg(id)
  FROM signalbox.task_run
 WHERE status = 'RUNNING'
 GROUP BY claim_no;

ALTER TABLE signalbox.task_run
  SET (fillfactor = 45, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000),
  ADD CONSTRAINT task_run_active_was_made_available
    CHECK (status NOT IN ('AVAILABLE', 'RUNNING') OR available_at IS NOT NULL) NOT VALID,
  ADD CONSTRAINT task_run_pending_carries_no_stay
    CHECK (status <> 'PENDING' OR (available_at IS NULL AND claimed_at IS NULL AND claimed_by IS NULL)) NOT VALID,
  -- A row that was inserted and not changed since has version 1: only what no gate applies to begins AVAILABLE.
  ADD CONSTRAINT task_run_gated_begins_pending
    CHECK (NOT gated OR status <> 'AVAILABLE' OR row_version > 1) NOT VALID;

DROP INDEX signalbox.task_run_active_status_id;

-- step
ALTER TABLE signalbox.task_run VALIDATE CONSTRAINT task_run_active_was_made_available;
ALTER TABLE signalbox.task_run VALIDATE CONSTRAINT task_run_pending_carries_no_stay;
ALTER TABLE signalbox.task_run VALIDATE CONSTRAINT task_run_gated_begins_pending;
