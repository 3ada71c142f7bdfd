-- Breaks nothing: older instances take no notice of who asked, and claim nothing either.

-- Somebody asked this instance to drain, from outside. One that leaves by itself is DRAINING without it.
ALTER TABLE signalbox.instance
  ADD COLUMN drain_requested_at timestamptz,
  ADD COLUMN drain_requested_by text,
  ADD COLUMN drain_reason text,
  ADD CONSTRAINT instance_asked_to_drain_is_not_live CHECK (state <> 'LIVE' OR drain_requested_at IS NULL) NOT VALID;
ALTER TABLE signalbox.instance VALIDATE CONSTRAINT instance_asked_to_drain_is_not_live;
