-- By what an instance that starts on the same host proves that the process of an old one is gone
-- (docs/adr/0018-gone-processes.md). Instances of before write neither: their leases run out as always.

ALTER TABLE signalbox.instance
  ADD COLUMN host    text,                                   -- one start of one system, with one view of its processes
  ADD COLUMN process text,                                   -- the id of the process and when it started
  ADD CONSTRAINT instance_process_has_host CHECK ((host IS NULL) = (process IS NULL));
