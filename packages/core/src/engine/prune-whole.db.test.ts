/** What is kept by the id of a task, of its attempts or of its run goes with it: no table is forgotten. */

import { afterAll, afterEach, expect, inject, it } from "vitest";
import { openFixture } from "../../test/fixture.ts";
import { makeOlder } from "../../test/make-older.ts";
import { exclusive } from "../domain/resource.ts";
import { defineTask } from "../executors/define-task.ts";
import { pruneOnce } from "./pruner.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const DAY = 86_400_000;
const KEEP = { DONE: 7 * DAY, FAILED: 7 * DAY, CANCELED: 7 * DAY };
/** Those that this history fills, beside the tasks and their attempts. */
const FILLED = [
  "event_store",
  "log_chunk",
  "pause",
  "queue_deadline",
  "run",
  "stop",
  "task_run_result",
  "wait_time",
];

const talks = defineTask({
  kind: "talks",
  run: (_, { log }) => {
    log("so far, so good");
    return "done";
  },
});

/** How many rows each table has that names a task, an attempt or a run. */
async function rowsByTable(): Promise<Readonly<Record<string, number>>> {
  const tables = await box.query<{ name: string }>(
    `SELECT DISTINCT table_name AS name FROM information_schema.columns
      WHERE table_schema = 'signalbox' AND column_name IN ('task_run_id', 'task_id', 'run_id')
      UNION SELECT unnest(ARRAY['task', 'run', 'pause', 'event_store'])`,
  );
  const rows: Record<string, number> = {};
  for (const { name } of tables)
    rows[name] = await box.value<number>(`SELECT count(*)::integer FROM signalbox.${name}`);
  return rows;
}

it("leaves nothing behind in any table", async () => {
  const scheduler = await box.scheduler({ tasks: [talks] });
  const spec = talks.task(null, { resources: [exclusive("orders")], timeouts: { queuedMs: DAY } });
  const { runId, taskRuns } = await scheduler.enqueueMany([spec, spec], { run: { title: "nightly" } });
  if (runId === null) throw new Error("It was enqueued without a run");
  await scheduler.promote();
  // One of them was AVAILABLE, and goes back: an event of a task run.
  await scheduler.pause({ runId });
  await scheduler.resume({ runId });
  await scheduler.runUntilIdle();
  for (const { taskId } of taskRuns) await scheduler.putStop(taskId, "APPROVAL");
  // As instances of before wrote it.
  await box.query(
    `INSERT INTO signalbox.wait_time (task_run_id, waited) SELECT id, '{"RESOURCE_BUSY": 5}' FROM signalbox.task_run`,
  );
  const before = await rowsByTable();
  await makeOlder(box, 8 * DAY);

  const pool = box.pool("pruner");
  while (await pruneOnce({ pool, keepMs: KEEP, emit: () => {} }));

  expect(FILLED.filter((name) => (before[name] ?? 0) === 0)).toEqual([]);
  expect(Object.entries(await rowsByTable()).filter(([, rows]) => rows > 0)).toEqual([]);
});
