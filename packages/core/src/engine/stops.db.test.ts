/** Stops: a package keeps a task from starting, with a code of its own. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { broken, echo, openFixture } from "../../test/fixture.ts";
import { parkingIn, statusesIn } from "../../test/look.ts";
import { waitUntilBlocked } from "../../test/wait-until.ts";
import { asTaskId } from "../domain/ids.ts";
import { exclusive } from "../domain/resource.ts";
import { claimOnce } from "./claimer.ts";
import { promoteOnce } from "./promoter.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

describe("a task that is enqueued with stops", () => {
  it("waits until each of them was taken off, and shows their codes", async () => {
    const scheduler = await box.scheduler();
    const { taskId, taskRunId, status } = await scheduler.enqueue(
      echo.task(1, { stops: [{ code: "APPROVAL", detail: "by two people" }, { code: "STAGE_ORDER" }] }),
    );

    await scheduler.promote();

    expect(status).toBe("PENDING");
    expect(await parkingIn(box, taskRunId)).toBe(`STOPPED ${taskId}`);
    const { gates } = await scheduler.explain(taskRunId);
    expect(gates.find(({ code }) => code === "STOPPED")).toMatchObject({
      state: "blocking",
      causes: [
        { cause: { stop: "APPROVAL", detail: "by two people" } },
        { cause: { stop: "STAGE_ORDER", detail: null } },
      ],
    });
    expect(await scheduler.takeOffStop(taskId, "APPROVAL")).toBe(true);
    expect(await scheduler.promote()).toMatchObject({ promoted: [] });
    expect(await scheduler.takeOffStop(taskId, "STAGE_ORDER")).toBe(true);
    expect(await scheduler.promote()).toMatchObject({ promoted: [taskRunId] });
  });

  it("stands in nobody's line meanwhile", async () => {
    const scheduler = await box.scheduler();
    const resources = [exclusive("orders")];
    await scheduler.enqueue(echo.task(1, { resources, stops: [{ code: "APPROVAL" }] }));
    const second = await scheduler.enqueue(echo.task(2, { resources }));

    expect(await scheduler.promote()).toMatchObject({ promoted: [second.taskRunId] });
  });
});

describe("a stop that is put on a task", () => {
  it("takes what is AVAILABLE back before it resolves, with all it held", async () => {
    const scheduler = await box.scheduler();
    const plain = await scheduler.enqueue(echo.task(1));
    const holder = await scheduler.enqueue(echo.task(2, { resources: [exclusive("orders")] }));
    const next = await scheduler.enqueue(echo.task(3, { resources: [exclusive("orders")] }));
    await scheduler.promote();

    await scheduler.putStop(plain.taskId, "APPROVAL");
    await scheduler.putStop(holder.taskId, "APPROVAL", "ask eva");

    expect(await box.statusOf(plain.taskRunId)).toBe("PENDING");
    expect(await box.statusOf(holder.taskRunId)).toBe("PENDING");
    expect(await scheduler.promote()).toMatchObject({ promoted: [next.taskRunId] });
    expect(await scheduler.claim()).toEqual([next.taskRunId]);
    expect(await parkingIn(box, plain.taskRunId)).toBe(`STOPPED ${plain.taskId}`);
    await scheduler.takeOffStop(plain.taskId, "APPROVAL");
    await scheduler.takeOffStop(holder.taskId, "APPROVAL");
    await scheduler.runUntilIdle();
    expect(await statusesIn(box, "default")).toEqual({ DONE: 3 });
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("lets what runs go on, and stops its next attempt", async () => {
    const scheduler = await box.scheduler();
    const { taskId } = await scheduler.enqueue(
      broken.task(null, { retry: { attempts: 2, backoff: { firstMs: 0 } } }),
    );
    await scheduler.claim();

    await scheduler.putStop(taskId, "APPROVAL");
    await scheduler.runUntilIdle();

    expect(await statusesIn(box, "default")).toEqual({ FAILED: 1, PENDING: 1 });
    await scheduler.takeOffStop(taskId, "APPROVAL");
    await scheduler.runUntilIdle();
    expect(await statusesIn(box, "default")).toEqual({ FAILED: 2 });
  });

  it("waits for a claim that is taking it, which then runs", async () => {
    const scheduler = await box.scheduler({ name: "ruler" });
    const { taskId, taskRunId } = await scheduler.enqueue(echo.task(1));
    const pool = box.pool("claimer");
    const { instanceId, held } = scheduler;
    const atCommit = pool.pauseBefore("COMMIT");
    const request = {
      pool,
      instanceId,
      kinds: ["echo"],
      slots: 1,
      batchSize: 9,
      held,
      isTrusted: () => true,
    };
    const claimed = claimOnce(request);
    await atCommit.reached;

    const stopped = scheduler.putStop(taskId, "APPROVAL");
    await waitUntilBlocked(box.db.client, "signalbox ruler");
    atCommit.resume();
    await stopped;

    expect(await claimed).toHaveLength(1);
    expect(await box.statusOf(taskRunId)).toBe("RUNNING");
  });

  it("with the same code again changes its words", async () => {
    const scheduler = await box.scheduler();
    const { taskId } = await scheduler.enqueue(echo.task(1));

    await scheduler.putStop(taskId, "APPROVAL", "ask eva");
    await scheduler.putStop(taskId, "APPROVAL", "ask adam");

    expect(await box.query("SELECT code, detail FROM signalbox.stop")).toEqual([
      { code: "APPROVAL", detail: "ask adam" },
    ]);
  });

  it("waits for a pass that is under way, and takes back what it has let go", async () => {
    const scheduler = await box.scheduler({ name: "ruler" });
    const { taskId, taskRunId } = await scheduler.enqueue(echo.task(1, { resources: [exclusive("orders")] }));
    const pool = box.pool("promoter");
    const atCommit = pool.pauseBefore("COMMIT");
    const pass = promoteOnce({ pool, batchSize: 9 });
    await atCommit.reached;

    const put = scheduler.putStop(taskId, "APPROVAL");
    await waitUntilBlocked(box.db.client, "signalbox ruler");
    atCommit.resume();
    await put;

    expect(await pass).toMatchObject({ promoted: [taskRunId] });
    expect(await box.statusOf(taskRunId)).toBe("PENDING");
    expect(await scheduler.claim()).toEqual([]);
  });

  it("is refused without a task or without words, and nothing to take off is said", async () => {
    const scheduler = await box.scheduler();
    const { taskId } = await scheduler.enqueue(echo.task(1));
    const nobody = asTaskId("00000000-0000-7000-8000-000000000001");

    await expect(scheduler.putStop(nobody, "APPROVAL")).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
    await expect(scheduler.putStop(asTaskId("x"), "APPROVAL")).rejects.toMatchObject({
      code: "TASK_NOT_FOUND",
    });
    const { taskRunId } = await scheduler.get(taskId);
    for (const call of [scheduler.putStop, scheduler.takeOffStop])
      await expect(call(asTaskId(taskRunId), "APPROVAL")).rejects.toMatchObject({
        code: "TASK_NOT_FOUND",
        message: `No task has the id ${taskRunId}; the id of a task is wanted, not of a task run`,
      });
    await expect(scheduler.putStop(taskId, "")).rejects.toMatchObject({ code: "INVALID_RULE" });
    expect(await scheduler.takeOffStop(taskId, "APPROVAL")).toBe(false);
    await expect(scheduler.takeOffStop(asTaskId("x"), "APPROVAL")).rejects.toMatchObject({
      code: "TASK_NOT_FOUND",
    });
  });
});
