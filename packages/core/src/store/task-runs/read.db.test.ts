import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { broken, echo, openFixture } from "../../../test/fixture.ts";
import type { TaskRunFilter } from "../../domain/task-run.ts";
import type { ManualScheduler } from "../../testing/manual-scheduler.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

/** One task run in each status, and two kinds; the newest is PENDING. */
async function enqueueAll(scheduler: ManualScheduler) {
  const done = await scheduler.enqueue(echo.task(1));
  const failed = await scheduler.enqueue(broken.task(2));
  await scheduler.claim();
  await scheduler.execute();
  await scheduler.settle();
  const canceled = await scheduler.enqueue(echo.task(3));
  await scheduler.cancel(canceled.taskRunId);
  const running = await scheduler.enqueue(echo.task(4));
  await scheduler.claim();
  const available = await scheduler.enqueue(broken.task(5));
  const { runId, taskRuns } = await scheduler.enqueueMany([echo.task(6, { runAt: new Date("2090-01-01") })], {
    run: { title: "nightly" },
  });
  const pending = taskRuns[0];
  if (pending === undefined || runId === null) throw new Error("Nothing was enqueued");
  return { done, failed, canceled, running, available, pending, runId };
}

async function listed(scheduler: ManualScheduler, filter: TaskRunFilter): Promise<readonly string[]> {
  return (await scheduler.list(filter)).taskRuns.map(({ taskRunId }) => taskRunId);
}

describe("a list", () => {
  it("has everything, the newest first", async () => {
    const scheduler = await box.scheduler();
    const { done, failed, canceled, running, available, pending } = await enqueueAll(scheduler);

    expect(await listed(scheduler, {})).toEqual(
      [pending, available, running, canceled, failed, done].map(({ taskRunId }) => taskRunId),
    );
  });

  it.each([
    ["PENDING", "pending"],
    ["AVAILABLE", "available"],
    ["RUNNING", "running"],
    ["DONE", "done"],
    ["FAILED", "failed"],
    ["CANCELED", "canceled"],
  ] as const)("of %s has only these, each with what it says of itself", async (status, name) => {
    const scheduler = await box.scheduler();
    const all = await enqueueAll(scheduler);

    const { taskRuns } = await scheduler.list({ status: [status] });

    expect(taskRuns).toMatchObject([{ taskRunId: all[name].taskRunId, status }]);
  });

  it("takes several statuses, open and ended mixed, a kind and a run", async () => {
    const scheduler = await box.scheduler();
    const { done, failed, running, available, pending, runId } = await enqueueAll(scheduler);
    const ids = (...taskRuns: readonly { taskRunId: string }[]) => taskRuns.map(({ taskRunId }) => taskRunId);

    expect(await listed(scheduler, { status: ["RUNNING", "DONE"] })).toEqual(ids(running, done));
    expect(await listed(scheduler, { status: ["PENDING", "RUNNING"] })).toEqual(ids(pending, running));
    expect(await listed(scheduler, { kind: "broken" })).toEqual(ids(available, failed));
    expect(await listed(scheduler, { kind: "broken", status: ["AVAILABLE"] })).toEqual(ids(available));
    expect(await listed(scheduler, { runId })).toEqual(ids(pending));
    expect(await listed(scheduler, { runId, status: ["PENDING"] })).toEqual(ids(pending));
    expect(await listed(scheduler, { runId, status: ["DONE"] })).toEqual([]);
    expect(await listed(scheduler, { status: [] })).toEqual([]);
  });

  it.each([undefined, ["AVAILABLE"] as const])(
    "comes in pages that leave nothing out: %s",
    async (status) => {
      const scheduler = await box.scheduler();
      const { taskRuns } = await scheduler.enqueueMany(
        Array.from({ length: 23 }, (_, index) => echo.task(index)),
      );

      const pages: string[][] = [];
      let before: TaskRunFilter["before"];
      for (;;) {
        const page = await scheduler.list({
          limit: 10,
          ...(status === undefined ? {} : { status }),
          ...(before === undefined ? {} : { before }),
        });
        pages.push(page.taskRuns.map(({ taskRunId }) => taskRunId));
        if (page.next === null) break;
        before = page.next;
      }

      expect(pages.map(({ length }) => length)).toEqual([10, 10, 3]);
      expect(pages.flat().toReversed()).toEqual(taskRuns.map(({ taskRunId }) => taskRunId));
    },
  );

  it("has the oldest of what waits first where that is asked for, in pages that leave nothing out", async () => {
    const scheduler = await box.scheduler();
    const { taskRuns } = await scheduler.enqueueMany(
      Array.from({ length: 23 }, (_, index) => echo.task(index, { runAt: new Date("2090-01-01") })),
    );
    await scheduler.enqueueMany([echo.task(1)]);
    const filter = { status: ["PENDING"], limit: 10, order: "oldest" } as const;

    const first = await scheduler.list(filter);
    const second = await scheduler.list({ ...filter, ...(first.next && { before: first.next }) });
    const third = await scheduler.list({ ...filter, ...(second.next && { before: second.next }) });

    const pages = [first, second, third].map((page) => page.taskRuns.map(({ taskRunId }) => taskRunId));
    expect(pages.map(({ length }) => length)).toEqual([10, 10, 3]);
    expect(pages.flat()).toEqual(taskRuns.map(({ taskRunId }) => taskRunId));
    expect(third.next).toBeNull();
  });

  it("has no further page when the last one is just full", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueueMany([echo.task(1), echo.task(2)]);

    expect((await scheduler.list({ limit: 2 })).next).toBeNull();
  });
});

