/** What is read of runs, queues, resources, instances, attempts and logs, through the client. */

import { afterAll, afterEach, describe, expect, inject, test } from "vitest";
import { openApi, problemOf } from "../../../test/api-fixture.ts";

const box = await openApi(inject("adminUrl"));
const { client, scheduler } = box;
afterEach(() => expect(box.logged).toEqual([]));
afterAll(box.close);

const NOBODY = "019a8c3e-5d21-7abc-8def-000000000001";
const LATER = "2126-11-16T12:00:00.000Z";

describe("runs", () => {
  test("are listed by status, page by page, and one is told with its tasks", async () => {
    const ids: string[] = [];
    for (const title of ["first", "second", "third"]) {
      const { runId } = await client.createTasks({
        tasks: [{ kind: "report", runAt: LATER }],
        run: { title },
      });
      ids.unshift(runId ?? "");
    }
    await client.cancelRun(ids[0] ?? "");
    await client.setRunLimit(ids[1] ?? "", 4);

    const first = await client.listRuns({ status: ["RUNNING", "CANCELED"], limit: 2 });
    const rest = await client.listRuns({ limit: 2, before: first.next ?? "" });

    expect([...first.runs, ...rest.runs].map(({ runId }) => runId)).toEqual(ids);
    expect(rest.next).toBeNull();
    expect((await client.listRuns({ status: ["DONE"] })).runs).toEqual([]);
    expect(await client.getRun(ids[1] ?? "")).toMatchObject({
      title: "second",
      status: "RUNNING",
      limit: 4,
      tasks: { PENDING: 1, DONE: 0 },
    });
  });

  test("that are not there, and limits that cannot be, are refused", async () => {
    for (const id of [NOBODY, "nightly", "a/b"]) {
      expect(await problemOf(client.getRun(id))).toMatchObject({ status: 404, code: "RUN_NOT_FOUND" });
      expect(await problemOf(client.setRunLimit(id, 1))).toMatchObject({
        status: 404,
        code: "RUN_NOT_FOUND",
      });
    }
    expect(await problemOf(client.setRunLimit(NOBODY, -1))).toMatchObject({
      status: 422,
      code: "INVALID_LIMIT",
    });
  });
});

describe("resources and queues", () => {
  test("say who has them, who waits and what was put on them", async () => {
    const orders = [{ name: "prod/orders ä", mode: "exclusive" as const }];
    const held = await client.createTask({
      kind: "report",
      title: "first",
      resources: orders,
      queue: "mail",
    });
    const waits = await client.createTask({
      kind: "report",
      title: "second",
      resources: orders,
      queue: "mail",
    });
    await scheduler.promote();
    await client.pause({ resource: "prod/other" }, { by: "ada" });

    const { resources, next } = await client.listResources({ search: "prod/" });
    const detail = await client.getResource("prod/orders ä");
    const { queues } = await client.listQueues();

    expect(next).toBeNull();
    expect(resources).toMatchObject([
      { resource: "prod/orders ä", holderCount: 1, inLine: { count: 1, atLeast: false }, paused: null },
      { resource: "prod/other", holderCount: 0, paused: { by: "ada", reason: null } },
    ]);
    expect(detail.holders).toMatchObject([
      { taskRunId: held.taskRunId, title: "first", mode: "exclusive", status: "AVAILABLE" },
    ]);
    expect(detail.line).toMatchObject([
      { taskRunId: waits.taskRunId, title: "second", mode: "exclusive", status: "PENDING", position: 1 },
    ]);
    expect(queues).toContainEqual({
      queue: "mail",
      limit: 0,
      weight: 1,
      paused: null,
      windows: [],
      now: { kind: "open", until: null },
      waiting: { count: 1, atLeast: false },
      available: { count: 1, atLeast: false },
      running: { count: 0, atLeast: false },
    });
    await client.cancelMany({ filter: { ids: [held.taskId, waits.taskId] } });
  });

  test("are free where nobody has named them, and refused where nobody can", async () => {
    expect(await client.getResource("a/b")).toMatchObject({ holders: [], holderCount: 0, line: [] });
    expect(await problemOf(client.getResource("a\nb"))).toMatchObject({
      status: 422,
      code: "INVALID_ARGUMENT",
    });
    expect(await problemOf(client.listResources({ search: "a\u0000" }))).toMatchObject({
      code: "INVALID_FILTER",
    });
    expect((await client.listResources({ search: "" })).next).toBeNull();
  });
});

