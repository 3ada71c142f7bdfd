-- Breaks nothing: whoever waits no more leaves its lines as before, for old instances too.

-- A foreign key looks for lines each time a row of `waiting` goes, which is once for every gated task; hardly any of them
-- stands in a line, and whoever does says so: `blocked_on` is RESOURCE_BUSY then, and only then.
CREATE FUNCTION signalbox.leave_lines() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
  DELETE FROM signalbox.line WHERE task_run_id = OLD.task_run_id;
  RETURN NULL;
END
$$;

CREATE TRIGGER waiting_leaves_lines AFTER DELETE ON signalbox.waiting
FOR EACH ROW WHEN (OLD.blocked_on = 'RESOURCE_BUSY')
EXECUTE FUNCTION signalbox.leave_lines();

ALTER TABLE signalbox.line DROP CONSTRAINT line_task_run_id_fkey;
