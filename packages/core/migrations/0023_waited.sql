-- Breaks nothing: older instances go on writing `wait_time`, which is still read where a task run itself does not say.

-- What it waited for, written with the status that ends the wait: a row of its own and its index took longer than that status.
ALTER TABLE signalbox.task_run ADD COLUMN waited jsonb;

-- What a pass asks of each that waits lies beside the rest of it. Null where an older instance put it there: its task says.
ALTER TABLE signalbox.waiting ADD COLUMN out_of_order boolean;
