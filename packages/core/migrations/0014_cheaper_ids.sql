-- Breaks nothing: ids look the same, and old instances do not notice.

-- From PostgreSQL 18 on the server has a function of its own for them, which takes a sixth of the time.
DO $$
BEGIN
  IF current_setting('server_version_num')::integer >= 180000 THEN
    CREATE OR REPLACE FUNCTION signalbox.new_id() RETURNS uuid
    LANGUAGE sql VOLATILE PARALLEL SAFE
    AS 'SELECT uuidv7()';
  END IF;
END
$$;

-- Ids of one moment do not get smaller by compression; to try it took a tenth of a claim's time.
ALTER TABLE signalbox.claim_batch ALTER COLUMN task_run_ids SET STORAGE EXTERNAL;
