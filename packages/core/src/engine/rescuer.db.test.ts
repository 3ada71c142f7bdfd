import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { loseAnswers } from "../../test/unheard.ts";
import { exclusive, shared } from "../domain/resource.ts";
import { MAX_INTERRUPTIONS } from "../domain/settlement.ts";
import type { TaskSpec } from "../domain/task-spec.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { rescueOnce } from "./rescuer.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

async function attemptsOf(taskId: string): Promise<readonly unknown[]> {
  return await box.query(
    `SELECT attempt, status, outcome, interruptions FROM signalbox.task_run WHERE task_id = $1 ORDER BY attempt`,
    [taskId],
  );
}

/** An instance claims the task and is not heard of again. */
async function loseInstanceWith(
  spec: TaskSpec,
): Promise<{ readonly taskId: string; readonly taskRunId: string }> {
  const doomed = await box.scheduler({ name: "doomed" });
  const enqueued = await doomed.enqueue(spec);
  await loseAgain(doomed);
  return enqueued;
}

async function loseAgain(doomed: ManualScheduler): Promise<void> {
  await doomed.promote();
  await doomed.claim();
  await doomed.expireLease();
}

describe("what a lost instance had RUNNING", () => {
  it("fails with LEASE_LOST and is tried again, without that counting as an attempt of its own", async () => {
    const { taskId, taskRunId } = await loseInstanceWith(echo.task(1));
    const rescuer = await box.scheduler();

    expect(await rescuer.rescue()).toBe(1);

    expect(await attemptsOf(taskId)).toEqual([
      { attempt: 1, status: "FAILED", outcome: "LEASE_LOST", interruptions: 0 },
      { attempt: 2, status: "PENDING", outcome: null, interruptions: 1 },
    ]);
    expect(await rescuer.get(taskRunId)).toMatchObject({
      error: { code: "LEASE_LOST", message: expect.stringContaining("doomed") },
    });
    expect(rescuer.events).toMatchObject([
      { type: "instance.lost", lostName: "doomed" },
      { type: "task_run.rescued", taskRunId, fromName: "doomed", status: "FAILED" },
    ]);
    await rescuer.runUntilIdle();
    expect(await rescuer.get(taskId)).toMatchObject({ attempt: 2, status: "DONE" });
  });

  it("fails for good where the task says so", async () => {
    const { taskId } = await loseInstanceWith(echo.task(1, { onLost: "fail", retry: { attempts: 5 } }));

    await (await box.scheduler()).rescue();

    expect(await attemptsOf(taskId)).toEqual([
      { attempt: 1, status: "FAILED", outcome: "LEASE_LOST", interruptions: 0 },
    ]);
  });

  it("is given up after too many lost instances: it may be the reason", async () => {
    const first = await box.scheduler();
    const { taskId } = await first.enqueue(echo.task(1));
    for (let loss = 0; loss <= MAX_INTERRUPTIONS; loss += 1) {
      await loseAgain(await box.scheduler());
      await first.rescue();
    }

    const attempts = await attemptsOf(taskId);
    expect(attempts).toHaveLength(MAX_INTERRUPTIONS + 1);
    expect(attempts.at(-1)).toMatchObject({
      outcome: "TOO_MANY_INTERRUPTIONS",
      interruptions: MAX_INTERRUPTIONS,
    });
  });

  it("becomes CANCELED, without a new attempt, where a cancel was requested", async () => {
    const { taskId } = await loseInstanceWith(echo.task(1));
    const rescuer = await box.scheduler();
    expect(await rescuer.cancel(taskId)).toBe("canceling");

    await rescuer.rescue();

    expect(await attemptsOf(taskId)).toMatchObject([{ attempt: 1, status: "CANCELED", outcome: "CANCELED" }]);
  });

  it("is left alone while its lease is good, and for the grace after it", async () => {
    const owner = await box.scheduler();
    const { taskRunId } = await owner.enqueue(echo.task(1));
    await owner.claim();
    const pool = box.pool("rescuer");
    const rescue = async (graceMs: number) =>
      await rescueOnce({ pool, graceMs, batchSize: 10, emit: () => {} });

    expect(await rescue(0)).toBe(0);
    await owner.expireLease();
    expect(await rescue(60_000)).toBe(0);
    expect(await box.statusOf(taskRunId)).toBe("RUNNING");
    expect(await rescue(0)).toBe(1);
  });

  it("is rescued from one that was draining, too", async () => {
    const doomed = await box.scheduler();
    await doomed.enqueue(echo.task(1));
    await doomed.claim();
    await box.query("UPDATE signalbox.instance SET state = 'DRAINING'");
    await doomed.expireLease();

    expect(await (await box.scheduler()).rescue()).toBe(1);
  });

  it("is rescued also when the row of its owner is gone", async () => {
    const doomed = await box.scheduler();
    const { taskId } = await doomed.enqueue(echo.task(1));
    await doomed.claim();
    await box.query("DELETE FROM signalbox.instance");

    expect(await (await box.scheduler()).rescue()).toBe(1);
    expect(await attemptsOf(taskId)).toMatchObject([{ outcome: "LEASE_LOST" }, { status: "PENDING" }]);
  });

  it("is not what another instance has claimed since, though the batch of the dead one lists it", async () => {
    const [doomed, healthy] = [await box.scheduler(), await box.scheduler()];
    const { taskRunId } = await doomed.enqueue(echo.task(1));
    await doomed.claim();
    loseAnswers(doomed.held);
    await doomed.reconcile();
    await healthy.promote();
    await healthy.claim();
    await doomed.expireLease();
    expect(
      await box.query("SELECT FROM signalbox.claim_batch WHERE instance_id = $1", [doomed.instanceId]),
    ).toHaveLength(1);

    expect(await healthy.rescue()).toBe(0);

    expect(await healthy.get(taskRunId)).toMatchObject({ status: "RUNNING", claimedBy: healthy.instanceId });
  });

  it("leaves no batch behind", async () => {
    await loseInstanceWith(echo.task(1));

    await (await box.scheduler()).rescue();

    expect(await box.query("SELECT FROM signalbox.claim_batch")).toEqual([]);
  });

  it("is rescued in bites", async () => {
    const doomed = await box.scheduler();
    await doomed.enqueueMany(Array.from({ length: 7 }, () => echo.task(1)));
    await loseAgain(doomed);
    const rescuer = await box.scheduler({ batchSize: 3 });

    const bites: number[] = [];
    for (let last = 1; last > 0; bites.push(last)) last = await rescuer.rescue();

    expect(bites).toEqual([3, 3, 1, 0]);
  });
});

