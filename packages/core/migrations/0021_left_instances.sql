-- Breaks nothing: older instances leave without it, and are told as lost.

-- Its last word. An instance that is DEAD without it was lost: its lease ran out, or its process was found gone.
ALTER TABLE signalbox.instance
  ADD COLUMN left_at timestamptz,
  ADD CONSTRAINT instance_that_left_is_dead CHECK (left_at IS NULL OR state = 'DEAD') NOT VALID;
ALTER TABLE signalbox.instance VALIDATE CONSTRAINT instance_that_left_is_dead;
