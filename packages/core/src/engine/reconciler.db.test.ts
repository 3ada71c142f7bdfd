import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { loseAnswers } from "../../test/unheard.ts";
import { exclusive } from "../domain/resource.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

/** As if its end had been recorded, on a server that is no more. */
function undoEnds(scheduler: ManualScheduler): void {
  for (const held of scheduler.held.all()) {
    scheduler.held.endExecution(held);
    scheduler.held.remove(held.claim);
  }
}

describe("a claim whose answer never came", () => {
  it("is handed back without spending an attempt, and can be claimed again", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1));
    await scheduler.claim();
    const before = await scheduler.get(taskRunId);
    loseAnswers(scheduler.held);

    expect(await scheduler.reconcile()).toBe(1);

    expect(await scheduler.get(taskRunId)).toMatchObject({
      status: "PENDING",
      attempt: 1,
      availableAt: null,
      claimedAt: null,
      claimedBy: null,
      rowVersion: before.rowVersion + 1,
    });
    expect(scheduler.events).toEqual([{ type: "task_run.handed_back", taskRunId, claimNo: before.claimNo }]);
    await scheduler.promote();
    expect(await scheduler.claim()).toEqual([taskRunId]);
    expect((await scheduler.get(taskRunId)).claimNo).toBeGreaterThan(before.claimNo ?? Number.NaN);
  });

  it("is recorded with the stamps of the stay that it ends", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId, taskId } = await scheduler.enqueue(echo.task(1));
    await scheduler.claim();
    const { claimNo, rowVersion } = await scheduler.get(taskRunId);
    loseAnswers(scheduler.held);

    await scheduler.reconcile();

    expect(
      await box.query("SELECT aggregate_id, aggregate_version, type, data FROM signalbox.event_store"),
    ).toEqual([
      {
        aggregate_id: taskRunId,
        aggregate_version: rowVersion + 1,
        type: "task_run.handed_back",
        data: {
          from: "RUNNING",
          to: "PENDING",
          taskId,
          runId: null,
          claimNo,
          claimedBy: scheduler.instanceId,
          availableAt: expect.any(String),
          claimedAt: expect.any(String),
        },
      },
    ]);
  });

  it("gives back what it held, so that the next in line can go", async () => {
    const scheduler = await box.scheduler();
    const resources = [exclusive("orders")];
    await scheduler.enqueueMany([echo.task(1, { resources, priority: 9 })], {
      run: { title: "nightly", limit: 1 },
    });
    await scheduler.promote();
    await scheduler.claim();
    const urgent = await scheduler.enqueue(echo.task(2, { resources }));
    await scheduler.promote();
    loseAnswers(scheduler.held);

    await scheduler.reconcile();

    expect(await box.query("SELECT FROM signalbox.hold")).toEqual([]);
    expect(await scheduler.promote()).toMatchObject({ promoted: [urgent.taskRunId] });
  });

  it("becomes CANCELED where a cancel was requested, and its run ends with it", async () => {
    const scheduler = await box.scheduler();
    const { taskRuns, runId } = await scheduler.enqueueMany([echo.task(1)], { run: { title: "nightly" } });
    const taskRunId = taskRuns[0]?.taskRunId ?? "";
    await scheduler.promote();
    await scheduler.claim();
    loseAnswers(scheduler.held);
    await scheduler.cancel(taskRunId);

    expect(await scheduler.reconcile()).toBe(1);

    expect(await scheduler.get(taskRunId)).toMatchObject({ status: "CANCELED", outcome: "CANCELED" });
    expect(scheduler.events).toEqual([]);
    expect(await box.value("SELECT status FROM signalbox.run WHERE id = $1", [runId])).toBe("CANCELED");
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("is left alone while its answer may still be on its way", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1));
    await scheduler.claim();
    loseAnswers(scheduler.held);
    await box.query("UPDATE signalbox.claim_batch SET request_no = $1", [scheduler.held.beginRequest()]);

    expect(await scheduler.reconcile()).toBe(0);
    expect(await box.statusOf(taskRunId)).toBe("RUNNING");
  });

  it("is left alone when it is held, and when it is another instance's", async () => {
    const [one, other] = [await box.scheduler(), await box.scheduler()];
    await one.enqueueMany([echo.task(1), echo.task(2)]);
    await one.claim();

    expect([await one.reconcile(), await other.reconcile()]).toEqual([0, 0]);
  });
});

