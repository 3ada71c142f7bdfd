/** What a settlement hands straight to the next in line, and what it leaves to a pass. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { cancel, joinAsWorker, SUCCESS, settleAll, type Worker } from "../../test/acts.ts";
import { broken, echo, openFixture } from "../../test/fixture.ts";
import { FREEZE, LEFT_TO_A_PASS, next, orders, standInLine, wakesIn } from "../../test/lines.ts";
import { holdersIn, parkingIn } from "../../test/look.ts";
import { waitUntilBlockedOrDone } from "../../test/wait-until.ts";
import type { TaskRunId } from "../domain/ids.ts";
import { defineTask } from "../executors/define-task.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { createSettler } from "./settler.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

/** Of what was claimed and executed. */
async function settleNow(scheduler: ManualScheduler): Promise<void> {
  await scheduler.claim();
  await scheduler.execute();
  await scheduler.settle();
}

describe("a resource that was held alone", () => {
  it("goes with the end of a version to the next one, without a pass", async () => {
    const scheduler = await box.scheduler();
    const [, second, third] = await standInLine(
      box,
      scheduler,
      echo.task(1, { resources: orders, version: "1" }),
      echo.task(2, { resources: orders, version: "2" }),
      echo.task(3, { resources: orders, version: "3" }),
    );

    await settleNow(scheduler);

    expect(await box.statusOf(second ?? "")).toBe("AVAILABLE");
    expect(await holdersIn(box, "resource:orders")).toEqual([second]);
    expect(await parkingIn(box, third ?? "")).toBe("VERSION_ORDER orders");
    expect(await wakesIn(box)).toEqual([]);
    expect((await scheduler.get(second ?? "")).waitedMs).toHaveProperty("VERSION_ORDER");
    await settleNow(scheduler);
    await settleNow(scheduler);
    expect(await box.statusOf(third ?? "")).toBe("DONE");
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("goes to the first in line, and the next one of it waits for that one", async () => {
    const scheduler = await box.scheduler();
    const [, later, urgent] = await standInLine(
      box,
      scheduler,
      echo.task(1, { resources: orders, priority: 0 }),
      echo.task(2, { resources: orders }),
      echo.task(3, { resources: orders, priority: 1 }),
    );

    await settleNow(scheduler);

    expect(await box.statusOf(urgent ?? "")).toBe("AVAILABLE");
    expect(await holdersIn(box, "resource:orders")).toEqual([urgent]);
    expect(await parkingIn(box, later ?? "")).toBe("RESOURCE_BUSY orders");
    expect(await wakesIn(box)).toEqual([]);
    await settleNow(scheduler);
    expect(await holdersIn(box, "resource:orders")).toEqual([later]);
    await settleNow(scheduler);
    expect(await box.query("SELECT FROM signalbox.line")).toEqual([]);
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("goes on after an attempt that failed for good, and stays closed to a larger version before a retry", async () => {
    const scheduler = await box.scheduler();
    const [, second] = await standInLine(
      box,
      scheduler,
      broken.task(1, { resources: orders, version: "1", retry: { attempts: 2, backoff: { firstMs: 0 } } }),
      echo.task(2, { resources: orders, version: "2" }),
    );

    await settleNow(scheduler);
    expect(await box.statusOf(second ?? "")).toBe("PENDING");
    await scheduler.promote();
    await settleNow(scheduler);

    expect(await box.statusOf(second ?? "")).toBe("AVAILABLE");
  });
});

const other = defineTask({ kind: "other", run: () => null });

describe("is left to a pass where the next one", () => {
  it.each(Object.keys(LEFT_TO_A_PASS))("%s: one thing is enough", async (name) => {
    const { specs = [next()], before, meanwhile } = LEFT_TO_A_PASS[name] ?? {};
    const scheduler = await box.scheduler();
    await before?.(scheduler);
    const [first, second] = await standInLine(
      box,
      scheduler,
      echo.task(1, { resources: orders, version: "1", priority: 0 }),
      ...specs,
    );
    await scheduler.claim();
    await meanwhile?.(scheduler, second ?? first);
    await scheduler.execute();

    await scheduler.settle();

    expect(await box.statusOf(first)).toBe("DONE");
    expect(await box.statusOf(second ?? first)).toBe("PENDING");
    expect(await holdersIn(box, "resource:orders")).toEqual([]);
    expect(await wakesIn(box)).toContain("resource:orders");
  });

  it("belongs to a run and needs a slot of it", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(echo.task(1, { resources: orders, version: "1" }));
    const { taskRuns } = await scheduler.enqueueMany([next()], { run: { title: "run", limit: 1 } });
    await scheduler.promote();

    await settleNow(scheduler);

    expect(await box.statusOf(taskRuns[0]?.taskRunId ?? "")).toBe("PENDING");
    expect(await wakesIn(box)).toEqual(["resource:orders", "version:orders"]);
  });

  it("is of a kind that nobody runs any more", async () => {
    const scheduler = await box.scheduler();
    const leaving = await box.scheduler({ tasks: [other], name: "leaving" });
    const [, second] = await standInLine(
      box,
      scheduler,
      echo.task(1, { resources: orders, version: "1" }),
      other.task(null, { resources: orders, version: "2" }),
    );
    await leaving.expireLease();

    await settleNow(scheduler);

    expect(await box.statusOf(second ?? "")).toBe("PENDING");
  });

  it("comes too late for its version", async () => {
    const scheduler = await box.scheduler();
    await standInLine(box, scheduler, echo.task(1, { resources: orders, version: "3" }));
    const far = new Date(Date.now() + 3_600_000);
    const smallest = await scheduler.enqueue(next({ version: "1", runAt: far }));
    const late = await scheduler.enqueue(next());
    await scheduler.promote();
    expect(await parkingIn(box, late.taskRunId)).toBe("VERSION_ORDER orders");
    await scheduler.cancel(smallest.taskRunId);

    await settleNow(scheduler);
    await scheduler.promote();

    expect(await scheduler.get(late.taskRunId)).toMatchObject({ status: "FAILED", outcome: "OUT_OF_ORDER" });
  });

  it("finds the resource kept for the task that has just ended", async () => {
    const doomed = await box.scheduler({ name: "doomed" });
    const [, second] = await standInLine(
      box,
      doomed,
      echo.task(1, { resources: orders, version: "1" }),
      next(),
    );
    await doomed.claim();
    await doomed.expireLease();
    const scheduler = await box.scheduler();
    await scheduler.rescue();
    await scheduler.promote();

    await settleNow(scheduler);

    expect(await box.statusOf(second ?? "")).toBe("PENDING");
    expect(await box.query("SELECT FROM signalbox.hold")).toEqual([]);
    await scheduler.runUntilIdle();
    expect(await box.statusOf(second ?? "")).toBe("DONE");
  });
});

describe("a hand-off that meets", () => {
  async function aboutToEnd(): Promise<{ readonly worker: Worker; readonly second: TaskRunId }> {
    const scheduler = await box.scheduler();
    const pool = box.pool("worker");
    const worker = await joinAsWorker(pool, "echo");
    const [first, second] = await standInLine(
      box,
      scheduler,
      echo.task(1, { resources: orders, version: "1" }),
      next(),
    );
    await worker.claim(pool);
    return { worker, second: second ?? first };
  }

  it.each(["leaveWaiting", "COMMIT"])(
    "a cancel of the next one before its %s does not wait for it",
    async (at) => {
      const { worker, second } = await aboutToEnd();
      const canceler = box.pool("canceler");
      const pause = canceler.pauseBefore(at);
      const canceled = cancel(second)(canceler);
      await pause.reached;

      await worker.settle(SUCCESS)(box.pool("settler"));
      pause.resume();

      expect(await canceled).toBe("canceled");
      expect(await box.query("SELECT FROM signalbox.hold")).toEqual([]);
      expect(await box.query("SELECT FROM signalbox.ready")).toEqual([]);
      const scheduler = await box.scheduler();
      expect((await scheduler.checkInvariants()).violations).toEqual([]);
    },
  );

  it.each([
    ["a pause", async (scheduler: ManualScheduler) => await scheduler.pause({ resource: "orders" })],
    [
      "new windows",
      async (scheduler: ManualScheduler) => await scheduler.setWindows({ resource: "orders" }, [FREEZE]),
    ],
  ] as const)("%s of the resource is taken back by it", async (_, close) => {
    const { worker, second } = await aboutToEnd();
    const scheduler = await box.scheduler({ name: "ruler" });
    const settler = box.pool("settler");
    const pause = settler.pauseBefore("COMMIT");
    const settled = worker.settle(SUCCESS)(settler);
    await pause.reached;

    const closed = close(scheduler);
    await waitUntilBlockedOrDone(box.db.client, "signalbox ruler", closed);
    pause.resume();
    await settled;
    await closed;

    expect(await box.statusOf(second)).toBe("PENDING");
    expect(await box.query("SELECT FROM signalbox.hold")).toEqual([]);
  });
});

it("is told to others also where the answer to its commit was lost", async () => {
  const scheduler = await box.scheduler();
  await standInLine(box, scheduler, echo.task(1, { resources: orders, version: "1" }), next());
  await scheduler.claim();
  const pool = box.pool("settler");
  await settleAll(scheduler, SUCCESS)(pool);

  const settler = createSettler({ pool, batchSize: 10, emit: () => {} });
  for (const { claim } of scheduler.held.all())
    settler.add(claim, scheduler.instanceId, SUCCESS, scheduler.held);

  expect(await settler.settleOnce()).toMatchObject({ opensGates: true, handsOff: true });
});
