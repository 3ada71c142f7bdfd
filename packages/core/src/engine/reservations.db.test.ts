import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { SUCCESS, settleAll } from "../../test/acts.ts";
import { echo, openFixture } from "../../test/fixture.ts";
import type { SteppedPool } from "../../test/stepped-pool.ts";
import { waitUntilBlocked, waitUntilBlockedOrDone } from "../../test/wait-until.ts";
import { exclusive } from "../domain/resource.ts";
import type { TaskSpec } from "../domain/task-spec.ts";
import { releaseReservation } from "../store/rules/reservation.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { cancelOnce } from "./canceler.ts";
import { createSettler } from "./settler.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const orders = [exclusive("orders")];
const FAILURE = { kind: "failed", code: "HANDLER_FAILED", message: "once more", retryable: true } as const;

/** A task that held the resource alone when its instance was lost; its next attempt is to wait for a while. */
async function loseWith(
  options: Partial<TaskSpec>,
): Promise<{ readonly scheduler: ManualScheduler; readonly taskId: string }> {
  const doomed = await box.scheduler({ name: "doomed" });
  const { taskId } = await doomed.enqueue(echo.task(1, { resources: orders, ...options }));
  await doomed.promote();
  await doomed.claim();
  await doomed.expireLease();
  const scheduler = await box.scheduler();
  await scheduler.rescue();
  return { scheduler, taskId };
}

