/** A task run can say afterwards what it waited for, and how long. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

/** As if it had been parked where it is for that much longer. */
async function waitAt(taskRunId: string, ms: number): Promise<void> {
  await box.query(
    `UPDATE signalbox.waiting SET blocked_since = blocked_since - ${ms} * interval '1 ms' WHERE task_run_id = $1`,
    [taskRunId],
  );
}

describe("the time per cause", () => {
  it("is summed gate by gate, and adds up to the wait", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(echo.task(0, { concurrencyKey: "customer:7" }));
    await scheduler.promote();
    await scheduler.pause({ queue: "mail" });
    const { taskRunId } = await scheduler.enqueue(
      echo.task(1, { queue: "mail", concurrencyKey: "customer:7" }),
    );
    await scheduler.promote();
    await waitAt(taskRunId, 5_000);
    const since = async () => await box.value<Date>("SELECT blocked_since FROM signalbox.waiting");
    const parkedAt = await since();

    await scheduler.resume({ queue: "mail" });
    await scheduler.promote();
    await waitAt(taskRunId, 3_000);
    expect((await scheduler.get(taskRunId)).waitedMs).toMatchObject({
      PAUSED: expect.closeTo(5_000, -4),
      KEY_LIMIT: expect.closeTo(3_000, -4),
    });
    await scheduler.runUntilIdle();

    const { status, waitedMs, availableAt } = await scheduler.get(taskRunId);
    expect(status).toBe("DONE");
    expect(Object.keys(waitedMs).toSorted()).toEqual(["KEY_LIMIT", "PAUSED"]);
    const sum = Object.values(waitedMs).reduce((total, ms) => total + ms, 0);
    // The second wait was made longer without the clock: what is left is the time from parking to AVAILABLE.
    const whole = (availableAt?.getTime() ?? 0) - parkedAt.getTime();
    expect(Math.abs(sum - 3_000 - whole)).toBeLessThan(100);
  });

  it("goes on growing after a demotion, with what it was before", async () => {
    const scheduler = await box.scheduler();
    await scheduler.pause({ queue: "mail" });
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { queue: "mail" }));
    await scheduler.promote();
    await waitAt(taskRunId, 5_000);
    await scheduler.resume({ queue: "mail" });
    await scheduler.promote();

    await scheduler.pause({ queue: "mail" });
    await scheduler.promote();
    await waitAt(taskRunId, 7_000);

    const { waitedMs } = await scheduler.get(taskRunId);
    expect(waitedMs.PAUSED).toBeGreaterThanOrEqual(12_000);
    await scheduler.resume({ queue: "mail" });
    await scheduler.runUntilIdle();
    expect((await scheduler.get(taskRunId)).waitedMs.PAUSED).toBeGreaterThanOrEqual(12_000);
  });

  it("is kept when it is canceled before it could go", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { stops: [{ code: "APPROVAL" }] }));
    await scheduler.promote();
    await waitAt(taskRunId, 5_000);

    await scheduler.cancel(taskRunId);

    expect((await scheduler.get(taskRunId)).waitedMs.STOPPED).toBeGreaterThanOrEqual(5_000);
  });

  it("is told, and goes on growing, where an instance of an older version has kept it", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { queue: "mail" }));
    await box.query(
      `INSERT INTO signalbox.wait_time (task_run_id, waited) SELECT id, '{"PAUSED": 5000}' FROM signalbox.task_run`,
    );
    expect((await scheduler.get(taskRunId)).waitedMs).toEqual({ PAUSED: 5_000 });

    await scheduler.pause({ queue: "mail" });
    await scheduler.promote();
    await waitAt(taskRunId, 7_000);
    await scheduler.resume({ queue: "mail" });
    await scheduler.runUntilIdle();

    expect((await scheduler.get(taskRunId)).waitedMs.PAUSED).toBeGreaterThanOrEqual(12_000);
  });

  it("is kept when its run time is moved, and when nobody starts it in time", async () => {
    const scheduler = await box.scheduler();
    const stopped = { stops: [{ code: "APPROVAL" }] };
    const moved = await scheduler.enqueue(echo.task(1, stopped));
    const late = await scheduler.enqueue(echo.task(2, { ...stopped, timeouts: { queuedMs: 60_000 } }));
    await scheduler.promote();
    await waitAt(moved.taskRunId, 5_000);
    await waitAt(late.taskRunId, 7_000);

    await scheduler.defer(moved.taskRunId, { delayMs: 60_000 });
    await box.query("UPDATE signalbox.task_run SET enqueued_at = enqueued_at - interval '1 hour'");
    await box.query("UPDATE signalbox.queue_deadline SET at = at - interval '1 hour'");
    await scheduler.failOverdue();

    expect((await scheduler.get(moved.taskRunId)).waitedMs.STOPPED).toBeGreaterThanOrEqual(5_000);
    expect(await scheduler.get(late.taskRunId)).toMatchObject({ status: "FAILED", outcome: "QUEUE_TIMEOUT" });
    expect((await scheduler.get(late.taskRunId)).waitedMs.STOPPED).toBeGreaterThanOrEqual(7_000);
  });

  it("is nothing for one that went at once", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1));
    await scheduler.runUntilIdle();

    expect((await scheduler.get(taskRunId)).waitedMs).toEqual({});
  });
});

describe("a task run that no pass has looked at", () => {
  it("is NOT_EVALUATED since it was enqueued, and is parked nowhere", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { concurrencyKey: "customer:7" }));

    const { gates, blockedOn, blockedSince, since } = await scheduler.explain(taskRunId);

    expect({ blockedOn, blockedSince }).toEqual({ blockedOn: null, blockedSince: null });
    expect(gates.filter(({ state }) => state === "blocking")).toMatchObject([
      { code: "NOT_EVALUATED", causes: [{ cause: { code: "NOT_EVALUATED", since } }] },
    ]);
  });
});

describe("a list", () => {
  it("is filtered by queue and by tag, of what is open and of everything", async () => {
    const scheduler = await box.scheduler();
    const specs = [
      echo.task("a", { queue: "mail", tags: ["eu", 'quo"te\\d'] }),
      echo.task("b", { queue: "mail", tags: ["us"] }),
      echo.task("c", { tags: ["eu"], stops: [{ code: "APPROVAL" }] }),
      echo.task("d"),
    ];
    await scheduler.enqueueMany(specs);
    const inputsOf = async (filter: Parameters<typeof scheduler.list>[0]): Promise<unknown> => {
      const { taskRuns } = await scheduler.list(filter);
      return (await Promise.all(taskRuns.map(async ({ taskRunId }) => await scheduler.get(taskRunId))))
        .map(({ input }) => String(input))
        .toSorted((a, b) => a.localeCompare(b));
    };

    for (const status of [undefined, ["PENDING", "AVAILABLE"] as const]) {
      const open = status === undefined ? {} : { status };
      expect(await inputsOf({ ...open, queue: "mail" })).toEqual(["a", "b"]);
      expect(await inputsOf({ ...open, tag: "eu" })).toEqual(["a", "c"]);
      expect(await inputsOf({ ...open, tag: 'quo"te\\d' })).toEqual(["a"]);
      expect(await inputsOf({ ...open, queue: "mail", tag: "eu" })).toEqual(["a"]);
      expect(await inputsOf({ ...open, tag: "nobody" })).toEqual([]);
    }
    const [first] = (await scheduler.list({ tag: "us" })).taskRuns;
    expect(first).toMatchObject({ queue: "mail", tags: ["us"] });
  });
});
