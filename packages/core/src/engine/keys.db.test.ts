/** Concurrency keys: one at a time, unless somebody has said otherwise. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { holdersIn, parkingIn, statusesIn } from "../../test/look.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import type { Enqueued } from "./scheduler-face.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

async function enqueue(scheduler: ManualScheduler, ...keys: readonly string[]): Promise<readonly Enqueued[]> {
  const specs = keys.map((concurrencyKey) => echo.task(null, { concurrencyKey }));
  return (await scheduler.enqueueMany(specs)).taskRuns;
}

async function admitted(scheduler: ManualScheduler): Promise<number> {
  const pass = await scheduler.promote();
  return pass.kind === "passed" ? pass.promoted.length : Number.NaN;
}

describe("a key that nobody has given a limit", () => {
  it("lets one at a time be AVAILABLE or RUNNING, each key by itself", async () => {
    const scheduler = await box.scheduler();
    const [first, second, other] = await enqueue(scheduler, "customer:7", "customer:7", "customer:8");

    expect(await scheduler.promote()).toMatchObject({ promoted: [first?.taskRunId, other?.taskRunId] });

    expect(await parkingIn(box, second?.taskRunId ?? "")).toBe("KEY_LIMIT customer:7");
    expect(await holdersIn(box, "key:customer:7")).toEqual([first?.taskRunId]);
    await scheduler.claim();
    expect(await admitted(scheduler)).toBe(0);
    await scheduler.execute();
    await scheduler.settle();
    expect(await scheduler.promote()).toMatchObject({ promoted: [second?.taskRunId] });
  });

  it("keeps the order, and never two at once", async () => {
    const scheduler = await box.scheduler();
    await enqueue(scheduler, ...Array.from({ length: 5 }, () => "customer:7"));

    await scheduler.runUntilIdle();

    expect(await statusesIn(box, "default")).toEqual({ DONE: 5 });
    const late = await box.value<number>(
      `SELECT count(*)::integer
         FROM (SELECT available_at < lag(finished_at) OVER (ORDER BY enqueued_at, id) AS is_early
                 FROM signalbox.task_run) AS t
        WHERE is_early`,
    );
    expect(late).toBe(0);
  });
});

describe("the limit of a key", () => {
  it("is the one of its own name", async () => {
    const scheduler = await box.scheduler();
    await scheduler.setKeyLimit("customer:7", 2);
    await enqueue(scheduler, "customer:7", "customer:7", "customer:7", "customer:8", "customer:8");

    expect(await admitted(scheduler)).toBe(3);
  });

  it("is else that of its group, and its own name goes before the group", async () => {
    const scheduler = await box.scheduler();
    await scheduler.setKeyLimit("customer:*", 2);
    await scheduler.setKeyLimit("customer:8", 1);
    await enqueue(scheduler, "customer:7", "customer:7", "customer:7", "customer:8", "customer:8");

    expect(await admitted(scheduler)).toBe(3);
  });

  it("is that of a group only where the key begins with it, up to the colon", async () => {
    const scheduler = await box.scheduler();
    await scheduler.setKeyLimit("customer:*", 2);
    await enqueue(scheduler, "customer", "customer", "customers:7", "customers:7");

    expect(await admitted(scheduler)).toBe(2);
  });

  it("is that of the narrowest group where one lies within another", async () => {
    const scheduler = await box.scheduler();
    await scheduler.setKeyLimit("customer:*", 1);
    await scheduler.setKeyLimit("customer:eu:*", 2);
    await enqueue(scheduler, "customer:eu:7", "customer:eu:7", "customer:us:7", "customer:us:7");

    expect(await admitted(scheduler)).toBe(3);
  });

  it("when raised lets those in who wait, also those of a whole group", async () => {
    const scheduler = await box.scheduler();
    await enqueue(scheduler, "customer:7", "customer:7", "customer:8", "customer:8");
    await scheduler.promote();

    await scheduler.setKeyLimit("customer:7", 2);
    expect(await admitted(scheduler)).toBe(1);
    await scheduler.setKeyLimit("customer:*", 2);
    expect(await admitted(scheduler)).toBe(1);
  });

  it("of a group when raised wakes each of its keys, and nobody else", async () => {
    const scheduler = await box.scheduler();
    await enqueue(scheduler, ...["a:1", "customer:7", "customer:8", "d:1"].flatMap((key) => [key, key]));
    await scheduler.promote();

    await scheduler.setKeyLimit("customer:*", 2);

    expect(await box.query("SELECT key FROM signalbox.gate_wake ORDER BY key")).toEqual([
      { key: "key:customer:7" },
      { key: "key:customer:8" },
    ]);
    expect(await admitted(scheduler)).toBe(2);
  });

  it("when lowered evicts nobody and lets nobody in until fewer than it are active", async () => {
    const scheduler = await box.scheduler({ slots: 1 });
    await scheduler.setKeyLimit("customer:7", 2);
    await enqueue(scheduler, "customer:7", "customer:7", "customer:7");
    await scheduler.promote();

    await scheduler.setKeyLimit("customer:7", 1);

    expect(await statusesIn(box, "default")).toEqual({ AVAILABLE: 2, PENDING: 1 });
    await scheduler.claim();
    await scheduler.execute();
    await scheduler.settle();
    expect(await admitted(scheduler)).toBe(0);
    await scheduler.claim();
    await scheduler.execute();
    await scheduler.settle();
    expect(await admitted(scheduler)).toBe(1);
  });

  it.each([
    ["", 1, "concurrencyKey: is empty; give it a name"],
    ["customer:7", 0, "limit: 0 is not a whole number from 1 to 1000000"],
    ["customer:7", 1.5, "limit: 1.5 is not a whole number from 1 to 1000000"],
  ])("of %j to %d is refused", async (key, limit, message) => {
    const scheduler = await box.scheduler();

    await expect(scheduler.setKeyLimit(key, limit)).rejects.toMatchObject({ code: "INVALID_RULE", message });
  });
});

it("a key, a queue and a run are counted at once: the narrowest decides", async () => {
  const scheduler = await box.scheduler();
  await scheduler.setQueue("mail", { limit: 3 });
  await scheduler.setKeyLimit("customer:7", 2);
  const { taskRuns } = await scheduler.enqueueMany(
    Array.from({ length: 4 }, () => echo.task(null, { queue: "mail", concurrencyKey: "customer:7" })),
    { run: { title: "nightly", limit: 3 } },
  );

  expect(await admitted(scheduler)).toBe(2);

  const { gates } = await scheduler.explain(taskRuns[3]?.taskRunId ?? "");
  expect(gates.filter(({ state }) => state === "blocking")).toMatchObject([
    {
      code: "KEY_LIMIT",
      causes: [
        {
          cause: { concurrencyKey: "customer:7", limit: 2, active: 2 },
          blockers: [{ taskRunId: taskRuns[0]?.taskRunId }, { taskRunId: taskRuns[1]?.taskRunId }],
          position: 2,
          lineLength: 2,
        },
      ],
    },
  ]);
  await scheduler.runUntilIdle();
  expect(await statusesIn(box, "mail")).toEqual({ DONE: 4 });
  expect(await box.value<number>("SELECT count(*)::integer FROM signalbox.hold")).toBe(0);
});