describe("a resource that is kept for a task", () => {
  it("is free for others when somebody releases it, and who did is recorded", async () => {
    const { scheduler, taskId } = await loseWith({ queue: "slow" });
    await scheduler.pause({ queue: "slow" });
    const other = await scheduler.enqueue(echo.task(2, { resources: orders }));
    await scheduler.runUntilIdle();
    expect(await box.statusOf(other.taskRunId)).toBe("PENDING");

    expect(await scheduler.releaseReservation("orders", { by: "ada", reason: "pod is gone" })).toBe(true);

    await scheduler.runUntilIdle();
    expect(await box.statusOf(other.taskRunId)).toBe("DONE");
    expect(
      await box.value(
        "SELECT data - 'taskId' FROM signalbox.event_store WHERE type = 'task_run.reservation_released'",
      ),
    ).toEqual({ resource: "orders", by: "ada", reason: "pod is gone" });
    await scheduler.resume({ queue: "slow" });
    await scheduler.runUntilIdle();
    expect(await scheduler.get(taskId)).toMatchObject({ attempt: 2, status: "DONE" });
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("is released once, and one that is kept for nobody is not", async () => {
    const { scheduler } = await loseWith({});

    expect(await scheduler.releaseReservation("orders")).toBe(true);
    expect(await scheduler.releaseReservation("orders")).toBe(false);
    expect(await scheduler.releaseReservation("nobody's")).toBe(false);
    await expect(scheduler.releaseReservation("")).rejects.toMatchObject({ code: "INVALID_RULE" });
  });

  it("does not go on before a smaller version once it is released, and neither waits for the other for ever", async () => {
    const { scheduler, taskId } = await loseWith({ version: "2" });
    const smaller = await scheduler.enqueue(echo.task(2, { resources: orders, version: "1" }));
    await scheduler.promote();
    // It was made AVAILABLE before its turn, since it was kept for it.
    expect(await scheduler.get(taskId)).toMatchObject({ status: "AVAILABLE" });

    await scheduler.releaseReservation("orders");
    await scheduler.promote();

    expect(await box.statusOf(smaller.taskRunId)).toBe("AVAILABLE");
    expect(await scheduler.get(taskId)).toMatchObject({ status: "PENDING", priority: 5 });
    await scheduler.runUntilIdle();
    expect(await scheduler.get(taskId)).toMatchObject({ status: "DONE" });
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("stays held by an attempt that runs, and is free when that one ends", async () => {
    const { scheduler, taskId } = await loseWith({ retry: { attempts: 1 } });
    await scheduler.promote();
    await scheduler.claim();
    const other = await scheduler.enqueue(echo.task(2, { resources: orders }));

    expect(await scheduler.releaseReservation("orders")).toBe(true);

    await scheduler.promote();
    expect(await box.statusOf(other.taskRunId)).toBe("PENDING");
    await scheduler.execute();
    await scheduler.settle();
    expect(await scheduler.get(taskId)).toMatchObject({ status: "DONE" });
    await scheduler.runUntilIdle();
    expect(await box.statusOf(other.taskRunId)).toBe("DONE");
  });

  it("goes on to be kept in another resource of the task, which stays ahead of others there", async () => {
    const { scheduler, taskId } = await loseWith({
      resources: [exclusive("orders"), exclusive("disk")],
      queue: "slow",
    });
    await scheduler.pause({ queue: "slow" });
    const [onOrders, onDisk] = [
      await scheduler.enqueue(echo.task(2, { resources: orders })),
      await scheduler.enqueue(echo.task(3, { resources: [exclusive("disk")] })),
    ];

    await scheduler.releaseReservation("orders");
    await scheduler.runUntilIdle();

    expect(await box.statusOf(onOrders.taskRunId)).toBe("DONE");
    expect(await box.statusOf(onDisk.taskRunId)).toBe("PENDING");
    await scheduler.resume({ queue: "slow" });
    await scheduler.runUntilIdle();
    expect(await scheduler.get(taskId)).toMatchObject({ status: "DONE" });
    expect(await box.statusOf(onDisk.taskRunId)).toBe("DONE");
  });

  it("whose attempt is settled at the same moment leaves nothing behind", async () => {
    const { scheduler, taskId } = await loseWith({});
    await scheduler.promote();
    await scheduler.claim();
    const releasing = box.pool("releaser");
    const pause = releasing.pauseBefore("lockReservingTask");
    const released = releasing.transaction(
      async (tx) => await releaseReservation(tx, "orders", { by: null, reason: null }),
    );
    await pause.reached;

    // As the lease's thread does it. A settler would share the claim lock, and wait.
    await settleAll(scheduler, SUCCESS)(box.pool("settler"));
    pause.resume();

    expect(await released).toBeNull();
    expect(await scheduler.get(taskId)).toMatchObject({ status: "DONE" });
    expect(await box.query("SELECT FROM signalbox.hold")).toEqual([]);
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });
});

describe("a release that meets a cancel", () => {
  const release = async (pool: SteppedPool) => {
    const request = { by: null, reason: null };
    const sentBack = await pool.transaction(async (tx) => await releaseReservation(tx, "orders", request));
    return sentBack !== null;
  };

  it("of the AVAILABLE attempt: neither waits for the other for ever", async () => {
    const { scheduler, taskId } = await loseWith({});
    await scheduler.promote();
    const pool = box.pool("releaser");
    const pause = pool.pauseBefore("leaveReadyNow");
    const released = release(pool);
    await pause.reached;
    const canceler = box.pool("canceler");
    const canceled = cancelOnce(canceler, taskId, { by: null, reason: null });
    await waitUntilBlockedOrDone(box.db.client, "canceler", canceled);
    pause.resume();

    expect([await released, await canceled]).toEqual([expect.any(Boolean), "canceled"]);
    expect(await box.query("SELECT FROM signalbox.hold")).toEqual([]);
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it.each(["unmarkReserved", "standInLineAgain"])(
    "of the attempt that came while it waited, before %s",
    async (statement) => {
      const { scheduler, taskId } = await loseWith({ retry: { attempts: 5, backoff: { firstMs: 0 } } });
      await scheduler.promote();
      await scheduler.claim();
      const settling = box.pool("settler");
      const commit = settling.pauseBefore("COMMIT");
      const settler = createSettler({ pool: settling, batchSize: 10, emit: () => {} });
      for (const { claim } of scheduler.held.all())
        settler.add(claim, scheduler.instanceId, FAILURE, scheduler.held);
      const settled = settler.settleOnce();
      await commit.reached;
      const pool = box.pool("releaser");
      const pause = pool.pauseBefore(statement);
      const released = release(pool);
      await waitUntilBlocked(box.db.client, "releaser");
      commit.resume();
      await settled;
      await pause.reached;
      const canceled = cancelOnce(box.pool("canceler"), taskId, { by: null, reason: null });
      await waitUntilBlockedOrDone(box.db.client, "canceler", canceled);
      pause.resume();

      expect([await released, await canceled]).toEqual([true, "canceled"]);
      expect((await scheduler.checkInvariants()).violations).toEqual([]);
    },
  );
});
