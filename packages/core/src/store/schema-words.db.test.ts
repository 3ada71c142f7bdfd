/** Columns that hold one of a few words or numbers hold no other. */

import { afterAll, afterEach, expect, inject, it } from "vitest";
import { openFixture } from "../../test/fixture.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

it.each([
  [
    "the state of an instance",
    "instance_state_check",
    `INSERT INTO signalbox.instance (boot_id, name, state, kinds, slots, expires_at)
     VALUES (gen_random_uuid(), 'a', 'ASLEEP', '{}', 1, now())`,
  ],
  [
    "the mode of one who waits in line",
    "line_mode_check",
    `INSERT INTO signalbox.line (name, priority, enqueued_at, task_run_id, mode)
     VALUES ('a', 5, now(), gen_random_uuid(), 'alone')`,
  ],
  [
    "the status of a run",
    "run_status_check",
    `INSERT INTO signalbox.run (id, title, status, open_tasks, finished_at)
     VALUES (gen_random_uuid(), 'a', 'LATE', 0, now())`,
  ],
  [
    "the priority of a task",
    "task_priority_in_range",
    `INSERT INTO signalbox.task (id, kind, title, input, priority, policy, gated)
     VALUES (gen_random_uuid(), 'a', 'a', '1', 10, '{}', false)`,
  ],
])("refuses a word that is none for %s", async (_, constraint, statement) => {
  await expect(box.query(statement)).rejects.toMatchObject({ code: "23514", constraint });
});
