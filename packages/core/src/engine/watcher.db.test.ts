import pg from "pg";
import { afterAll, afterEach, expect, inject, it } from "vitest";
import { openFixture } from "../../test/fixture.ts";
import type { Database } from "../store/database.ts";
import type { SchedulerEvent } from "./telemetry.ts";
import { watchOnce } from "./watcher.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

async function watched(db: Database): Promise<SchedulerEvent[]> {
  const events: SchedulerEvent[] = [];
  await watchOnce({ db, emit: (event) => events.push(event) });
  return events;
}

it("tells how full the queue of NOTIFY is, and that no transaction is open", async () => {
  expect(await watched(box.pool("watcher"))).toEqual([
    { type: "database.watched", oldestTransaction: null, overlong: false, notifyQueue: 0 },
  ]);
});

it("names the transaction that has been open for longest", async () => {
  const first = await openTransaction("the oldest");
  const second = await openTransaction("a younger one");

  const [event] = await watched(box.pool("watcher"));

  expect(event).toMatchObject({
    oldestTransaction: { applicationName: "the oldest", pid: first.pid, openMs: expect.any(Number) },
    overlong: false,
  });
  await first.end();
  await second.end();
});

it.each([
  [299_000, false],
  [301_000, true],
])("calls one that has been open for %d ms overlong: %s", async (openMs, overlong) => {
  const { end } = await openTransaction("a caller");
  const pool = box.pool("watcher");
  // The answer of the real statement, some minutes later.
  const later: Database = {
    query: async (statement) => (await pool.query(statement)).map((row) => ({ ...row, openMs })),
  };

  expect(await watched(later)).toMatchObject([{ overlong, oldestTransaction: { openMs } }]);
  await end();
});

async function openTransaction(
  name: string,
): Promise<{ readonly pid: number; readonly end: () => Promise<void> }> {
  const client = new pg.Client({ connectionString: box.db.url, application_name: name });
  await client.connect();
  await client.query("BEGIN");
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  return { pid: rows[0]?.pid ?? 0, end: async () => await client.end() };
}
