/** Limits and weights of queues, changed while work goes on. */

import pg from "pg";
import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { holdersIn, parkingIn, statusesIn } from "../../test/look.ts";
import { leaveOpen } from "../../test/stepped-pool.ts";
import { waitUntilBlocked } from "../../test/wait-until.ts";
import { changeQueue } from "../store/rules/queue.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { claimOnce } from "./claimer.ts";
import type { Enqueued } from "./scheduler-face.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

async function fill(scheduler: ManualScheduler, count: number, queue = "mail"): Promise<readonly Enqueued[]> {
  const specs = Array.from({ length: count }, (_, n) => echo.task(n, { queue }));
  return (await scheduler.enqueueMany(specs)).taskRuns;
}

async function finishAll(scheduler: ManualScheduler): Promise<void> {
  await scheduler.execute();
  await scheduler.settle();
}

/** A claim by a pool of its own, which a test can stop at a statement. */
function claimWith(scheduler: ManualScheduler, pool: ReturnType<typeof box.pool>) {
  const { instanceId, held } = scheduler;
  return claimOnce({
    pool,
    instanceId,
    kinds: ["echo"],
    slots: 10,
    batchSize: 100,
    held,
    isTrusted: () => true,
  });
}

describe("a queue without a limit", () => {
  it("lets everything be AVAILABLE at once, and takes no holds", async () => {
    const scheduler = await box.scheduler();

    const taskRuns = await fill(scheduler, 3);

    expect(taskRuns.map(({ status }) => status)).toEqual(["AVAILABLE", "AVAILABLE", "AVAILABLE"]);
    expect(await holdersIn(box, "queue:mail")).toEqual([]);
  });
});