describe("what a lost instance held alone", () => {
  it("is kept for the task: nobody else gets it before, however urgent", async () => {
    const { taskId } = await loseInstanceWith(echo.task(1, { resources: [exclusive("orders")] }));
    const rescuer = await box.scheduler();
    const other = await rescuer.enqueue(echo.task(2, { resources: [exclusive("orders")], priority: 0 }));
    await rescuer.rescue();

    await rescuer.promote();

    expect(await rescuer.get(taskId)).toMatchObject({ attempt: 2, status: "AVAILABLE" });
    expect(await rescuer.get(other.taskRunId)).toMatchObject({
      status: "PENDING",
      blockedOn: "RESOURCE_BUSY",
    });
    await rescuer.runUntilIdle();
    expect(await rescuer.get(other.taskRunId)).toMatchObject({ status: "DONE" });
    expect((await rescuer.checkInvariants()).violations).toEqual([]);
  });

  it("is kept while the next attempt waits for something else", async () => {
    const { taskId } = await loseInstanceWith(
      echo.task(1, { resources: [exclusive("orders"), shared("disk")] }),
    );
    const rescuer = await box.scheduler();
    const onDisk = await rescuer.enqueue(echo.task(2, { resources: [exclusive("disk")], priority: 0 }));
    await rescuer.rescue();
    // Whoever came for what was only shared may have it first, if it was there first.
    await box.query("DELETE FROM signalbox.gate_wake");
    const other = await rescuer.enqueue(echo.task(3, { resources: [shared("orders")] }));
    await rescuer.promote();

    expect(await box.statusOf(other.taskRunId)).toBe("PENDING");
    await rescuer.runUntilIdle();
    expect(await rescuer.get(taskId)).toMatchObject({ status: "DONE" });
    expect(await box.statusOf(onDisk.taskRunId)).toBe("DONE");
    expect((await rescuer.checkInvariants()).violations).toEqual([]);
  });

  it("lets the next attempt go before everybody who waits for what else it needs, however urgent", async () => {
    const { taskId } = await loseInstanceWith(
      echo.task(1, { resources: [exclusive("orders"), shared("disk")] }),
    );
    const rescuer = await box.scheduler();
    const onDisk = await rescuer.enqueue(echo.task(2, { resources: [exclusive("disk")], priority: 0 }));
    await rescuer.rescue();

    await rescuer.promote();

    expect(await rescuer.get(taskId)).toMatchObject({ attempt: 2, status: "AVAILABLE" });
    expect(await box.statusOf(onDisk.taskRunId)).toBe("PENDING");
    await rescuer.runUntilIdle();
    expect(await box.statusOf(onDisk.taskRunId)).toBe("DONE");
  });

  it("is kept through a hand-back of the next attempt", async () => {
    const { taskId } = await loseInstanceWith(echo.task(1, { resources: [exclusive("orders")] }));
    const rescuer = await box.scheduler();
    await rescuer.rescue();
    await rescuer.promote();
    await rescuer.claim();
    loseAnswers(rescuer.held);
    const other = await rescuer.enqueue(echo.task(2, { resources: [exclusive("orders")], priority: 0 }));

    expect(await rescuer.reconcile()).toBe(1);
    await rescuer.promote();

    expect(await box.statusOf(other.taskRunId)).toBe("PENDING");
    expect(await rescuer.get(taskId)).toMatchObject({ attempt: 2, status: "AVAILABLE" });
    await rescuer.runUntilIdle();
    expect((await rescuer.checkInvariants()).violations).toEqual([]);
  });

  it("is free at once when the task fails for good or is canceled", async () => {
    const rescuer = await box.scheduler();
    await loseInstanceWith(echo.task(1, { resources: [exclusive("a")], onLost: "fail" }));
    const { taskId } = await loseInstanceWith(echo.task(1, { resources: [exclusive("b")] }));
    await rescuer.rescue();
    await rescuer.cancel(taskId);

    expect(await box.query("SELECT FROM signalbox.hold")).toEqual([]);
    const { taskRuns } = await rescuer.enqueueMany([
      echo.task(2, { resources: [exclusive("a")] }),
      echo.task(2, { resources: [exclusive("b")] }),
    ]);
    const pass = await rescuer.promote();
    expect(pass.kind === "passed" && pass.promoted).toHaveLength(taskRuns.length);
  });

  it("is not kept where it was only shared", async () => {
    await loseInstanceWith(echo.task(1, { resources: [shared("disk")] }));
    const rescuer = await box.scheduler();
    await rescuer.rescue();

    expect(await box.query("SELECT FROM signalbox.hold")).toEqual([]);
    expect(await box.query("SELECT exclusive, shared FROM signalbox.resource_use")).toEqual([
      { exclusive: 0, shared: 0 },
    ]);
  });
});
