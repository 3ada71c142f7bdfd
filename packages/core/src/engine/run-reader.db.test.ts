import { randomUUID } from "node:crypto";
import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { broken, echo, openFixture } from "../../test/fixture.ts";
import { asRunId, type RunId } from "../domain/ids.ts";
import type { RunFilter } from "../domain/run.ts";
import type { TaskSpec } from "../domain/task-spec.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { readRunOnce, runReader } from "./run-reader.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

async function enqueueRun(scheduler: ManualScheduler, specs: readonly TaskSpec[], limit = 0): Promise<RunId> {
  const { runId } = await scheduler.enqueueMany(specs, { run: { title: "nightly", limit } });
  if (runId === null) throw new Error("No run");
  return runId;
}

describe("a run that is asked for", () => {
  it("says how many of its tasks are in which status, by their newest attempts", async () => {
    const [first, second] = [await box.scheduler({ slots: 3 }), await box.scheduler({ slots: 1 })];
    const retry = { attempts: 2, backoff: { firstMs: 3_600_000, factor: 1, maxMs: 3_600_000 } };
    const runId = await enqueueRun(
      first,
      [
        echo.task("done", { priority: 0 }),
        broken.task("failed", { priority: 0, retry: { attempts: 1 } }),
        broken.task("tried again later", { priority: 0, retry }),
        echo.task("running"),
        echo.task("available"),
        echo.task("canceled", { title: "canceled" }),
        echo.task("later", { runAt: new Date("2090-01-01") }),
      ],
      6,
    );
    const { taskRuns } = await first.list({ runId });
    await first.cancel(taskRuns.find(({ title }) => title === "canceled")?.taskRunId ?? "");
    await enqueueRun(first, [echo.task("of another run")]);
    await first.promote();
    await first.claim();
    await first.execute();
    await first.settle();
    await second.claim();

    expect(await first.getRun(runId)).toEqual({
      runId,
      title: "nightly",
      status: "RUNNING",
      limit: 6,
      openTasks: 4,
      failedTasks: 1,
      canceledTasks: 1,
      paused: null,
      createdAt: expect.any(Date),
      finishedAt: null,
      rowVersion: expect.any(Number),
      tasks: { PENDING: 2, AVAILABLE: 1, RUNNING: 1, DONE: 1, FAILED: 1, CANCELED: 1 },
    });
  });

  it("says when and how it has ended, and that it goes on after a retry", async () => {
    const scheduler = await box.scheduler();
    const runId = await enqueueRun(scheduler, [echo.task(1), broken.task(2, { retry: { attempts: 1 } })]);
    await scheduler.runUntilIdle();

    const ended = { status: "FAILED", openTasks: 0, failedTasks: 1, finishedAt: expect.any(Date) };
    expect(await scheduler.getRun(runId)).toMatchObject(ended);
    await scheduler.retryMany({ runId });

    const again = { status: "RUNNING", openTasks: 1, failedTasks: 0, finishedAt: null };
    expect(await scheduler.getRun(runId)).toMatchObject({
      ...again,
      tasks: { PENDING: 1, DONE: 1, FAILED: 0 },
    });
  });

  it("says its limit, and since when, by whom and why it is paused, until it is resumed", async () => {
    const scheduler = await box.scheduler();
    const [runId, other] = [
      await enqueueRun(scheduler, [echo.task(1)]),
      await enqueueRun(scheduler, [echo.task(2)]),
    ];

    await scheduler.pause({ runId }, { by: "ada", reason: "the provider is down" });
    await scheduler.setRunLimit(runId, 7);

    const paused = { since: expect.any(Date), by: "ada", reason: "the provider is down" };
    expect(await scheduler.getRun(runId)).toMatchObject({ limit: 7, paused });
    expect(await scheduler.getRun(other)).toMatchObject({ limit: 0, paused: null });
    expect((await scheduler.listRuns()).runs).toMatchObject([
      { runId: other, paused: null },
      { runId, paused },
    ]);
    await scheduler.resume({ runId });
    expect(await scheduler.getRun(runId)).toMatchObject({ paused: null });
  });

  it("is as it was at one moment, also when a task of it ends before all is read", async () => {
    const scheduler = await box.scheduler();
    const runId = await enqueueRun(scheduler, [echo.task(1), echo.task(2)]);
    const pool = box.pool("reader");
    const counts = pool.pauseBefore("countTasksOfRun");
    const asked = readRunOnce(pool, runId);
    await counts.reached;

    await scheduler.runUntilIdle();
    counts.resume();

    expect(await asked).toMatchObject({ status: "RUNNING", openTasks: 2, tasks: { PENDING: 2, DONE: 0 } });
    expect(await readRunOnce(pool, runId)).toMatchObject({
      status: "DONE",
      openTasks: 0,
      tasks: { DONE: 2 },
    });
  });

  it.each([randomUUID(), "8a31", ""])("that is not there is refused: %s", async (id) => {
    const scheduler = await box.scheduler();

    await expect(scheduler.getRun(asRunId(id))).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
  });
});

