-- Breaks nothing: older instances go on writing `wait_time`, which is still read where a task run itself does not say.

-- What it waited for, written with the status that ends the wait: a row of its own and its index took longer than that status.
ALTER TABLE signalbox.task_run ADD COLUMN waited jsonb;
