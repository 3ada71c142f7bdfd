-- After a failover the WAL timeline is another one, and numbers that the lost tail of the old primary had given out
-- would be given out again (docs/adr/0012-timeline.md). Instances of before go on beside new ones, without that guard.

-- Which number a promotion of a standby counts up; the part of the WAL file's name that says so, readable by any role.
CREATE FUNCTION signalbox.current_timeline() RETURNS integer
  LANGUAGE sql VOLATILE
  AS $$ SELECT ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::integer $$;

-- The timeline for which the numbers have been raised. One row.
CREATE TABLE signalbox.known_timeline (
  only_row  boolean PRIMARY KEY DEFAULT true,
  timeline  integer NOT NULL,
  raised_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT known_timeline_is_one_row CHECK (only_row)
);
INSERT INTO signalbox.known_timeline (timeline) VALUES (signalbox.current_timeline());

-- The known timeline when the instance last renewed: it claims on no other.
ALTER TABLE signalbox.instance ADD COLUMN timeline integer;
