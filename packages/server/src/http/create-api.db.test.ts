import {
  type Client,
  type CreatedTask,
  createClient,
  ProblemError,
  type TaskSpec,
} from "@signalbox/contract";
import { defineTask } from "@signalbox/core";
import {
  createManualScheduler,
  createTestDatabase,
  type ManualScheduler,
  type TestDatabase,
} from "@signalbox/core/testing";
import type { FastifyInstance } from "fastify";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { z } from "zod";
import { createApi } from "./create-api.ts";
import { listenOnLoopback } from "./listen.ts";

const report = defineTask({
  kind: "report",
  schema: z.object({ rows: z.number() }).nullable(),
  run: (input) => ({ rows: input?.rows ?? 0 }),
});
const logged: unknown[] = [];

let database: TestDatabase;
let scheduler: ManualScheduler;
let api: FastifyInstance;
let client: Client;

beforeAll(async () => {
  database = await createTestDatabase(inject("adminUrl"));
});

afterAll(async () => {
  await database.drop();
});

beforeEach(async () => {
  await database.clear();
  logged.length = 0;
  scheduler = await createManualScheduler({ databaseUrl: database.url, tasks: [report], name: "inst-a" });
  api = createApi({
    scheduler,
    serverId: "server-1",
    logger: { error: (entry: unknown) => logged.push(entry) },
  });
  client = createClient((await listenOnLoopback(api, 27_410)).url);
});

afterEach(async () => {
  await api.close();
  await scheduler.close();
  expect(logged).toEqual([]);
});

describe("create", () => {
  test("one task, and read what became of it", async () => {
    const created = await client.createTask({ kind: "report", input: { rows: 7 }, title: "stock" });
    expect(created.status).toBe("AVAILABLE");

    await scheduler.runUntilIdle();

    expect(await client.getTaskRun(created.taskRunId)).toMatchObject({
      taskRunId: created.taskRunId,
      status: "DONE",
      title: "stock",
      input: { rows: 7 },
      output: { rows: 7 },
      instanceName: "inst-a",
      error: null,
    });
    expect((await client.getTaskRun(created.taskId)).taskRunId).toBe(created.taskRunId);
  });

  test("many as one run, which admits only as many as its limit", async () => {
    const { runId, taskRuns } = await client.createTasks({
      tasks: [{ kind: "report" }, { kind: "report" }, { kind: "report" }],
      run: { title: "rollout", limit: 2 },
    });
    await scheduler.promote();

    expect(taskRuns).toHaveLength(3);
    const { taskRuns: listed } = await client.listTaskRuns({ runId: runId ?? "" });
    expect(listed.map(({ status }) => status).toSorted()).toEqual(["AVAILABLE", "AVAILABLE", "PENDING"]);
    expect(listed.find(({ status }) => status === "PENDING")?.blockedOn).toBe("RUN_LIMIT");
  });

  test("all or none", async () => {
    const tasks = [{ kind: "report" }, { kind: "report", version: "1.x" }];

    await expect(client.createTasks({ tasks })).rejects.toThrow(ProblemError);

    expect((await client.listTaskRuns()).taskRuns).toEqual([]);
  });

  test.each<[string, TaskSpec]>([
    ["INVALID_INPUT", { kind: "report", input: { rows: "seven" } }],
    [
      "INVALID_VERSION",
      { kind: "report", version: "latest", resources: [{ name: "orders", mode: "shared" }] },
    ],
    ["INVALID_TASK", { kind: "report", priority: 10 }],
    ["INVALID_TASK", { kind: "report", title: "a\u0000b" }],
  ])("%s is one sentence of the scheduler: %o", async (code, spec) => {
    expect(await problemOf(client.createTask(spec))).toMatchObject({ status: 422, code });
  });
});

describe("explain", () => {
  test("a waiting one names every gate, its blocker and the earliest time", async () => {
    const orders = [{ name: "orders", mode: "exclusive" as const }];
    const first = await client.createTask({ kind: "report", title: "first", resources: orders });
    const second = await client.createTask({
      kind: "report",
      resources: orders,
      runAt: "2126-11-16T12:00:00.000Z",
    });
    await scheduler.promote();

    const explanation = await client.explain(second.taskRunId);

    expect(explanation).toMatchObject({ status: "PENDING", blockedOn: "RUN_AT", claimedBy: null });
    expect(explanation.gates.map(({ code, state }) => [code, state])).toEqual([
      ["RUN_AT", "blocking"],
      ["STOPPED", "not_applicable"],
      ["PAUSED", "passed"],
      ["NO_EXECUTOR", "passed"],
      ["WINDOW", "not_applicable"],
      ["OUT_OF_ORDER", "not_applicable"],
      ["VERSION_ORDER", "not_applicable"],
      ["RUN_LIMIT", "not_applicable"],
      ["QUEUE_LIMIT", "not_applicable"],
      ["KEY_LIMIT", "not_applicable"],
      ["FAIR_SHARE", "not_applicable"],
      ["RATE_LIMIT", "not_applicable"],
      ["RESOURCE_BUSY", "blocking"],
    ]);
    expect(explanation.gates[0]?.causes[0]?.earliestAt).toBe("2126-11-16T12:00:00.000Z");
    expect(explanation.gates.at(-1)?.causes[0]?.blockers[0]).toMatchObject({
      taskRunId: first.taskRunId,
      title: "first",
    });
  });

  test("an available one says who could claim it, by a prefix of its id too", async () => {
    const { taskRunId } = await client.createTask({ kind: "report" });

    const explanation = await client.explain(taskRunId.slice(0, 30));

    expect(explanation).toMatchObject({ taskRunId, status: "AVAILABLE", gates: [] });
    expect(explanation.claimableBy).toMatchObject([{ name: "inst-a", running: 0 }]);
  });
});

