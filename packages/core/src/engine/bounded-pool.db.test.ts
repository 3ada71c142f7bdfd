import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { createScheduler } from "./scheduler.ts";
import type { Scheduler } from "./scheduler-face.ts";

const box = await openFixture(inject("adminUrl"));
const scheduler = createScheduler({
  databaseUrl: box.db.url,
  tasks: [echo],
  // Its lists have four fifths of this; a search is not bound by it.
  queryTimeoutMs: 500,
  searchTimeoutMs: 900,
});
let taskRunId: string;

beforeAll(async () => {
  ({ taskRunId } = await scheduler.enqueue(echo.task(1)));
});
afterAll(async () => {
  await scheduler.stop();
  await box.close();
});

const CALLS: readonly (readonly [keyof Scheduler, string, () => Promise<unknown>])[] = [
  ["list", "task_run", async () => await scheduler.list({ status: ["DONE"] })],
  ["listAttempts", "task", async () => await scheduler.listAttempts(taskRunId)],
  ["listRuns", "run", async () => await scheduler.listRuns()],
  ["readRules", "stop", async () => await scheduler.readRules()],
  ["listQueues", "waiting", async () => await scheduler.listQueues()],
  ["listResources", "line", async () => await scheduler.listResources()],
  ["getResource", "hold", async () => await scheduler.getResource("orders")],
  ["listInstances", "instance", async () => await scheduler.listInstances()],
  ["overview", "ready", async () => await scheduler.overview()],
  ["searchLog", "log_chunk", async () => await scheduler.searchLog(taskRunId, { search: "x" })],
];

it.each(CALLS)(
  "%s is given up where %s keeps it too long, and says what to do",
  async (name, table, call) => {
    const blocked = await box.pool("blocker").transaction(async (tx) => {
      await tx.query({
        name: "lock",
        text: `LOCK TABLE signalbox.${table} IN ACCESS EXCLUSIVE MODE`,
        values: [],
      });
      return await call().catch((error: unknown) => error);
    });

    expect(blocked).toMatchObject({
      code: "TOO_SLOW",
      message: expect.stringMatching(
        name === "searchLog"
          ? /^It took the database longer than 0\.9 s and was given up; call again/
          : /^It took the database longer than 0\.4 s and was given up; ask for fewer/,
      ),
    });
    // The connection is still good for the next.
    await call();
  },
);
