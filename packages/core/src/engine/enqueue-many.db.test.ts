/** Very many tasks in one call: one transaction, and statements of a bounded size. */

import pg from "pg";
import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const MANY = 10_001;
const specs = (many: number) => Array.from({ length: many }, (_, n) => echo.task(n));
const tasks = async (): Promise<number> => await box.value("SELECT count(*)::integer FROM signalbox.task");

/** A caller's own transaction that notes how many tasks each statement carries. */
async function begin(): Promise<{ readonly client: pg.Client; readonly carried: number[] }> {
  const client = new pg.Client({ connectionString: box.db.url, query_timeout: 20_000 });
  await client.connect();
  await client.query("BEGIN");
  return { client, carried: [] };
}

async function written(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ tasks: number }>(
    "SELECT count(*)::integer AS tasks FROM signalbox.task",
  );
  return rows[0]?.tasks ?? 0;
}

async function inBites(inputs: readonly unknown[]): Promise<readonly number[]> {
  const scheduler = await box.scheduler();
  const { client, carried } = await begin();
  const noting = {
    query: async (statement: { text: string; values: unknown[] }) => {
      const before = await written(client);
      const answer = await client.query(statement);
      if (statement.text.includes("INTO signalbox.task_run")) carried.push((await written(client)) - before);
      return answer;
    },
  };
  const given = inputs.map((input) => echo.task(input));
  const { taskRuns } = await scheduler.enqueueMany(given, { transaction: noting });
  expect(new Set(taskRuns.map(({ taskRunId }) => taskRunId)).size).toBe(inputs.length);
  await client.query("ROLLBACK");
  await client.end();
  expect(await tasks()).toBe(0);
  return carried;
}

describe("very many tasks in one call", () => {
  it("are sent in bites of a transaction, and none is there when that is rolled back", async () => {
    expect(await inBites(specs(MANY).map((_, n) => n))).toEqual([5_000, 5_000, 1]);
  });

  it("are sent in smaller bites where their inputs are long", async () => {
    const long = "x".repeat(200_000);

    expect(await inBites(Array.from({ length: 45 }, () => long))).toEqual([19, 19, 7]);
  });

  it("are answered in the given order", async () => {
    const scheduler = await box.scheduler();

    const { taskRuns } = await scheduler.enqueueMany(specs(MANY));

    for (const n of [0, 4_999, 5_000, MANY - 1])
      expect(await scheduler.get(taskRuns[n]?.taskRunId ?? "")).toMatchObject({ input: n });
  });

  it("are enqueued once with an idempotency key, and answered the same again", async () => {
    const scheduler = await box.scheduler();
    const first = await scheduler.enqueueMany(specs(MANY), { idempotencyKey: "import" });

    expect(await scheduler.enqueueMany(specs(MANY), { idempotencyKey: "import" })).toEqual(first);

    expect(await tasks()).toBe(MANY);
  });

  it("are refused above the bound, before anything is sent", async () => {
    const scheduler = await box.scheduler();

    await expect(scheduler.enqueueMany(specs(100_001))).rejects.toMatchObject({
      code: "INVALID_TASK",
      message: expect.stringContaining("are 100001, at most 100000 in one call"),
    });

    expect(await tasks()).toBe(0);
  });
});