/** One run in each status, the newest is DONE. */
async function enqueueAll(scheduler: ManualScheduler) {
  const running = await enqueueRun(scheduler, [echo.task(1, { runAt: new Date("2090-01-01") })]);
  const failed = await enqueueRun(scheduler, [broken.task(2, { retry: { attempts: 1 } })]);
  const canceled = await enqueueRun(scheduler, [echo.task(3)]);
  await scheduler.cancelRun(canceled);
  const done = await enqueueRun(scheduler, [echo.task(4)]);
  await scheduler.runUntilIdle();
  await scheduler.enqueue(echo.task("of no run"));
  return { RUNNING: running, FAILED: failed, CANCELED: canceled, DONE: done };
}

async function listed(scheduler: ManualScheduler, filter?: RunFilter): Promise<readonly RunId[]> {
  return (await scheduler.listRuns(filter)).runs.map(({ runId }) => runId);
}

describe("a list of runs", () => {
  it("has all of them, the newest first, or those of the statuses that are asked for", async () => {
    const scheduler = await box.scheduler();
    const { RUNNING, FAILED, CANCELED, DONE } = await enqueueAll(scheduler);

    expect(await listed(scheduler)).toEqual([DONE, CANCELED, FAILED, RUNNING]);
    for (const [status, runId] of Object.entries({ RUNNING, FAILED, CANCELED, DONE }))
      expect((await scheduler.listRuns({ status: [status as "DONE"] })).runs).toMatchObject([
        { runId, status },
      ]);
    expect(await listed(scheduler, { status: ["RUNNING", "DONE", "RUNNING"] })).toEqual([DONE, RUNNING]);
    expect(await listed(scheduler, { status: [] })).toEqual([]);
  });

  it.each([undefined, ["RUNNING"] as const, ["RUNNING", "DONE"] as const])(
    "comes in pages that leave nothing out: %s",
    async (status) => {
      const scheduler = await box.scheduler();
      const runIds: RunId[] = [];
      for (let index = 0; index < 5; index += 1) runIds.push(await enqueueRun(scheduler, [echo.task(index)]));

      const pages: (readonly RunId[])[] = [];
      for (let before: RunId | null | undefined; before !== null; ) {
        const page = await scheduler.listRuns({
          limit: 2,
          ...(status === undefined ? {} : { status }),
          ...(before === undefined ? {} : { before }),
        });
        pages.push(page.runs.map(({ runId }) => runId));
        before = page.next;
      }

      expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
      expect(pages.flat()).toEqual(runIds.toReversed());
      expect((await scheduler.listRuns({ limit: 5 })).next).toBeNull();
    },
  );

  it("has each with the status for which it was found, also when one ends before all is read", async () => {
    const scheduler = await box.scheduler();
    const runId = await enqueueRun(scheduler, [echo.task(1)]);
    const pool = box.pool("reader");
    const found = pool.pauseBefore("loadRuns");
    const asked = runReader(pool).listRuns({ status: ["RUNNING"] });
    await found.reached;

    await scheduler.runUntilIdle();
    found.resume();

    expect((await asked).runs).toMatchObject([{ runId, status: "RUNNING" }]);
    expect(await listed(scheduler, { status: ["RUNNING"] })).toEqual([]);
  });

  it.each([0, 501])("refuses a page of %i", async (limit) => {
    const scheduler = await box.scheduler();

    await expect(scheduler.listRuns({ limit })).rejects.toMatchObject({
      code: "INVALID_FILTER",
      message: `The filter has a limit (${limit}) that is not a whole number from 1 to 500`,
    });
  });
});