describe("the filter of a list", () => {
  it.each<[string, TaskRunFilter]>([
    ["a limit that is no whole number", { limit: 1.5 }],
    ["a limit that is no number", { limit: Number.NaN }],
    ["a status that is none", { status: ["X" as never] }],
    ["an order that is no text", { order: 1 as never }],
    ["the oldest of all", { order: "oldest" }],
    ["the oldest of none", { order: "oldest", status: [] }],
    ["the oldest of what has ended", { order: "oldest", status: ["PENDING", "DONE"] }],
  ])("refuses %s", async (_, filter) => {
    const scheduler = await box.scheduler();

    await expect(scheduler.list(filter)).rejects.toMatchObject({ code: "INVALID_FILTER" });
  });

  it.each([0, 501])(
    "refuses a limit of %i and names those it takes: no page would have as many",
    async (limit) => {
      const scheduler = await box.scheduler();

      await expect(scheduler.list({ limit })).rejects.toMatchObject({
        code: "INVALID_FILTER",
        message: `The filter has a limit (${limit}) that is not a whole number from 1 to 500`,
      });
      expect((await scheduler.list({ limit: 500 })).taskRuns).toEqual([]);
    },
  );

  it("refuses an order that there is not, and names those there are", async () => {
    const scheduler = await box.scheduler();

    await expect(scheduler.list({ order: "upwards" as never })).rejects.toMatchObject({
      code: "INVALID_FILTER",
      message: "The filter has an order (upwards) that is not newest or oldest",
    });
  });

  it("takes null for not given, and refuses a condition that it does not know", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1));
    const fields = [
      "status",
      "runId",
      "kind",
      "queue",
      "tag",
      "outcome",
      "newest",
      "limit",
      "before",
      "order",
    ];
    const nothing = Object.fromEntries(fields.map((field) => [field, null]));
    const strange = { kind: "echo", title: "mail" };

    expect(await listed(scheduler, nothing)).toEqual([taskRunId]);
    await expect(scheduler.list(strange)).rejects.toMatchObject({
      code: "INVALID_FILTER",
      message:
        "The filter has no condition title, only status, runId, kind, queue, tag, outcome, newest, limit, before, order",
    });
  });
});

describe("an attempt", () => {
  const attempts = async (scheduler: ManualScheduler) =>
    (await scheduler.list({})).taskRuns.map((taskRun) => [taskRun.attempt, taskRun.attempts]);

  it("says how many there can be by the policy; one that ended with its instance does not count", async () => {
    const [scheduler, doomed] = [await box.scheduler(), await box.scheduler()];
    await scheduler.enqueue(echo.task(1, { retry: { attempts: 3 } }));
    await doomed.claim();
    await doomed.expireLease();
    await scheduler.rescue();

    expect(await attempts(scheduler)).toEqual([
      [2, 4],
      [1, 3],
    ]);
  });

  it("that was asked for by hand may go beyond the policy", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1));
    await scheduler.cancel(taskRunId);
    await scheduler.retry(taskRunId);

    expect(await attempts(scheduler)).toEqual([
      [2, 2],
      [1, 1],
    ]);
  });
});
