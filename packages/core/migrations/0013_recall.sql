-- Breaks nothing: old instances go on, and send back in one piece as before.

-- What is AVAILABLE under a rule of a run or a resource that has changed, and is still to be sent back: in bites, each of
-- which goes on where the one before it ended, whoever did that.
CREATE TABLE signalbox.recall (
  scope text PRIMARY KEY,
  because text NOT NULL,
  after_slot integer NOT NULL DEFAULT -1,
  to_slot integer NOT NULL,
  since timestamptz NOT NULL DEFAULT clock_timestamp()
);
