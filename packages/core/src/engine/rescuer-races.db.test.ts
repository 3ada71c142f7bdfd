/** A rescue and what happens at the same moment. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { cancel, rescue as rescueAll, SUCCESS, settlementsOf } from "../../test/acts.ts";
import { echo, openFixture } from "../../test/fixture.ts";
import { leaveOpen } from "../../test/stepped-pool.ts";
import { waitUntilBlocked } from "../../test/wait-until.ts";
import { exclusive } from "../domain/resource.ts";
import { claimTaskRuns } from "../store/task-runs/claim.ts";
import { settleTaskRuns } from "../store/task-runs/settle.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { rescueOnce } from "./rescuer.ts";

const box = await openFixture(inject("adminUrl"));
/** Whatever came first: no property is broken by it. */
afterEach(async () => {
  const { violations } = await (await box.scheduler()).checkInvariants();
  await box.clear();
  expect(violations).toEqual([]);
});
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

describe("a rescue", () => {
  it("finds a claim that commits after its instance was marked DEAD, in the next pass", async () => {
    const rescuer = await box.scheduler();
    const doomed = await box.scheduler({ name: "doomed" });
    const { taskId } = await rescuer.enqueue(echo.task(1));
    const claim = await leaveOpen(
      box.pool("claimer"),
      async (tx) =>
        (
          await claimTaskRuns(tx, {
            instanceId: doomed.instanceId,
            kinds: ["echo"],
            freeSlots: 1,
            requestNo: 1,
          })
        ).claims,
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
      .transaction(async (tx) => await settleTaskRuns(tx, settlementsOf(zombie, SUCCESS)));
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
      async (tx) => await settleTaskRuns(tx, settlementsOf(zombie, SUCCESS)),
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
    const reversed = settlementsOf(zombie, SUCCESS).toSorted((a, b) => (a.taskRunId < b.taskRunId ? 1 : -1));
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

describe("two rescues at the same moment", () => {
  it("settle each task run once: one next attempt, one event, what was held alone kept once", async () => {
    const zombie = await box.scheduler();
    const { taskId, taskRunId } = await zombie.enqueue(echo.task(1, { resources: [exclusive("orders")] }));
    await lose(zombie);
    const [one, other] = [box.pool("first"), box.pool("second")];
    const pause = one.pauseBefore("insertNextAttempts");

    const first = rescueAll(one);
    await pause.reached;
    const second = rescueAll(other);
    await waitUntilBlocked(box.db.client, "second");
    pause.resume();

    expect([await first, await second]).toEqual([1, 0]);
    expect(await attemptsOf(taskId)).toMatchObject([{ outcome: "LEASE_LOST" }, { status: "PENDING" }]);
    expect(
      await box.query("SELECT type FROM signalbox.event_store WHERE aggregate_id = $1", [taskRunId]),
    ).toEqual([{ type: "task_run.rescued" }]);
    expect(await box.query("SELECT scope, task_run_id, reserved_for FROM signalbox.hold")).toEqual([
      { scope: "resource:orders", task_run_id: null, reserved_for: taskId },
    ]);
  });
});

describe("a rescue and a cancel at the same moment", () => {
  it("cancel first: the rescue that waited for it makes it CANCELED, without a new attempt", async () => {
    const zombie = await box.scheduler();
    const { taskId } = await zombie.enqueue(echo.task(1, { resources: [exclusive("orders")] }));
    await lose(zombie);
    const canceling = box.pool("canceler");
    const pause = canceling.pauseBefore("COMMIT");

    const answer = cancel(taskId)(canceling);
    await pause.reached;
    const rescued = rescueAll(box.pool("rescuer"));
    await waitUntilBlocked(box.db.client, "rescuer");
    pause.resume();

    expect([await answer, await rescued]).toEqual(["canceling", 1]);
    expect(await attemptsOf(taskId)).toMatchObject([{ status: "CANCELED" }]);
    expect(await box.query("SELECT FROM signalbox.hold")).toEqual([]);
  });

  it("rescue first: the cancel that waited for it goes on to the next attempt, and nothing stays kept", async () => {
    const zombie = await box.scheduler();
    const { taskId } = await zombie.enqueue(echo.task(1, { resources: [exclusive("orders")] }));
    await lose(zombie);
    const rescuing = box.pool("rescuer");
    const pause = rescuing.pauseBefore("recordRescue");

    const rescued = rescueAll(rescuing);
    await pause.reached;
    const answer = cancel(taskId)(box.pool("canceler"));
    await waitUntilBlocked(box.db.client, "canceler");
    pause.resume();

    expect([await answer, await rescued]).toEqual(["canceled", 1]);
    expect(await attemptsOf(taskId)).toMatchObject([{ outcome: "LEASE_LOST" }, { status: "CANCELED" }]);
    expect(await box.query("SELECT FROM signalbox.hold")).toEqual([]);
  });
});