describe("a limit that is introduced", () => {
  it("brings back what is AVAILABLE before it resolves, counts what runs, and evicts nobody", async () => {
    const scheduler = await box.scheduler({ slots: 2 });
    await fill(scheduler, 5);
    const running = await scheduler.claim();

    await scheduler.setQueue("mail", { limit: 2 });

    expect(await statusesIn(box, "mail")).toEqual({ PENDING: 3, RUNNING: 2 });
    expect((await holdersIn(box, "queue:mail")).toSorted()).toEqual(running.toSorted());
    expect(await scheduler.promote()).toMatchObject({ promoted: [] });
    await finishAll(scheduler);
    expect(await scheduler.promote()).toMatchObject({ promoted: [{}, {}] });
    expect(await statusesIn(box, "mail")).toEqual({ AVAILABLE: 2, DONE: 2, PENDING: 1 });
  });

  it("below what runs already lets nobody in until fewer than it run", async () => {
    const scheduler = await box.scheduler({ slots: 3 });
    await fill(scheduler, 4);
    await scheduler.claim();

    await scheduler.setQueue("mail", { limit: 1 });

    const [waits] = (await scheduler.list({ status: ["PENDING"] })).taskRuns;
    await scheduler.promote();
    expect(await parkingIn(box, waits?.taskRunId ?? "")).toBe("QUEUE_LIMIT mail");
    await finishAll(scheduler);
    expect(await holdersIn(box, "queue:mail")).toEqual([]);
    expect(await scheduler.promote()).toMatchObject({ promoted: [waits?.taskRunId] });
  });

  it.each([
    ["together", [2]],
    ["one by one", [1, 1]],
  ])(
    "is given back by those that were claimed %s before it was there, also without a result",
    async (_, claims) => {
      const scheduler = await box.scheduler();
      for (const count of claims) {
        await scheduler.enqueueMany(Array.from({ length: count }, () => echo.task(null, { queue: "mail" })));
        await scheduler.claim();
      }
      await scheduler.setQueue("mail", { limit: 1 });
      expect(await holdersIn(box, "queue:mail")).toHaveLength(2);

      await finishAll(scheduler);

      expect(await statusesIn(box, "mail")).toEqual({ DONE: 2 });
      expect(await holdersIn(box, "queue:mail")).toEqual([]);
      expect(await box.query("SELECT FROM signalbox.claim_batch")).toEqual([]);
      expect((await scheduler.checkInvariants()).violations).toEqual([]);
    },
  );

  it("puts whoever comes from now on before the gate", async () => {
    const scheduler = await box.scheduler();
    await scheduler.setQueue("mail", { limit: 1 });

    const taskRuns = await fill(scheduler, 3);

    expect(taskRuns.map(({ status }) => status)).toEqual(["PENDING", "PENDING", "PENDING"]);
    expect(await scheduler.promote()).toMatchObject({ promoted: [taskRuns[0]?.taskRunId] });
    expect(await holdersIn(box, "queue:mail")).toEqual([taskRuns[0]?.taskRunId]);
  });

  it("is kept through the whole queue, one after another", async () => {
    const scheduler = await box.scheduler();
    await fill(scheduler, 5);
    await scheduler.setQueue("mail", { limit: 1 });

    await scheduler.runUntilIdle();

    expect(await statusesIn(box, "mail")).toEqual({ DONE: 5 });
    const overlaps = await box.value<number>(
      `SELECT count(*)::integer FROM signalbox.task_run AS a JOIN signalbox.task_run AS b
          ON a.id < b.id AND tstzrange(a.available_at, a.finished_at) && tstzrange(b.available_at, b.finished_at)`,
    );
    expect(overlaps).toBe(0);
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("leaves other queues alone", async () => {
    const scheduler = await box.scheduler();
    await fill(scheduler, 2, "bulk");
    await fill(scheduler, 2, "mail");

    await scheduler.setQueue("mail", { limit: 1 });

    expect(await statusesIn(box, "bulk")).toEqual({ AVAILABLE: 2 });
    expect(await scheduler.claim()).toHaveLength(2);
  });
});

describe("a limit that is introduced while a claim is under way", () => {
  it("waits for the claim, and counts what it took", async () => {
    const scheduler = await box.scheduler({ name: "ruler" });
    const taskRuns = await fill(scheduler, 2);
    const pool = box.pool("claimer");
    // Its statement has taken them, and nobody else can see that yet.
    const atCommit = pool.pauseBefore("COMMIT");
    const claimed = claimWith(scheduler, pool);
    await atCommit.reached;

    const changed = scheduler.setQueue("mail", { limit: 1 });
    await waitUntilBlocked(box.db.client, "signalbox ruler");
    atCommit.resume();
    await changed;

    expect(await claimed).toHaveLength(2);
    expect(await holdersIn(box, "queue:mail")).toEqual(taskRuns.map(({ taskRunId }) => taskRunId));
    await fill(scheduler, 1);
    expect(await scheduler.promote()).toMatchObject({ promoted: [] });
  });

  it("lets no claim that comes after it take what is AVAILABLE by the old rules", async () => {
    const scheduler = await box.scheduler();
    await fill(scheduler, 2);
    const change = await leaveOpen(
      box.pool("ruler"),
      async (tx) => await changeQueue(tx, "mail", { limit: 1 }),
    );

    const claimed = claimWith(scheduler, box.pool("claimer"));
    await waitUntilBlocked(box.db.client, "claimer");
    await change.commit();

    expect(await claimed).toEqual([]);
    expect(await statusesIn(box, "mail")).toEqual({ AVAILABLE: 2 });
    expect(await scheduler.sweep()).toMatchObject({ demoted: [{}, {}], promoted: [{}] });
    expect(await scheduler.claim()).toHaveLength(1);
  });
});

describe("a task that was enqueued in a caller's transaction before its queue had a limit", () => {
  it("and committed after, is not claimed, comes back with the sweep and then counts", async () => {
    const scheduler = await box.scheduler();
    const caller = new pg.Client({ connectionString: box.db.url });
    await caller.connect();
    await caller.query("BEGIN");
    const stray = await scheduler.enqueue(echo.task(1, { queue: "mail" }), { transaction: caller });
    expect(stray.status).toBe("AVAILABLE");

    await scheduler.setQueue("mail", { limit: 1 });
    await caller.query("COMMIT");
    await caller.end();

    expect(await scheduler.claim()).toEqual([]);
    expect(await box.statusOf(stray.taskRunId)).toBe("AVAILABLE");
    expect(await scheduler.sweep()).toMatchObject({
      demoted: [stray.taskRunId],
      promoted: [stray.taskRunId],
    });
    expect(await holdersIn(box, "queue:mail")).toEqual([stray.taskRunId]);
    expect(await scheduler.claim()).toEqual([stray.taskRunId]);
  });
});

describe("a limit that is changed", () => {
  it("when lowered evicts nobody and lets nobody in until fewer than it are active", async () => {
    const scheduler = await box.scheduler();
    await scheduler.setQueue("mail", { limit: 3 });
    await fill(scheduler, 5);
    await scheduler.promote();

    await scheduler.setQueue("mail", { limit: 1 });

    expect(await scheduler.promote()).toMatchObject({ promoted: [], demoted: [] });
    expect(await statusesIn(box, "mail")).toEqual({ AVAILABLE: 3, PENDING: 2 });
    await scheduler.claim();
    await finishAll(scheduler);
    expect(await scheduler.promote()).toMatchObject({ promoted: [{}] });
  });

  it("is not passed by because low slots are free while high ones are held", async () => {
    const scheduler = await box.scheduler({ slots: 2 });
    await scheduler.setQueue("mail", { limit: 3 });
    await fill(scheduler, 5);
    await scheduler.promote();
    await scheduler.claim();
    await finishAll(scheduler);
    // Slot 2 alone is held now.

    await scheduler.setQueue("mail", { limit: 1 });

    expect(await scheduler.promote()).toMatchObject({ promoted: [] });
  });

  it("when raised wakes those who wait for it", async () => {
    const scheduler = await box.scheduler();
    await scheduler.setQueue("mail", { limit: 1 });
    await fill(scheduler, 4);
    await scheduler.promote();

    await scheduler.setQueue("mail", { limit: 3 });

    expect(await scheduler.promote()).toMatchObject({ promoted: [{}, {}] });
  });

  it("when removed lets everybody through, and counts them again when it is introduced again", async () => {
    const scheduler = await box.scheduler({ slots: 3 });
    await scheduler.setQueue("mail", { limit: 1 });
    await fill(scheduler, 3);
    await scheduler.promote();

    await scheduler.setQueue("mail", { limit: 0 });
    await scheduler.promote();
    expect(await statusesIn(box, "mail")).toEqual({ AVAILABLE: 3 });
    const running = await scheduler.claim();
    const late = await fill(scheduler, 1);
    expect(late[0]?.status).toBe("AVAILABLE");
    await scheduler.setQueue("mail", { limit: 1 });

    expect(await statusesIn(box, "mail")).toEqual({ PENDING: 1, RUNNING: 3 });
    // Whoever had a slot from before has it still, and nobody has two.
    expect((await holdersIn(box, "queue:mail")).toSorted()).toEqual(running.toSorted());
    expect(await scheduler.promote()).toMatchObject({ promoted: [] });
    await finishAll(scheduler);
    expect(await holdersIn(box, "queue:mail")).toEqual([]);
    expect(await scheduler.promote()).toMatchObject({ promoted: [late[0]?.taskRunId] });
  });

  it("is recorded with what it was and what it is", async () => {
    const scheduler = await box.scheduler();

    await scheduler.setQueue("mail", { limit: 2 });
    await scheduler.setQueue("mail", { weight: 3 });

    expect(
      await box.query("SELECT type, data FROM signalbox.event_store ORDER BY aggregate_version"),
    ).toEqual([
      { type: "queue.changed", data: { queue: "mail", from: 0, to: 2, weight: 1 } },
      { type: "queue.changed", data: { queue: "mail", from: 2, to: 2, weight: 3 } },
    ]);
  });

  it.each([
    ["", { limit: 1 }, "queue: is empty; give it a name"],
    ["mail", { limit: -1 }, "limit: -1 is not a whole number from 0 to 1000000"],
    ["mail", { limit: 1.5 }, "limit: 1.5 is not a whole number from 0 to 1000000"],
    ["mail", { weight: 0 }, "weight: 0 is not a whole number from 1 to 1000"],
  ])("of %j to %j is refused", async (queue, rules, message) => {
    const scheduler = await box.scheduler();

    await expect(scheduler.setQueue(queue, rules)).rejects.toMatchObject({ code: "INVALID_RULE", message });
  });
});

describe("the order of claims", () => {
  const titlesOf = async (ids: readonly string[]): Promise<readonly string[]> =>
    await Promise.all(ids.map(async (id) => (await (await box.scheduler()).get(id)).title));

  it("between queues goes by their weights", async () => {
    const scheduler = await box.scheduler({ slots: 40 });
    await scheduler.setQueue("heavy", { weight: 3 });
    await fill(scheduler, 40, "heavy");
    await fill(scheduler, 40, "light");

    await scheduler.claim();

    // Thirty to ten, but for the lot that says who begins.
    const { RUNNING: heavy = 0 } = await statusesIn(box, "heavy");
    const { RUNNING: light = 0 } = await statusesIn(box, "light");
    expect(heavy + light).toBe(40);
    expect(light).toBeGreaterThan(1);
    expect(light).toBeLessThan(15);
  });

  it("lets no queue starve behind a heavier one, also where one slot is free at a time", async () => {
    const scheduler = await box.scheduler({ slots: 1 });
    await scheduler.setQueue("heavy", { weight: 3 });
    await fill(scheduler, 120, "heavy");
    await fill(scheduler, 120, "light");

    for (let round = 0; round < 100; round++) {
      await scheduler.claim();
      await finishAll(scheduler);
    }

    // A quarter of 100, give or take five standard deviations.
    const light = (await statusesIn(box, "light"))["DONE"] ?? 0;
    expect(light).toBeGreaterThan(3);
    expect(light).toBeLessThan(47);
  }, 60_000);

  it("within a queue is by priority, then first in first out, whatever the kind", async () => {
    const scheduler = await box.scheduler({ slots: 1 });
    for (const [title, priority] of [
      ["third", 5],
      ["fourth", 5],
      ["first", 0],
      ["second", 4],
      ["fifth", 9],
    ] as const)
      await scheduler.enqueue(echo.task(null, { queue: "mail", title, priority }));

    const ids: string[] = [];
    for (let round = 0; round < 5; round++) {
      ids.push(...(await scheduler.claim()));
      await finishAll(scheduler);
    }

    expect(await titlesOf(ids)).toEqual(["first", "second", "third", "fourth", "fifth"]);
  });
});
