import { type Client, createClient, ProblemError, type StreamEvent } from "@signalbox/contract";
import { defineTask } from "@signalbox/core";
import {
  createManualScheduler,
  createTestDatabase,
  type ManualScheduler,
  type TestDatabase,
} from "@signalbox/core/testing";
import type { FastifyInstance } from "fastify";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { createApi } from "../create-api.ts";
import { listenOnLoopback } from "../listen.ts";

const report = defineTask({ kind: "report", run: () => "done" });

let database: TestDatabase;
let scheduler: ManualScheduler;
const apps: FastifyInstance[] = [];
let client: Client;
const ends: AbortController[] = [];

beforeAll(async () => {
  database = await createTestDatabase(inject("adminUrl"));
});
afterAll(async () => {
  await database.drop();
});
beforeEach(async () => {
  await database.clear();
  scheduler = await createManualScheduler({ databaseUrl: database.url, tasks: [report], name: "inst-a" });
  client = await serve();
});
afterEach(async () => {
  for (const end of ends.splice(0)) end.abort();
  await Promise.all(apps.splice(0).map(async (app) => await app.close()));
  await scheduler.close();
});

async function serve(): Promise<Client> {
  const app = createApi({ scheduler, serverId: `server-${apps.length + 1}`, logger: { error: () => {} } });
  apps.push(app);
  return createClient((await listenOnLoopback(app, 28_410)).url);
}

type Rows = Extract<StreamEvent, { ids: unknown }>;

/** Reads events until one is what is looked for. */
function follow(topics: readonly string[], from = client) {
  const end = new AbortController();
  ends.push(end);
  const events = from.watch(topics, { signal: end.signal })[Symbol.asyncIterator]();
  const seen: StreamEvent[] = [];
  const until = async <Found extends StreamEvent>(
    is: (event: StreamEvent) => event is Found,
  ): Promise<Found> => {
    for (;;) {
      const { done, value } = await events.next();
      if (done === true) throw new Error(`the stream ended after ${JSON.stringify(seen)}`);
      seen.push(value);
      if (is(value)) return value;
    }
  };
  return { seen, until, next: async () => await events.next() };
}

const isRows = (event: StreamEvent): event is Rows => event.kind === "change" && "ids" in event;
const hasRow =
  (taskRunId: string, status: string) =>
  (event: StreamEvent): event is Rows =>
    isRows(event) && event.rows.some((row) => row["taskRunId"] === taskRunId && row["status"] === status);

test("a task is seen on its way, each status with a greater version, without asking again", async () => {
  const stream = follow(["task-runs?limit=10", "overview"]);
  await stream.until((event): event is StreamEvent => event.kind === "hello");
  await stream.until(isRows);
  const { taskRunId } = await client.createTask({
    kind: "report",
    resources: [{ name: "orders", mode: "exclusive" }],
  });
  await stream.until(hasRow(taskRunId, "PENDING"));
  await scheduler.promote();
  await stream.until(hasRow(taskRunId, "AVAILABLE"));
  await scheduler.runUntilIdle();
  await stream.until(hasRow(taskRunId, "DONE"));

  const versions = stream.seen.filter(isRows).flatMap(({ rows }) => rows.map(({ rowVersion }) => rowVersion));
  expect(versions).toEqual(versions.toSorted((a, b) => a - b));
  expect(new Set(versions).size).toBe(versions.length);
});

test("what was committed late appears, although newer ones were shown before", async () => {
  const late = new pg.Client({ connectionString: database.url });
  await late.connect();
  try {
    await late.query("BEGIN");
    const { taskRunId } = await scheduler.enqueue({ kind: "report" }, { transaction: late });
    const stream = follow(["task-runs"]);
    const newer = await client.createTask({ kind: "report" });
    await stream.until(hasRow(newer.taskRunId, "AVAILABLE"));
    await late.query("COMMIT");

    expect((await stream.until(hasRow(taskRunId, "AVAILABLE"))).ids).toEqual([newer.taskRunId, taskRunId]);
  } finally {
    await late.end();
  }
});

test("another server goes on where the first has ended: it tells everything first", async () => {
  const other = await serve();
  const { taskRunId } = await client.createTask({ kind: "report" });
  const stream = follow(["task-runs"]);
  await stream.until(hasRow(taskRunId, "AVAILABLE"));
  await apps[0]?.close();
  await expect(stream.next()).resolves.toMatchObject({ done: true });
  await scheduler.runUntilIdle();

  const again = follow(["task-runs"], other);
  expect((await again.until(isRows)).rows).toMatchObject([{ taskRunId, status: "DONE" }]);
});

test("what cannot be read is a trouble of its topic, and no other's", async () => {
  const stream = follow(["task-runs/01a1ea0b-5d5d-7c29-9679-2a5536dab50d", "overview"]);
  const [trouble, change] = [
    await stream.until(
      (event): event is Extract<StreamEvent, { kind: "trouble" }> => event.kind === "trouble",
    ),
    stream.seen.find(({ kind }) => kind === "change") ??
      (await stream.until((event): event is StreamEvent => event.kind === "change")),
  ];
  expect(trouble.problem).toMatchObject({ status: 404, code: "TASK_NOT_FOUND" });
  expect(change).toMatchObject({ topic: "overview", body: { available: 0 } });
});

test("a topic that is none is a trouble of its own beside others, which go on", async () => {
  const stream = follow(["metrics", "overview"]);
  const trouble = await stream.until(
    (event): event is Extract<StreamEvent, { kind: "trouble" }> => event.kind === "trouble",
  );

  expect(trouble).toMatchObject({ topic: "metrics", problem: { status: 400, code: "INVALID_REQUEST" } });
  await stream.until((event): event is StreamEvent => event.kind === "change");
});

test("one that is given up before it has begun ends without an error", async () => {
  const end = new AbortController();
  const events = client.watch(["overview"], { signal: end.signal })[Symbol.asyncIterator]();
  end.abort();

  await expect(events.next()).resolves.toMatchObject({ done: true });
});

test("there is nothing to ask by HEAD, which would wait for an end", async () => {
  const response = await fetch(`${client.baseUrl}/api/v1/stream?topic=overview`, { method: "HEAD" });
  expect(response.status).toBe(404);
});

test("a server that closes while it reads ends the stream, and nothing else", async () => {
  const streams = ["overview", "task-runs", "rules", "instances"].map((topic) => follow([topic]));
  await Promise.all(streams.map(async ({ next }) => await next()));
  await apps[0]?.close();
  for (const { next } of streams) {
    let last = await next();
    while (last.done !== true) last = await next();
  }
});

test("a topic that is none is refused with one sentence", async () => {
  const refused = await follow(["metrics"])
    .next()
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ProblemError);
  expect(refused).toMatchObject({
    problem: {
      status: 400,
      code: "INVALID_REQUEST",
      detail: expect.stringContaining('"metrics" cannot be watched'),
    },
  });
});
