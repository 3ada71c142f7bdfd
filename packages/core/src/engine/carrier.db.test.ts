/** Operations: what they come to, bite by bite, and what they say of what they could not do. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { broken, echo, openFixture } from "../../test/fixture.ts";
import { waitUntil } from "../../test/wait-until.ts";
import type { OperationFilter, OperationRequest } from "../domain/operation.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { createScheduler } from "./scheduler.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const LATER = new Date("2090-01-01");

async function enqueueFailed(scheduler: ManualScheduler, count: number): Promise<void> {
  await scheduler.enqueueMany(
    Array.from({ length: count }, (_, index) => broken.task(index, { title: `broken ${index}` })),
  );
  await scheduler.runUntilIdle();
}

async function carryToEnd(scheduler: ManualScheduler): Promise<number> {
  for (let bites = 0; ; bites += 1) if (!(await scheduler.carryOn())) return bites;
}

async function statuses(): Promise<Readonly<Record<string, number>>> {
  const rows = await box.query<{ status: string; count: number }>(
    "SELECT status, count(*)::integer AS count FROM signalbox.task_run GROUP BY 1",
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

const RETRY_FAILED: OperationRequest = { verb: "retry", filter: { status: ["FAILED"] } };

describe("an operation", () => {
  it("retries all that failed, in bites, and its own new attempts never", async () => {
    const scheduler = await box.scheduler();
    await enqueueFailed(scheduler, 250);

    const { operationId, ...begun } = await scheduler.startOperation(RETRY_FAILED, {
      by: "ana",
      reason: "the disk is back",
    });
    // They fail again while the operation goes on.
    let bites = 0;
    for (; bites < 5 && (await scheduler.carryOn()); bites += 1) await scheduler.runUntilIdle();

    expect(begun).toMatchObject({
      status: "RUNNING",
      by: "ana",
      reason: "the disk is back",
      expected: { matched: { count: 250, atLeast: false }, eligible: { count: 250, atLeast: false } },
    });
    expect(bites).toBe(3);
    expect(await scheduler.getOperation(operationId)).toMatchObject({
      status: "DONE",
      done: 250,
      skipped: {},
      failed: 0,
    });
    expect(await statuses()).toEqual({ FAILED: 500 });
    expect(scheduler.events.filter(({ type }) => type === "operation.done")).toEqual([
      { type: "operation.done", operationId, verb: "retry" },
    ]);
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("cancels what is open, wherever that is", async () => {
    const scheduler = await box.scheduler({ slots: 2 });
    await scheduler.enqueueMany([
      ...Array.from({ length: 120 }, () => echo.task(1, { runAt: LATER })),
      ...Array.from({ length: 5 }, () => echo.task(1)),
    ]);
    await scheduler.claim();

    const { operationId } = await scheduler.startOperation(
      { verb: "cancel", filter: { kind: "echo" } },
      { reason: "wrong data" },
    );
    await carryToEnd(scheduler);

    expect(await scheduler.getOperation(operationId)).toMatchObject({
      status: "DONE",
      done: 125,
      skipped: {},
    });
    expect(await statuses()).toEqual({ CANCELED: 123, RUNNING: 2 });
    expect(
      await box.value("SELECT count(*)::integer FROM signalbox.task_run WHERE cancel_reason = 'wrong data'"),
    ).toBe(125);
    await scheduler.execute();
    await scheduler.settle();
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it.each<[string, OperationFilter, number]>([
    ["kind", { status: ["FAILED"], kind: "broken" }, 3],
    ["another kind", { status: ["FAILED"], kind: "echo" }, 0],
    ["queue", { status: ["FAILED"], queue: "night" }, 1],
    ["tag", { tag: "eu" }, 1],
    ["since", { enqueuedSince: new Date(Date.now() - 3_600_000) }, 3],
    ["since later", { enqueuedSince: LATER }, 0],
  ])("keeps to the filter: %s", async (_, filter, done) => {
    const scheduler = await box.scheduler();
    await scheduler.enqueueMany([
      broken.task(1),
      broken.task(1, { queue: "night" }),
      broken.task(1, { tags: ["eu"] }),
    ]);
    await scheduler.runUntilIdle();

    const preview = await scheduler.previewOperation({ verb: "retry", filter });
    const { operationId } = await scheduler.startOperation({ verb: "retry", filter });
    await carryToEnd(scheduler);

    expect(await scheduler.getOperation(operationId)).toMatchObject({ status: "DONE", done });
    expect(preview.eligible).toEqual({ count: done, atLeast: false });
    expect(preview.first).toHaveLength(done);
  });

  it("keeps to a run, for both verbs", async () => {
    const scheduler = await box.scheduler();
    const { runId } = await scheduler.enqueueMany(
      [...Array.from({ length: 130 }, () => broken.task(1)), echo.task(1, { runAt: LATER })],
      { run: { title: "nightly" } },
    );
    await scheduler.enqueue(broken.task(1));
    await scheduler.runUntilIdle();
    if (runId === null) throw new Error("No run");

    const retry = await scheduler.startOperation({ verb: "retry", filter: { runId } });
    const cancel = await scheduler.startOperation({ verb: "cancel", filter: { runId } });
    await carryToEnd(scheduler);

    expect(await scheduler.getOperation(retry.operationId)).toMatchObject({ done: 130 });
    // The new attempts are of tasks that were there: whoever cancels a run wants nothing of it to go on.
    expect(await scheduler.getOperation(cancel.operationId)).toMatchObject({ done: 131 });
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });
});

describe("what an operation cannot do", () => {
  it("is said before, by status and why", async () => {
    const scheduler = await box.scheduler({ slots: 1 });
    await scheduler.enqueueMany([
      broken.task(1, { retry: { attempts: 2, backoff: { firstMs: 1 } } }),
      echo.task(1),
    ]);
    await scheduler.runUntilIdle();
    await scheduler.enqueue(echo.task(2, { runAt: LATER }));

    const retry = await scheduler.previewOperation({
      verb: "retry",
      filter: { status: ["FAILED", "DONE", "PENDING"] },
    });
    const cancel = await scheduler.previewOperation({ verb: "cancel", filter: { queue: "default" } });

    expect(retry).toMatchObject({
      matched: { count: 4, atLeast: false },
      eligible: { count: 1, atLeast: false },
      first: [{ title: "broken", status: "FAILED" }],
    });
    expect(new Set(retry.groups)).toEqual(
      new Set([
        { status: "FAILED", reason: null, count: 1 },
        { status: "FAILED", reason: "LATER_ATTEMPT", count: 1 },
        { status: "DONE", reason: "DONE", count: 1 },
        { status: "PENDING", reason: "OPEN", count: 1 },
      ]),
    );
    expect(cancel).toMatchObject({
      matched: { count: 4 },
      eligible: { count: 1 },
      first: [{ status: "PENDING" }],
    });
  });

  it("of ids is told of each", async () => {
    const scheduler = await box.scheduler();
    const [failed, done] = [await scheduler.enqueue(broken.task(1)), await scheduler.enqueue(echo.task(1))];
    await scheduler.runUntilIdle();
    const unknown = "01990000-0000-7000-8000-000000000000" as typeof failed.taskRunId;
    const filter = { ids: [failed.taskRunId, done.taskRunId, unknown] };

    const preview = await scheduler.previewOperation({ verb: "retry", filter });
    const { operationId } = await scheduler.startOperation({ verb: "retry", filter });
    await carryToEnd(scheduler);

    expect(preview).toMatchObject({ matched: { count: 3 }, eligible: { count: 1 } });
    expect(await scheduler.getOperation(operationId)).toMatchObject({
      done: 1,
      skipped: { DONE: 1, NOT_FOUND: 1 },
    });
    const { items } = await scheduler.listOperationItems(operationId, { result: "skipped" });
    expect(items.map(({ taskRunId, reason }) => [taskRunId, reason])).toEqual([
      [unknown, "NOT_FOUND"],
      [done.taskRunId, "DONE"],
    ]);
  });

  it("is kept for a thousand, and counted for the rest", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueueMany(Array.from({ length: 5 }, () => echo.task(1)));
    await scheduler.runUntilIdle();
    const ids = (await scheduler.list()).taskRuns.map(({ taskRunId }) => taskRunId);
    const { operationId } = await scheduler.startOperation({ verb: "retry", filter: { ids } });
    await box.query("UPDATE signalbox.operation SET items = 997");

    await carryToEnd(scheduler);

    expect(await scheduler.getOperation(operationId)).toMatchObject({ skipped: { DONE: 5 } });
    const { items } = await scheduler.listOperationItems(operationId);
    expect(items.map(({ itemNo }) => itemNo)).toEqual([998, 999, 1_000]);
  });

  it("is nothing where it was asked to stop before: that is not asked for twice", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1));
    await scheduler.claim();
    await scheduler.cancel(taskRunId);

    const preview = await scheduler.previewOperation({ verb: "cancel", filter: { kind: "echo" } });
    const { operationId } = await scheduler.startOperation({ verb: "cancel", filter: { kind: "echo" } });
    await carryToEnd(scheduler);

    expect(preview.groups).toEqual([{ status: "RUNNING", reason: "CANCELING", count: 1 }]);
    expect(await scheduler.getOperation(operationId)).toMatchObject({ status: "DONE", done: 0 });
  });
});

it("a started instance carries on what another process asked for, at once", async () => {
  const asking = await box.scheduler({ tasks: [] });
  const started = createScheduler({ databaseUrl: box.db.url, tasks: [echo], pollIntervalMs: 60_000 });
  await started.start();
  try {
    const { taskRunId } = await asking.enqueue(echo.task(1, { runAt: LATER }));
    await waitUntil(
      "it listens",
      async () =>
        await box.value(
          "SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'signalbox listener' AND datname = current_database()",
        ),
    );

    const { operationId } = await asking.startOperation({ verb: "cancel", filter: { kind: "echo" } });

    await waitUntil("it is over", async () => (await asking.getOperation(operationId)).status === "DONE");
    expect(await box.statusOf(taskRunId)).toBe("CANCELED");
  } finally {
    await started.stop();
  }
});
