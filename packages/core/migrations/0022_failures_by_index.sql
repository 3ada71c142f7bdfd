-- Breaks nothing: old instances go on. What has failed is listed newest first without reading all that has ended.

-- step outside a transaction
-- What an interrupted earlier try left behind is an invalid index. Every failure has an error, written once with its end; a
-- success with a result costs nothing here.
DROP INDEX CONCURRENTLY IF EXISTS signalbox.task_run_result_of_failures;
CREATE INDEX CONCURRENTLY task_run_result_of_failures ON signalbox.task_run_result (task_run_id) WHERE error IS NOT NULL;