describe("instances", () => {
  test("are listed, and one is told with what it holds", async () => {
    const { taskRunId } = await client.createTask({ kind: "report" });
    await scheduler.claim();

    const { instances } = await client.listInstances();

    expect(instances).toMatchObject([{ instanceId: scheduler.instanceId, name: "inst-a", running: 1 }]);
    expect(await client.getInstance(scheduler.instanceId)).toMatchObject({
      taskRuns: [{ taskRunId, status: "RUNNING" }],
      cut: false,
    });
    await scheduler.runUntilIdle();
    for (const id of [NOBODY, "inst-a"])
      expect(await problemOf(client.getInstance(id))).toMatchObject({
        status: 404,
        code: "INSTANCE_NOT_FOUND",
      });
  });
});

test("an instance is asked to drain, and called back", async () => {
  const { instanceId } = scheduler;

  expect(await client.drainInstance(instanceId, { by: "ada", reason: "new disk" })).toEqual({
    changed: true,
  });
  expect(await client.drainInstance(instanceId)).toEqual({ changed: false });
  expect((await client.getInstance(instanceId)).drainRequest).toMatchObject({
    by: "ada",
    reason: "new disk",
  });
  expect(await client.callInstanceBack(instanceId)).toEqual({ changed: true });
  expect(await client.callInstanceBack(instanceId)).toEqual({ changed: false });
  expect((await client.getInstance(instanceId)).drainRequest).toBeNull();
  for (const id of [NOBODY, "inst-a"]) {
    expect(await problemOf(client.drainInstance(id))).toMatchObject({
      status: 404,
      code: "INSTANCE_NOT_FOUND",
    });
    expect(await problemOf(client.callInstanceBack(id))).toMatchObject({ code: "INSTANCE_NOT_FOUND" });
  }
});

describe("a task run", () => {
  test("has all the attempts of its task", async () => {
    const { taskId, taskRunId } = await client.createTask({ kind: "report", runAt: LATER });
    await client.cancel(taskId);
    const second = await client.retry(taskId);

    const first = await client.listAttempts(taskRunId, { limit: 1 });

    expect(first).toMatchObject({ taskId, taskRuns: [{ taskRunId: second.taskRunId, attempt: 2 }], next: 2 });
    expect(await client.listAttempts(taskId, { before: 2 })).toMatchObject({
      taskRuns: [{ taskRunId }],
      next: null,
    });
    expect(await problemOf(client.listAttempts(NOBODY))).toMatchObject({
      status: 404,
      code: "TASK_NOT_FOUND",
    });
    await client.cancel(taskId);
  });

  test("has a log that is read part by part, and searched as a whole", async () => {
    const { taskRunId } = await client.createTask({ kind: "report", input: "ÄPFEL" });
    await scheduler.runUntilIdle();

    const page = await client.readLog(taskRunId);
    const found = await client.searchLog(taskRunId, "äpfel");

    expect(page.entries.map(({ text }) => text).join("")).toBe('begins\nReport of "ÄPFEL"\n');
    expect(page).toMatchObject({ taskRunId, ended: true });
    expect((await client.readLog(taskRunId, { from: page.next })).entries).toEqual([]);
    expect(found).toMatchObject({
      taskRunId,
      matches: [{ stream: "task", text: 'Report of "ÄPFEL"', offset: 7, entryOffset: 0 }],
      total: { count: 1, atLeast: false },
      next: null,
      ended: true,
    });
    expect((await client.searchLog(taskRunId, "%")).matches).toEqual([]);
    expect((await client.searchLog(taskRunId, "E", { limit: 1 })).next).toBe(7);
  });

  test.each([
    ["", "1 to 200"],
    ["x".repeat(201), "1 to 200"],
    ["a\nb", "end of a line"],
    ["a\u0000b", "NUL"],
  ])("is not searched for what cannot be in a line: %j", async (search, detail) => {
    const { taskRunId } = await client.createTask({ kind: "report" });

    const problem = await problemOf(client.searchLog(taskRunId, search));

    expect(problem).toMatchObject({ status: 422, code: "INVALID_FILTER" });
    expect(problem.detail).toContain(detail);
  });
});

test.each([
  ["/api/v1/runs?status=ASLEEP"],
  ["/api/v1/runs?limit=501"],
  ["/api/v1/runs?before=nightly"],
  ["/api/v1/rules?limit=0"],
  ["/api/v1/resources?limit=1e2"],
  ["/api/v1/resources?before=a"],
  ["/api/v1/resources?search=a&search=b"],
  [`/api/v1/task-runs/${NOBODY}/log?from=-1`],
  [`/api/v1/task-runs/${NOBODY}/log?limit=99999999999999999999`],
  [`/api/v1/task-runs/${NOBODY}/attempts?before=0`],
])("a query that cannot be is refused before anybody is asked: %s", async (path) => {
  const response = await fetch(new URL(path, box.url));

  expect(response.status).toBe(400);
  expect(response.headers.get("content-type")).toContain("application/problem+json");
  expect(await response.json()).toMatchObject({ code: "INVALID_REQUEST" });
});
