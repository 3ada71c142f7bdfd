/** A client whose server is killed while it creates: with idempotency keys it asks another one, and each task is there once. */

import { createTestDatabase, type TestDatabase } from "@signalbox/core/testing";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type Server, startServer } from "./serve-process.ts";

const CREATES = 1_000;
const KILLED_AFTER = 400;
/** So many are under way when the server is killed. */
const AT_ONCE = 16;

let database: TestDatabase;
let servers: readonly [Server, Server];

beforeAll(async () => {
  database = await createTestDatabase(inject("adminUrl"));
  servers = await Promise.all([
    startServer(database.url, { tasks: false }),
    startServer(database.url, { tasks: false }),
  ]);
});

afterAll(async () => {
  for (const server of servers) server.kill("SIGKILL");
  await Promise.all(servers.map(async ({ ended }) => await ended));
  await database.drop();
});

async function create({ ask }: Server, number: number): Promise<string> {
  const { status, json } = await ask("/api/v1/task-runs", {
    method: "POST",
    headers: { "idempotency-key": `create-${number}` },
    body: JSON.stringify({ kind: "later", input: number, runAt: "2126-11-16T12:00:00Z" }),
  });
  expect(status).toBe(201);
  return (json as { readonly taskId: string }).taskId;
}

test("a server that is killed in the middle of 1,000 creates with keys costs none and doubles none", async () => {
  const [first, second] = servers;
  const created = new Map<number, string>();
  const asks = { ofTheFirst: 0, again: 0 };
  let next = 0;
  const createInTurn = async (): Promise<void> => {
    while (next < CREATES) {
      const number = next;
      next += 1;
      const taskId = await create(first, number).catch(async () => {
        asks.again += 1;
        return await create(second, number);
      });
      created.set(number, taskId);
      if (created.size === KILLED_AFTER) first.kill("SIGKILL");
      if (created.size <= KILLED_AFTER) asks.ofTheFirst += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, createInTurn));

  expect(asks.ofTheFirst).toBe(KILLED_AFTER);
  expect(asks.again).toBeGreaterThanOrEqual(CREATES - KILLED_AFTER - AT_ONCE);
  const { rows } = await database.client.query<{ id: string; input: number }>(
    "SELECT id, input FROM signalbox.task ORDER BY input::text::int",
  );
  expect(rows.map(({ input }) => input)).toEqual(Array.from({ length: CREATES }, (_, number) => number));
  expect(rows.map(({ id }) => id)).toEqual(rows.map(({ input }) => created.get(input)));
});
