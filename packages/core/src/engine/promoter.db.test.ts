import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { exclusive, shared } from "../domain/resource.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

/** One pass; answers what it promoted, and fails where it could not have the lock. */
async function promoted(scheduler: ManualScheduler): Promise<readonly string[]> {
  const pass = await scheduler.promote();
  if (pass.kind === "lock_missed") throw new Error("Another promoter is at work");
  return pass.promoted;
}

/** Claims, runs and settles all that is AVAILABLE. */
async function finishAvailable(scheduler: ManualScheduler): Promise<void> {
  await scheduler.claim();
  await scheduler.execute();
  await scheduler.settle();
}

async function makeDue(taskRunId: string): Promise<void> {
  await box.query(
    `WITH due AS (UPDATE signalbox.waiting SET run_at = clock_timestamp() WHERE task_run_id = $1)
     UPDATE signalbox.task_run SET run_at = clock_timestamp() WHERE id = $1`,
    [taskRunId],
  );
}

async function parkedAt(taskRunId: string): Promise<string | null> {
  return await box.value(
    "SELECT concat_ws(' ', blocked_on, blocked_key) FROM signalbox.waiting WHERE task_run_id = $1",
    [taskRunId],
  );
}

describe("RUN_AT", () => {
  it("holds a task run until its time has come, and the pass knows when that is", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { runAt: new Date(Date.now() + 3_600_000) }));

    const pass = await scheduler.promote();
    expect(pass).toMatchObject({ promoted: [] });
    expect(pass.kind === "passed" && pass.nextDueMs).toBeGreaterThan(3_500_000);

    await makeDue(taskRunId);
    expect(await promoted(scheduler)).toEqual([taskRunId]);
  });

  it("lets a time in the past through at once", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { runAt: new Date(0) }));

    expect(await promoted(scheduler)).toEqual([taskRunId]);
  });

  it("keeps those whose time lies ahead out of the resource's line", async () => {
    const scheduler = await box.scheduler();
    const resources = [exclusive("orders")];
    await scheduler.enqueue(echo.task(1, { runAt: new Date(Date.now() + 3_600_000), resources }));
    const now = await scheduler.enqueue(echo.task(2, { resources }));

    expect(await promoted(scheduler)).toEqual([now.taskRunId]);
  });
});

describe("VERSION_ORDER", () => {
  it("starts the versions of a resource in their order, whatever the order of enqueueing", async () => {
    const scheduler = await box.scheduler();
    const resources = [shared("orders")];
    const ids = new Map<string, string>();
    for (const version of ["1.10", "2", "1.9"]) {
      ids.set(version, (await scheduler.enqueue(echo.task(version, { version, resources }))).taskRunId);
    }

    const order: unknown[] = [];
    for (let pass = 0; pass < 3; pass += 1) {
      order.push(await promoted(scheduler));
      await finishAvailable(scheduler);
    }

    expect(order).toEqual([[ids.get("1.9")], [ids.get("1.10")], [ids.get("2")]]);
  });

  it("lets equal versions and other resources start together", async () => {
    const scheduler = await box.scheduler();
    const { taskRuns } = await scheduler.enqueueMany([
      echo.task(1, { version: "1", resources: [shared("orders")] }),
      echo.task(2, { version: "1", resources: [shared("orders")] }),
      echo.task(3, { version: "7", resources: [shared("users")] }),
    ]);

    expect(new Set(await promoted(scheduler))).toEqual(new Set(taskRuns.map(({ taskRunId }) => taskRunId)));
  });

  it("holds a task with two resources until its version is the smallest on both", async () => {
    const scheduler = await box.scheduler();
    const onA = await scheduler.enqueue(echo.task(1, { version: "1", resources: [shared("a")] }));
    const onB = await scheduler.enqueue(
      echo.task(1, { version: "2", resources: [shared("b")], runAt: new Date(Date.now() + 3_600_000) }),
    );
    const both = await scheduler.enqueue(
      echo.task(2, { version: "3", resources: [shared("a"), shared("b")] }),
    );

    expect(await promoted(scheduler)).toEqual([onA.taskRunId]);
    expect(await parkedAt(both.taskRunId)).toBe("VERSION_ORDER a");
    await finishAvailable(scheduler);
    expect(await promoted(scheduler)).toEqual([]);
    expect(await parkedAt(both.taskRunId)).toBe("VERSION_ORDER b");
    await scheduler.cancel(onB.taskRunId);
    expect(await promoted(scheduler)).toEqual([both.taskRunId]);
  });
});

