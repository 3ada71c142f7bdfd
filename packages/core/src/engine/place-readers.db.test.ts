/** Queues, resources and instances as callers see them. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { cloud, step } from "../../test/outside-job.ts";
import type { InstanceId } from "../domain/ids.ts";
import { exclusive, shared } from "../domain/resource.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const LATER = new Date("2126-11-17T00:00:00Z");
const exactly = (count: number) => ({ count, atLeast: false });

describe("queues", () => {
  it("are those that have rules or open work, each with what waits, is available and runs", async () => {
    const scheduler = await box.scheduler({ slots: 1 });
    await scheduler.enqueueMany([
      echo.task(1, { queue: "mail", priority: 0 }),
      echo.task(2, { queue: "mail" }),
      echo.task(3, { queue: "mail", runAt: LATER }),
      echo.task(4, { queue: "reports", runAt: LATER }),
    ]);
    await scheduler.setQueue("sms", { limit: 5, weight: 3 });
    await scheduler.pause({ queue: "night" }, { by: "ada", reason: "it is day" });
    await scheduler.setWindows({ queue: "week" }, [{ kind: "freeze", from: new Date(0), until: LATER }]);
    await scheduler.setQueue("plain", { limit: 0 });
    await scheduler.promote();
    await scheduler.claim();

    const { queues, cut } = await scheduler.listQueues();

    const none = { limit: 0, weight: 1, paused: null, windows: [], now: { kind: "open", until: null } };
    const idle = { waiting: exactly(0), available: exactly(0), running: exactly(0) };
    const paused = { since: expect.any(Date), by: "ada", reason: "it is day" };
    expect(cut).toBe(false);
    expect(queues).toEqual([
      { queue: "mail", ...none, waiting: exactly(1), available: exactly(1), running: exactly(1) },
      { queue: "night", ...none, ...idle, paused },
      { queue: "reports", ...none, ...idle, waiting: exactly(1) },
      { queue: "sms", ...none, ...idle, limit: 5, weight: 3 },
      {
        queue: "week",
        ...none,
        ...idle,
        windows: [{ kind: "freeze", from: new Date(0), until: LATER }],
        now: { kind: "closed", because: "freeze", opensAt: LATER },
      },
    ]);
  });

  it("count what was let go as running, and what is polled once", async () => {
    const scheduler = await box.scheduler({ tasks: [cloud] });
    await scheduler.enqueueMany([cloud.task(null, { queue: "jobs" }), cloud.task(null, { queue: "jobs" })]);
    await scheduler.claim();
    await step(scheduler);

    expect((await scheduler.listQueues()).queues).toMatchObject([{ queue: "jobs", running: exactly(2) }]);
  });

  it("say where they stopped counting", async () => {
    const scheduler = await box.scheduler();
    await box.query(`
      INSERT INTO signalbox.ready (kind, queue, priority, task_run_id)
      SELECT 'echo', 'mail', 5, gen_random_uuid() FROM generate_series(1, 1001);
      INSERT INTO signalbox.waiting (task_run_id, task_id, kind, queue, priority, enqueued_at, resources)
      SELECT gen_random_uuid(), gen_random_uuid(), 'echo', 'mail', 5, now(), '[]' FROM generate_series(1, 20001);
    `);

    const { queues, cut } = await scheduler.listQueues();

    expect(cut).toBe(true);
    expect(queues).toMatchObject([
      { queue: "mail", available: { count: 1_000, atLeast: true }, waiting: { atLeast: true } },
    ]);
  });
});

describe("resources", () => {
  it("say who holds them and who waits for them, in order", async () => {
    const scheduler = await box.scheduler({ name: "inst-a" });
    const [first, second, third] = [
      await scheduler.enqueue(echo.task(1, { title: "first", resources: [exclusive("orders")] })),
      await scheduler.enqueue(echo.task(2, { title: "second", resources: [shared("orders")] })),
      await scheduler.enqueue(
        echo.task(3, { title: "third", priority: 0, version: "1.10", resources: [exclusive("orders")] }),
      ),
    ];
    await scheduler.promote();
    await scheduler.claim();
    const holder = (await scheduler.getResource("orders")).holders[0]?.taskRunId;

    // Of priority 0, so it was admitted before the others.
    expect(holder).toBe(third?.taskRunId);
    const { line, ...resource } = await scheduler.getResource("orders");
    expect(resource).toEqual({
      computedAt: expect.any(Date),
      resource: "orders",
      paused: null,
      windows: [],
      now: { kind: "open", until: null },
      holderCount: 1,
      holders: [
        {
          taskRunId: third?.taskRunId,
          taskId: third?.taskId,
          title: "third",
          status: "RUNNING",
          instanceName: "inst-a",
          since: expect.any(Date),
          mode: "exclusive",
        },
      ],
      inLine: exactly(2),
      reservedFor: null,
    });
    expect(
      line.map(({ taskRunId, position, mode, status, version }) => [
        taskRunId,
        position,
        mode,
        status,
        version,
      ]),
    ).toEqual([
      [first?.taskRunId, 1, "exclusive", "PENDING", null],
      [second?.taskRunId, 2, "shared", "PENDING", null],
    ]);
    expect((await scheduler.listResources()).resources).toMatchObject([
      { resource: "orders", holderCount: 1, inLine: exactly(2) },
    ]);
  });

  it("that are shared have each of their holders, five of them in a list", async () => {
    const scheduler = await box.scheduler({ slots: 10 });
    await scheduler.enqueueMany(
      Array.from({ length: 7 }, (_, n) => echo.task(n, { resources: [shared("orders")] })),
    );
    await scheduler.promote();

    const [inList] = (await scheduler.listResources()).resources;
    const detail = await scheduler.getResource("orders");

    expect(inList).toMatchObject({ holderCount: 7, inLine: exactly(0) });
    expect(inList?.holders).toHaveLength(5);
    expect(detail.holders.map(({ mode, status }) => `${mode} ${status}`)).toEqual(
      Array.from({ length: 7 }, () => "shared AVAILABLE"),
    );
  });

  it("are found by how their name begins, page by page, whichever table knows them", async () => {
    const scheduler = await box.scheduler();
    const names = ["prod/b", "prod/a", "test/a"];
    await scheduler.enqueueMany(names.map((name) => echo.task(1, { resources: [exclusive(name)] })));
    await scheduler.pause({ resource: "prod/paused" });
    await scheduler.pause({ resource: "prod/resumed" });
    await scheduler.resume({ resource: "prod/resumed" });
    await scheduler.setWindows({ resource: "prod/windowed" }, [
      { kind: "freeze", from: new Date(0), until: LATER },
    ]);
    await scheduler.enqueue(
      echo.task(1, { version: "1", runAt: LATER, resources: [exclusive("prod/versioned")] }),
    );
    await scheduler.promote();
    const namesOf = async (filter: Parameters<typeof scheduler.listResources>[0]) => {
      const { resources, next } = await scheduler.listResources(filter);
      return [...resources.map(({ resource }) => resource), next];
    };

    expect(await namesOf({ search: "prod/" })).toEqual([
      "prod/a",
      "prod/b",
      "prod/paused",
      "prod/versioned",
      "prod/windowed",
      null,
    ]);
    expect(await namesOf({ limit: 2, search: "" })).toEqual(["prod/a", "prod/b", "prod/b"]);
    expect(await namesOf({ limit: 2, after: "prod/versioned" })).toEqual(["prod/windowed", "test/a", null]);
    expect(await namesOf({ search: "prod/p", after: "prod/a" })).toEqual(["prod/paused", null]);
    expect(await namesOf({ search: "prod/p", after: "prod/zzz" })).toEqual([null]);
    expect(await namesOf({ search: "PROD" })).toEqual([null]);
    expect(await namesOf({ search: "prod/%" })).toEqual([null]);
  });

  it("say for which task they are kept after its instance was lost", async () => {
    const doomed = await box.scheduler({ name: "doomed" });
    const { taskId } = await doomed.enqueue(echo.task(1, { resources: [exclusive("orders")] }));
    await doomed.promote();
    await doomed.claim();
    await doomed.expireLease();
    const scheduler = await box.scheduler();
    await scheduler.rescue();

    expect(await scheduler.getResource("orders")).toMatchObject({
      reservedFor: taskId,
      holders: [],
      holderCount: 0,
    });
    await scheduler.releaseReservation("orders");
    expect((await scheduler.listResources()).resources).toMatchObject([
      { resource: "orders", reservedFor: null },
    ]);
  });

  it("that nobody has named are free", async () => {
    const scheduler = await box.scheduler();

    expect(await scheduler.getResource("nobody's")).toMatchObject({ holders: [], holderCount: 0, line: [] });
    await expect(scheduler.getResource("a\u0000b")).rejects.toThrow("resource: contains a control character");
    await expect(scheduler.listResources({ limit: 501 })).rejects.toThrow("not a whole number from 1 to 500");
  });
});

describe("instances", () => {
  it("are listed, and one is told with what it holds, newest first", async () => {
    const scheduler = await box.scheduler({ name: "inst-a", slots: 2 });
    const { taskRuns } = await scheduler.enqueueMany([echo.task(1), echo.task(2), echo.task(3)]);
    await scheduler.claim();

    const { instances } = await scheduler.listInstances();
    const detail = await scheduler.getInstance(scheduler.instanceId.toUpperCase() as InstanceId);

    expect(instances).toMatchObject([{ instanceId: scheduler.instanceId, name: "inst-a", running: 2 }]);
    expect(detail).toMatchObject({ name: "inst-a", state: "LIVE", running: 2, cut: false });
    expect(detail.taskRuns.map(({ taskRunId }) => taskRunId)).toEqual([
      taskRuns[1]?.taskRunId,
      taskRuns[0]?.taskRunId,
    ]);
  });

  it("that hold very many say that there are more", async () => {
    const scheduler = await box.scheduler({ slots: 201, batchSize: 201 });
    await scheduler.enqueueMany(Array.from({ length: 201 }, (_, n) => echo.task(n)));
    await scheduler.claim();

    const { taskRuns, running, cut } = await scheduler.getInstance(scheduler.instanceId);

    expect([taskRuns.length, running, cut]).toEqual([200, 201, true]);
  });

  it("that are not there are said to be so", async () => {
    const scheduler = await box.scheduler();

    for (const id of ["inst-a", "00000000-0000-4000-8000-000000000003"])
      await expect(scheduler.getInstance(id as InstanceId)).rejects.toMatchObject({
        code: "INSTANCE_NOT_FOUND",
      });
  });
});

describe("attempts", () => {
  it("of a task are all its task runs, newest first, page by page", async () => {
    const scheduler = await box.scheduler();
    const { taskId, taskRunId } = await scheduler.enqueue(echo.task(1));
    const ids = [taskRunId];
    for (let attempt = 2; attempt <= 3; attempt++) {
      await scheduler.cancel(taskId);
      ids.unshift((await scheduler.retry(taskId)).taskRunId);
    }

    const first = await scheduler.listAttempts(taskRunId, { limit: 2 });
    const rest = await scheduler.listAttempts(taskId, { limit: 2, before: first.next ?? 0 });

    expect(first.taskRuns.map((each) => each.taskRunId)).toEqual(ids.slice(0, 2));
    expect(first).toMatchObject({ taskId, next: 2 });
    expect(rest).toMatchObject({ taskRuns: [{ taskRunId, attempt: 1 }], next: null });
    await expect(scheduler.listAttempts(taskId, { before: 0 })).rejects.toThrow("before (0)");
  });
});