describe("an end that a failover has undone", () => {
  it("costs an interruption and no attempt, and what it held alone is kept: it may be at work to this moment", async () => {
    const scheduler = await box.scheduler({ name: "app-1" });
    const resources = [exclusive("orders")];
    const { taskId, taskRunId } = await scheduler.enqueue(echo.task(1, { resources, priority: 9 }));
    await scheduler.promote();
    await scheduler.claim();
    const { rowVersion, claimNo } = await scheduler.get(taskRunId);
    const urgent = await scheduler.enqueue(echo.task(2, { resources }));
    undoEnds(scheduler);

    expect(await scheduler.reconcile()).toBe(1);

    expect(await scheduler.get(taskRunId)).toMatchObject({
      status: "FAILED",
      outcome: "END_LOST",
      error: {
        code: "END_LOST",
        message: expect.stringMatching(/^app-1 ran this to its end, and a failover/),
      },
      rowVersion: rowVersion + 1,
    });
    const next = await scheduler.get(taskId);
    expect(next).toMatchObject({ status: "PENDING", attempt: 2 });
    expect(
      await box.value("SELECT interruptions FROM signalbox.task_run WHERE id = $1", [next.taskRunId]),
    ).toBe(1);
    expect(scheduler.events).toMatchObject([
      { type: "task_run.rescued", taskRunId, fromName: "app-1", nextTaskRunId: next.taskRunId },
    ]);
    expect(await box.query("SELECT type, data->'claimNo' AS claim_no FROM signalbox.event_store")).toEqual([
      { type: "task_run.rescued", claim_no: claimNo },
    ]);
    expect(await scheduler.promote()).toMatchObject({ promoted: [next.taskRunId] });
    expect(await box.statusOf(urgent.taskRunId)).toBe("PENDING");
    await scheduler.runUntilIdle();
    expect(await box.statusOf(urgent.taskRunId)).toBe("DONE");
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("is the end where a loss is one: nothing begins anew that must not be repeated by guess", async () => {
    const scheduler = await box.scheduler();
    const { taskId } = await scheduler.enqueue(echo.task(1, { onLost: "fail" }));
    await scheduler.claim();
    undoEnds(scheduler);

    await scheduler.reconcile();

    expect(await scheduler.get(taskId)).toMatchObject({ status: "FAILED", attempt: 1, outcome: "END_LOST" });
  });

  it("is CANCELED where a cancel was requested, and its run ends with it", async () => {
    const scheduler = await box.scheduler();
    const { taskRuns, runId } = await scheduler.enqueueMany([echo.task(1)], { run: { title: "nightly" } });
    const taskRunId = taskRuns[0]?.taskRunId ?? "";
    await scheduler.promote();
    await scheduler.claim();
    undoEnds(scheduler);
    await scheduler.cancel(taskRunId);

    expect(await scheduler.reconcile()).toBe(1);

    expect(await scheduler.get(taskRunId)).toMatchObject({ status: "CANCELED", outcome: "CANCELED" });
    expect(await box.value("SELECT status FROM signalbox.run WHERE id = $1", [runId])).toBe("CANCELED");
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("is found although all else that was claimed with it has ended", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueueMany([echo.task(1), echo.task(2)]);
    await scheduler.claim();
    const [undone] = scheduler.held.all();
    if (undone === undefined) throw new Error("Nothing was claimed");
    scheduler.held.remove(undone.claim);
    await scheduler.execute();
    await scheduler.settle();

    expect(await scheduler.reconcile()).toBe(1);

    expect(await scheduler.get(undone.claim.taskRunId)).toMatchObject({ outcome: "END_LOST" });
  });

  it("of one that the database refuses to settle is told, and holds up none of the others", async () => {
    const scheduler = await box.scheduler();
    const { taskRuns } = await scheduler.enqueueMany([echo.task(1), echo.task(2)]);
    const [stuck, other] = taskRuns.map(({ taskRunId }) => taskRunId);
    await scheduler.claim();
    undoEnds(scheduler);
    await box.query("INSERT INTO signalbox.task_run_result (task_run_id, output) VALUES ($1, '0')", [stuck]);

    await expect(scheduler.reconcile()).rejects.toMatchObject({ code: "23505" });

    expect(await box.statusOf(other ?? "")).toBe("FAILED");
    expect(await box.statusOf(stuck ?? "")).toBe("RUNNING");
  });
});

describe("what the instance holds and the database gave to somebody else", () => {
  it("is told to stop, once", async () => {
    const [zombie, rescuer] = [await box.scheduler(), await box.scheduler()];
    const { taskRunId } = await zombie.enqueue(echo.task(1));
    await zombie.claim();
    const held = zombie.held.get(taskRunId);
    await zombie.expireLease();
    await rescuer.rescue();

    await zombie.reconcile();
    await zombie.reconcile();

    expect(held?.stop.signal.reason).toMatchObject({ because: "fence" });
    expect(zombie.events.filter(({ type }) => type === "task_run.aborted")).toHaveLength(1);
  });

  it("is not told to stop when only its settlement is still to be recorded", async () => {
    const [zombie, rescuer] = [await box.scheduler(), await box.scheduler()];
    const { taskRunId } = await zombie.enqueue(echo.task(1));
    await zombie.claim();
    await zombie.execute();
    await zombie.expireLease();
    await rescuer.rescue();

    await zombie.reconcile();

    expect(zombie.held.get(taskRunId)?.stop.signal.aborted).toBe(false);
  });
});