describe("RESOURCE_BUSY", () => {
  it("gives a resource to one at a time where it is wanted alone, in the order of the line", async () => {
    const scheduler = await box.scheduler();
    const resources = [exclusive("orders")];
    // With a key each: by a resource alone they would be handed it without a pass.
    const later = await scheduler.enqueue(echo.task(1, { resources, priority: 7, concurrencyKey: "a" }));
    const first = await scheduler.enqueue(echo.task(2, { resources, concurrencyKey: "b" }));
    const second = await scheduler.enqueue(echo.task(3, { resources, concurrencyKey: "c" }));

    const order: unknown[] = [];
    for (let pass = 0; pass < 3; pass += 1) {
      order.push(...(await promoted(scheduler)));
      await finishAvailable(scheduler);
    }

    expect(order).toEqual([first.taskRunId, second.taskRunId, later.taskRunId]);
  });

  it("lets sharers in together, keeps the one that wants it alone out, and those behind it too", async () => {
    const scheduler = await box.scheduler();
    const task = async (resource: ReturnType<typeof shared>) =>
      (await scheduler.enqueue(echo.task(1, { resources: [resource] }))).taskRunId;
    const [one, two] = [await task(shared("disk")), await task(shared("disk"))];
    const alone = await task(exclusive("disk"));
    const behind = await task(shared("disk"));

    expect(await promoted(scheduler)).toEqual([one, two]);
    await finishAvailable(scheduler);
    expect(await promoted(scheduler)).toEqual([alone]);
    await finishAvailable(scheduler);
    expect(await promoted(scheduler)).toEqual([behind]);
  });

  it("takes several resources all or none", async () => {
    const scheduler = await box.scheduler();
    const a = await scheduler.enqueue(echo.task(1, { resources: [exclusive("a")] }));
    await scheduler.enqueue(echo.task(2, { resources: [exclusive("a"), exclusive("b")] }));

    expect(await promoted(scheduler)).toEqual([a.taskRunId]);
    expect(await box.query("SELECT scope, slot, task_run_id FROM signalbox.hold")).toEqual([
      { scope: "resource:a", slot: 0, task_run_id: a.taskRunId },
    ]);
  });

  it("counts what is held, shared and alone, and gives it back", async () => {
    const scheduler = await box.scheduler();
    for (const resource of [shared("disk"), shared("disk"), exclusive("cpu")]) {
      await scheduler.enqueue(echo.task(1, { resources: [resource] }));
    }

    await scheduler.promote();
    const use = "SELECT name, exclusive, shared FROM signalbox.resource_use ORDER BY name";
    expect(await box.query(use)).toEqual([
      { name: "cpu", exclusive: 1, shared: 0 },
      { name: "disk", exclusive: 0, shared: 2 },
    ]);

    await finishAvailable(scheduler);
    expect(await box.query(use)).toEqual([
      { name: "cpu", exclusive: 0, shared: 0 },
      { name: "disk", exclusive: 0, shared: 0 },
    ]);
    expect(await box.query("SELECT FROM signalbox.hold")).toEqual([]);
  });
});

describe("RUN_LIMIT", () => {
  it("lets no more of a run in than its limit, in the order of the line", async () => {
    const scheduler = await box.scheduler();
    const { taskRuns } = await scheduler.enqueueMany(
      [5, 5, 1, 5].map((priority) => echo.task(priority, { priority })),
      { run: { title: "nightly", limit: 2 } },
    );
    const [first, second, urgent, last] = taskRuns.map(({ taskRunId }) => taskRunId);

    expect(new Set(await promoted(scheduler))).toEqual(new Set([urgent, first]));
    expect(await promoted(scheduler)).toEqual([]);
    await finishAvailable(scheduler);
    expect(new Set(await promoted(scheduler))).toEqual(new Set([second, last]));
  });

  it("counts what is AVAILABLE and what is RUNNING, and lets the next in as one ends", async () => {
    const scheduler = await box.scheduler({ slots: 1 });
    await scheduler.enqueueMany([echo.task(1), echo.task(2), echo.task(3)], {
      run: { title: "nightly", limit: 2 },
    });

    await scheduler.promote();
    await scheduler.claim();
    expect(await promoted(scheduler)).toEqual([]);
    await scheduler.execute();
    await scheduler.settle();
    expect(await promoted(scheduler)).toHaveLength(1);
  });

  it("is no limit at 0", async () => {
    // With so many slots in the cluster that the fair share of a run is no limit either.
    const scheduler = await box.scheduler({ slots: 15 });
    await scheduler.enqueueMany(
      Array.from({ length: 30 }, () => echo.task(1)),
      { run: { title: "nightly" } },
    );

    expect(await promoted(scheduler)).toHaveLength(30);
  });

  it("gives the slot of one that is held up by a resource to the next that can go", async () => {
    const scheduler = await box.scheduler();
    const holder = await scheduler.enqueue(echo.task(0, { resources: [exclusive("orders")] }));
    const { taskRuns } = await scheduler.enqueueMany(
      [echo.task(1, { resources: [exclusive("orders")] }), echo.task(2), echo.task(3)],
      { run: { title: "nightly", limit: 1 } },
    );

    expect(await promoted(scheduler)).toEqual([holder.taskRunId, taskRuns[1]?.taskRunId]);
  });
});
