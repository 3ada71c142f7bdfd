/** A rescue and what happens at the same moment. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { leaveOpen } from "../../test/stepped-pool.ts";
import { waitUntilBlocked } from "../../test/wait-until.ts";
import type { Settlement } from "../domain/settlement.ts";
import { claimTaskRuns } from "../store/task-runs/claim.ts";
import { type SettleRequest, settleTaskRuns } from "../store/task-runs/settle.ts";
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

/** It claims what there is and is not heard of again. */
async function lose(doomed: ManualScheduler): Promise<void> {
  await doomed.promote();
  await doomed.claim();
  await doomed.expireLease();
}

const DONE: Settlement = { status: "DONE", outcome: "SUCCEEDED", output: 1, error: null, nextAttempt: null };
function settlementsOf(scheduler: ManualScheduler): readonly SettleRequest[] {
  return scheduler.held.all().map(({ claim }) => ({
    taskRunId: claim.taskRunId,
    claimNo: claim.claimNo,
    claimedBy: scheduler.instanceId,
    runId: claim.runId,
    settlement: DONE,
  }));
}

describe("a rescue", () => {
  it("finds a claim that commits after its instance was marked DEAD, in the next pass", async () => {
    const rescuer = await box.scheduler();
    const doomed = await box.scheduler({ name: "doomed" });
    const { taskId } = await rescuer.enqueue(echo.task(1));
    const claim = await leaveOpen(
      box.pool("claimer"),
      async (tx) =>
        await claimTaskRuns(tx, {
          instanceId: doomed.instanceId,
          kinds: ["echo"],
          freeSlots: 1,
          requestNo: 1,
        }),
    );
    await doomed.expireLease();

    expect(await rescuer.rescue()).toBe(0);
    await claim.commit();

    expect(await attemptsOf(taskId)).toMatchObject([{ status: "RUNNING" }]);
    expect(await rescuer.rescue()).toBe(1);
    expect(await attemptsOf(taskId)).toMatchObject([{ outcome: "LEASE_LOST" }, { status: "PENDING" }]);
  });

  it("refuses the settlement that waited for it, and there is one next attempt", async () => {
    const zombie = await box.scheduler();
    const { taskId } = await zombie.enqueue(echo.task(1));
    await lose(zombie);
    const pool = box.pool("rescuer");
    const pause = pool.pauseBefore("recordRescue");

    const rescue = rescueOnce({ pool, graceMs: 0, batchSize: 10, emit: () => {} });
    await pause.reached;
    const late = box
      .pool("zombie")
      .transaction(async (tx) => await settleTaskRuns(tx, settlementsOf(zombie)));
    await waitUntilBlocked(box.db.client, "zombie");
    pause.resume();

    expect(await rescue).toBe(1);
    expect(await late).toEqual([]);
    expect(await attemptsOf(taskId)).toMatchObject([{ outcome: "LEASE_LOST" }, { status: "PENDING" }]);
  });

  it("leaves alone what was settled before it had the row", async () => {
    const zombie = await box.scheduler();
    const { taskId } = await zombie.enqueue(echo.task(1));
    await lose(zombie);
    const settled = await leaveOpen(
      box.pool("zombie"),
      async (tx) => await settleTaskRuns(tx, settlementsOf(zombie)),
    );

    const rescue = rescueOnce({ pool: box.pool("rescuer"), graceMs: 0, batchSize: 10, emit: () => {} });
    await waitUntilBlocked(box.db.client, "rescuer");
    await settled.commit();

    expect(await rescue).toBe(0);
    expect(await attemptsOf(taskId)).toMatchObject([{ status: "DONE" }]);
  });

  it("waits for a settlement of the same task runs in another order without a deadlock", async () => {
    const zombie = await box.scheduler();
    const { taskRuns } = await zombie.enqueueMany([echo.task(1), echo.task(2)]);
    await lose(zombie);
    const last = taskRuns[1]?.taskRunId;
    const reversed = settlementsOf(zombie).toSorted((a, b) => (a.taskRunId < b.taskRunId ? 1 : -1));
    const holder = box.pool("holder");
    const lock = await leaveOpen(
      holder,
      async (tx) =>
        await tx.query({
          name: "lock",
          text: "SELECT FROM signalbox.task_run WHERE id = $1 FOR UPDATE",
          values: [last],
        }),
    );

    const late = box.pool("zombie").transaction(async (tx) => await settleTaskRuns(tx, reversed));
    await waitUntilBlocked(box.db.client, "zombie");
    const rescue = rescueOnce({ pool: box.pool("rescuer"), graceMs: 0, batchSize: 10, emit: () => {} });
    await waitUntilBlocked(box.db.client, "rescuer");
    await lock.commit();

    expect((await late).length + (await rescue)).toBe(2);
  });
});
