/** Found by the mix of faults, and directed here: whoever waits for nobody must not wait for the slow sweep. */

import { defineTask } from "@signalbox/core";
import { createManualScheduler, createTestDatabase, type TestDatabase } from "@signalbox/core/testing";
import pg from "pg";
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from "vitest";
import { joinTransaction } from "../../packages/core/src/store/database.ts";
import { cancelTaskRun } from "../../packages/core/src/store/task-runs/cancel.ts";
import { findTaskRun } from "../../packages/core/src/store/task-runs/find.ts";
import { until } from "./until.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase(inject("adminUrl"));
});
afterAll(async () => await database?.drop());

it("lets the next of a run go when the one ahead is canceled in the moment it is promoted", async () => {
  const work = defineTask({ kind: "work", run: () => null });
  const scheduler = await createManualScheduler({ databaseUrl: database.url, tasks: [work] });
  const canceler = new pg.Client({ connectionString: database.url });
  await canceler.connect();
  onTestFinished(async () => {
    await canceler.end();
    await scheduler.close();
  });
  const { taskRuns } = await scheduler.enqueueMany(
    [work.task(null, { priority: 1 }), work.task(null, { priority: 2 })],
    { run: { title: "one at a time", limit: 1 } },
  );
  const [first, second] = taskRuns.map(({ taskRunId }) => String(taskRunId));

  await canceler.query("BEGIN");
  const tx = joinTransaction(canceler);
  await cancelTaskRun(tx, await findTaskRun(tx, first ?? ""), { by: null, reason: null });
  const pass = scheduler.promote();
  await until("the pass waits for the cancel", async () => await somebodyWaits(), { withinMs: 10_000 });
  await canceler.query("COMMIT");
  await pass;
  await scheduler.promote();

  expect((await scheduler.get(second ?? "")).status).toBe("AVAILABLE");
});

async function somebodyWaits(): Promise<boolean> {
  const { rowCount } = await database.client.query(
    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
  );
  return rowCount !== 0;
}
