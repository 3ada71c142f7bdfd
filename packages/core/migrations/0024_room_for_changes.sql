-- Breaks nothing: old instances find their rows as before, and more room beside them.

-- A task run is written at least three times: waiting or AVAILABLE, RUNNING, ended. Where the third finds no room on its page, because
-- somebody may still see the first, it goes to another one, and into both indexes. Only new pages are filled less; the rest of an old one is used as before.
ALTER TABLE signalbox.task_run SET (fillfactor = 30);

-- Written by every end of a version, always the same row.
ALTER TABLE signalbox.done_version SET (fillfactor = 30);