test("cancel says what happened", async () => {
  const waiting = await client.createTask({ kind: "report" });
  const done = await client.createTask({ kind: "report" });

  expect(await client.cancel(waiting.taskRunId, { by: "ana", reason: "not needed" })).toEqual({
    answer: "canceled",
  });
  await scheduler.runUntilIdle();

  expect(await client.cancel(done.taskRunId)).toEqual({ answer: "ended" });
  expect((await client.getTaskRun(waiting.taskRunId)).status).toBe("CANCELED");
});

describe("a key in the header Idempotency-Key", () => {
  test("makes a request safe to repeat: one task, many, and the same ids", async () => {
    const spec: TaskSpec = { kind: "report", input: { rows: 7 } };
    const many = { tasks: [spec, { kind: "report" }], run: { title: "nightly" } };

    const [one, all] = [
      await client.createTask(spec, { idempotencyKey: "order-42" }),
      await client.createTasks(many, { idempotencyKey: "nightly-7" }),
    ];

    expect(await client.createTask(spec, { idempotencyKey: "order-42" })).toEqual(one);
    expect(await client.createTasks(many, { idempotencyKey: "nightly-7" })).toEqual(all);
    expect((await client.listTaskRuns()).taskRuns).toHaveLength(3);
  });

  test("with another request is a conflict, and one that cannot be a key is refused", async () => {
    await client.createTask({ kind: "report" }, { idempotencyKey: "order-42" });

    const other = client.createTask({ kind: "report", priority: 1 }, { idempotencyKey: "order-42" });

    expect(await problemOf(other)).toMatchObject({ status: 409, code: "IDEMPOTENCY_KEY_REUSED" });
    expect(
      await problemOf(client.createTask({ kind: "report" }, { idempotencyKey: "two words" })),
    ).toMatchObject({
      status: 422,
      code: "INVALID_TASK",
      detail: expect.stringContaining("idempotencyKey: needs"),
    });
  });
});

describe("retry and bulk requests", () => {
  test("a canceled one is tried again, one that is done is not", async () => {
    const canceled = await client.createTask({ kind: "report" });
    await client.cancel(canceled.taskId);
    const done = await client.createTask({ kind: "report" });
    await scheduler.runUntilIdle();

    expect(await client.retry(canceled.taskRunId.slice(0, 30), { by: "ana" })).toMatchObject({ attempt: 2 });
    expect(await problemOf(client.retry(done.taskId))).toMatchObject({ status: 409, code: "NOT_RETRYABLE" });
  });

  test("a run is canceled whole, and what was canceled of it tried again", async () => {
    const { runId } = await client.createTasks({
      tasks: [{ kind: "report" }, { kind: "report" }],
      run: { title: "nightly" },
    });

    expect(await client.cancelRun(runId ?? "", { by: "ana" })).toEqual({
      canceled: 2,
      canceling: 0,
      ended: 0,
      notFound: 0,
    });
    const filter = {
      runId: runId ?? "",
      status: ["CANCELED" as const],
      enqueuedSince: "2020-01-01T00:00:00Z",
    };
    expect(await client.retryMany({ filter })).toEqual({ retried: 2, notRetryable: 0, notFound: 0 });
    expect(await client.cancelMany({ filter: { kind: "report" }, reason: "not needed" })).toMatchObject({
      canceled: 2,
    });
  });

  test("what names nothing, or no run, is refused", async () => {
    expect(await problemOf(client.cancelMany({ filter: {} }))).toMatchObject({
      status: 422,
      code: "INVALID_FILTER",
    });
    expect(await problemOf(client.retryMany({ filter: {} }))).toMatchObject({
      status: 422,
      code: "INVALID_FILTER",
    });
    expect(await problemOf(client.cancelRun("nightly"))).toMatchObject({
      status: 404,
      code: "RUN_NOT_FOUND",
    });
  });
});

test("a list is filtered and read page by page", async () => {
  const created: CreatedTask[] = [];
  for (let count = 0; count < 3; count++) created.push(await client.createTask({ kind: "report" }));

  const first = await client.listTaskRuns({ status: ["AVAILABLE"], kind: "report", limit: 2 });
  const rest = await client.listTaskRuns({
    limit: 2,
    ...(first.next === null ? {} : { before: first.next }),
  });

  const ids = [...first.taskRuns, ...rest.taskRuns].map(({ taskRunId }) => taskRunId);
  expect(ids).toEqual(created.map(({ taskRunId }) => taskRunId).toReversed());
  expect(rest.next).toBeNull();
});

test("the overview counts what is open, by cause", async () => {
  await client.createTask({ kind: "report" });
  await client.createTask({ kind: "report", runAt: "2126-11-16T12:00:00.000Z" });
  await scheduler.promote();

  expect(await client.overview()).toMatchObject({
    waiting: { RUN_AT: 1 },
    available: 1,
    running: 0,
    instances: [{ name: "inst-a", state: "LIVE", kinds: ["report"] }],
  });
});

test("what does not exist is not found", async () => {
  const id = "019a8c3e-5d21-7abc-8def-000000000001";

  const asks = [() => client.getTaskRun(id), () => client.explain("019a8c3e"), () => client.cancel(id)];
  for (const ask of asks) {
    expect(await problemOf(ask())).toMatchObject({ status: 404, code: "TASK_NOT_FOUND" });
  }
});

async function problemOf(asked: Promise<unknown>) {
  const error = await asked.catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(ProblemError);
  return (error as ProblemError).problem;
}
