-- Breaks nothing: old instances go on. Runs of a status are listed newest first without reading the others.

-- step outside a transaction
-- What an interrupted earlier try left behind is an invalid index. A run changes its status when it ends or is reopened; what
-- counts its tasks down in between touches no column of this.
DROP INDEX CONCURRENTLY IF EXISTS signalbox.run_by_status;
CREATE INDEX CONCURRENTLY run_by_status ON signalbox.run (status, id);
