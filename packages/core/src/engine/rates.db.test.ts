/** Rates: never more starts than the amount in any period, counted at the claim. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { parkingIn, statusesIn } from "../../test/look.ts";
import { waitUntil } from "../../test/wait-until.ts";
import { DeferError } from "../executors/answers.ts";
import { defineTask } from "../executors/define-task.ts";
import { handBackTaskRuns } from "../store/task-runs/hand-back.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import type { Enqueued } from "./scheduler-face.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const later = defineTask({
  kind: "later",
  run: () => {
    throw new DeferError(0);
  },
});

async function fill(scheduler: ManualScheduler, count: number): Promise<readonly Enqueued[]> {
  return (await scheduler.enqueueMany(Array.from({ length: count }, (_, n) => echo.task(n, { rate: "sms" }))))
    .taskRuns;
}

async function admitted(scheduler: ManualScheduler): Promise<number> {
  const pass = await scheduler.promote();
  return pass.kind === "passed" ? pass.promoted.length : Number.NaN;
}

/** Looks at all who wait, woken or not: whether there is room, not whether somebody was told. */
async function admittedBySweep(scheduler: ManualScheduler): Promise<number> {
  const pass = await scheduler.sweep();
  return pass.kind === "passed" ? pass.promoted.length : Number.NaN;
}

/** As if everything had been claimed that much earlier. */
async function letPass(ms: number): Promise<void> {
  await box.query(
    `ALTER TABLE signalbox.task_run DISABLE TRIGGER USER;
     UPDATE signalbox.task_run SET claimed_at = claimed_at - ${ms} * interval '1 ms' WHERE claimed_at IS NOT NULL;
     ALTER TABLE signalbox.task_run ENABLE TRIGGER USER;
     UPDATE signalbox.gate_wake SET due_at = due_at - ${ms} * interval '1 ms' WHERE due_at IS NOT NULL`,
  );
}

/** The most starts in any period that begins with one of them. */
async function mostStarts(perMs: number): Promise<number> {
  return await box.value<number>(
    `SELECT coalesce(max(starts), 0)::integer
       FROM (SELECT count(*) OVER (ORDER BY claimed_at
                                   RANGE BETWEEN CURRENT ROW AND $1::interval FOLLOWING) AS starts
               FROM signalbox.task_run WHERE claimed_at IS NOT NULL) AS t`,
    [`${perMs - 0.001} ms`],
  );
}

describe("a rate", () => {
  it("lets no more be promoted than may start, and says when the next may", async () => {
    const scheduler = await box.scheduler();
    await scheduler.setRate("sms", { amount: 2, perMs: 60_000 });
    const taskRuns = await fill(scheduler, 4);

    expect(await admitted(scheduler)).toBe(2);

    const waits = taskRuns[2]?.taskRunId ?? "";
    expect(await parkingIn(box, waits)).toBe("RATE_LIMIT sms");
    const causesOf = async () =>
      (await scheduler.explain(waits)).gates.find(({ code }) => code === "RATE_LIMIT")?.causes;
    // Taken and not started: nobody knows when.
    expect(await causesOf()).toMatchObject([
      { cause: { amount: 2, perMs: 60_000, freeAt: null }, position: 1, lineLength: 2, earliestAt: null },
    ]);
    await scheduler.claim();
    const { claimedAt } = await scheduler.get(taskRuns[0]?.taskRunId ?? "");
    const freeAt = new Date((claimedAt?.getTime() ?? 0) + 60_000);
    expect(await causesOf()).toMatchObject([{ cause: { freeAt }, earliestAt: freeAt }]);
    expect(await admitted(scheduler)).toBe(0);
  });

  it("gives a slot back one period after the start of whoever took it, not after its end", async () => {
    const scheduler = await box.scheduler();
    await scheduler.setRate("sms", { amount: 1, perMs: 60_000 });
    await fill(scheduler, 3);
    await scheduler.promote();
    await scheduler.claim();
    await scheduler.execute();
    await scheduler.settle();

    await letPass(59_000);
    expect(await admittedBySweep(scheduler)).toBe(0);
    await letPass(1_001);
    expect(await admitted(scheduler)).toBe(1);
    expect(await admitted(scheduler)).toBe(0);
  });

  it("is never passed in any period, with two instances and many small periods", async () => {
    const perMs = 150;
    const one = await box.scheduler({ name: "one" });
    const two = await box.scheduler({ name: "two" });
    await one.setRate("sms", { amount: 3, perMs });
    await fill(one, 24);
    const work = async (scheduler: ManualScheduler): Promise<void> => {
      await waitUntil("all have ended", async () => {
        await scheduler.promote();
        await scheduler.claim();
        await scheduler.execute();
        await scheduler.settle();
        return (await statusesIn(box, "default"))["DONE"] === 24;
      });
    };

    await Promise.all([work(one), work(two)]);

    expect(await mostStarts(perMs)).toBeLessThanOrEqual(3);
    expect((await one.checkInvariants()).violations).toEqual([]);
  }, 60_000);

  it("wakes those who wait by itself: the pass knows when to look again", async () => {
    const scheduler = await box.scheduler();
    await scheduler.setRate("sms", { amount: 1, perMs: 60_000 });
    await fill(scheduler, 2);
    await scheduler.promote();
    await scheduler.claim();
    await letPass(30_000);

    await scheduler.sweep();
    const pass = await scheduler.promote();

    expect(pass.kind === "passed" && pass.nextDueMs).toBeGreaterThan(20_000);
    expect(pass.kind === "passed" && pass.nextDueMs).toBeLessThanOrEqual(30_000);
    await letPass(30_001);
    expect(await admitted(scheduler)).toBe(1);
  });
});

describe("a slot of a rate that was taken in vain", () => {
  it("is free at once when its task run is canceled", async () => {
    const scheduler = await box.scheduler();
    await scheduler.setRate("sms", { amount: 1, perMs: 60_000 });
    const [first, second] = await fill(scheduler, 2);
    await scheduler.promote();

    await scheduler.cancel(first?.taskRunId ?? "");

    expect(await scheduler.promote()).toMatchObject({ promoted: [second?.taskRunId] });
  });

  it("is free at once when its task run has waited for too long", async () => {
    const scheduler = await box.scheduler();
    await scheduler.setRate("sms", { amount: 1, perMs: 60_000 });
    const first = await scheduler.enqueue(echo.task(1, { rate: "sms", timeouts: { queuedMs: 60_000 } }));
    const second = await scheduler.enqueue(echo.task(2, { rate: "sms" }));
    await scheduler.promote();
    await box.query(
      `UPDATE signalbox.task_run SET enqueued_at = enqueued_at - interval '1 minute' WHERE id = $1`,
      [first.taskRunId],
    );
    await box.query("UPDATE signalbox.queue_deadline SET at = at - interval '1 minute'");

    await scheduler.failOverdue();

    expect(await box.statusOf(first.taskRunId)).toBe("FAILED");
    expect(await scheduler.promote()).toMatchObject({ promoted: [second.taskRunId] });
  });

  it("is free at once when its task run is handed back", async () => {
    const scheduler = await box.scheduler({ slots: 1 });
    await scheduler.setRate("sms", { amount: 1, perMs: 60_000 });
    await scheduler.enqueue(echo.task(1, { rate: "sms", queue: "mail" }));
    const [second] = await fill(scheduler, 1);
    await scheduler.promote();
    await scheduler.claim();
    const [held] = scheduler.held.all();
    if (held === undefined) throw new Error("Nothing was claimed");
    // It cannot take the slot again itself.
    await scheduler.pause({ queue: "mail" });

    await box
      .pool("settler")
      .transaction(async (tx) => await handBackTaskRuns(tx, scheduler.instanceId, [held.claim]));

    expect(await scheduler.promote()).toMatchObject({ promoted: [second?.taskRunId] });
  });

  it("is not free when its task run is deferred: it has started", async () => {
    const scheduler = await box.scheduler({ tasks: [later] });
    await scheduler.setRate("sms", { amount: 1, perMs: 60_000 });
    const { taskRunId } = await scheduler.enqueue(later.task(null, { rate: "sms" }));
    await scheduler.promote();
    await scheduler.claim();
    await scheduler.execute();
    await scheduler.settle();
    expect(await box.statusOf(taskRunId)).toBe("PENDING");

    expect(await admittedBySweep(scheduler)).toBe(0);

    expect(await box.value("SELECT blocked_on FROM signalbox.waiting")).toBe("RATE_LIMIT");
    await box.query("UPDATE signalbox.rate_slot SET started_at = started_at - interval '1 minute'");
    expect(await admittedBySweep(scheduler)).toBe(1);
  });

  it("is not free when its task run starts again after a deferral: both starts count", async () => {
    const scheduler = await box.scheduler({ tasks: [later, echo] });
    await scheduler.setRate("sms", { amount: 2, perMs: 60_000 });
    await scheduler.enqueue(later.task(null, { rate: "sms" }));
    for (const _ of ["first start", "second start"]) {
      expect(await admittedBySweep(scheduler)).toBe(1);
      await scheduler.claim();
      await scheduler.execute();
      await scheduler.settle();
    }
    await fill(scheduler, 1);

    expect(await admittedBySweep(scheduler)).toBe(0);
  });

  it("is free at once when its task run goes back to PENDING, and it takes one again, not two", async () => {
    const scheduler = await box.scheduler();
    await scheduler.setRate("sms", { amount: 2, perMs: 60_000 });
    const { taskRuns } = await scheduler.enqueueMany([
      echo.task(1, { rate: "sms", queue: "mail" }),
      echo.task(2, { rate: "sms", queue: "mail" }),
      echo.task(3, { rate: "sms", queue: "bulk" }),
    ]);
    await scheduler.promote();

    await scheduler.pause({ queue: "mail" });
    expect(await scheduler.promote()).toMatchObject({ promoted: [taskRuns[2]?.taskRunId] });
    await scheduler.cancel(taskRuns[2]?.taskRunId ?? "");
    await scheduler.cancel(taskRuns[0]?.taskRunId ?? "");
    await scheduler.resume({ queue: "mail" });
    await scheduler.promote();
    // The second had the second slot before and has the first now: one of two is free.
    await fill(scheduler, 2);

    expect(await admitted(scheduler)).toBe(1);
  });
});

describe("a rate that is changed", () => {
  it("to a smaller amount counts those that started under the larger one", async () => {
    const scheduler = await box.scheduler();
    await scheduler.setRate("sms", { amount: 3, perMs: 60_000 });
    const taskRuns = await fill(scheduler, 5);
    await scheduler.promote();
    await scheduler.claim();
    await box.query("UPDATE signalbox.task_run SET claimed_at = claimed_at - interval '30 s' WHERE id = $1", [
      taskRuns[0]?.taskRunId,
    ]);

    await scheduler.setRate("sms", { amount: 1, perMs: 60_000 });

    expect(await admitted(scheduler)).toBe(0);
    // Three count and one is allowed: it is free when the last of them has become old, not the first.
    const last = (await scheduler.get(taskRuns[2]?.taskRunId ?? "")).claimedAt?.getTime() ?? 0;
    const { gates } = await scheduler.explain(taskRuns[3]?.taskRunId ?? "");
    expect(gates.find(({ code }) => code === "RATE_LIMIT")?.causes).toMatchObject([
      { earliestAt: new Date(last + 60_000) },
    ]);
    await letPass(31_000);
    // The lowest slot is free by now, and two above the new amount still count.
    expect(await admittedBySweep(scheduler)).toBe(0);
    await letPass(30_000);
    expect(await admitted(scheduler)).toBe(1);
  });

  it("to a smaller amount takes no start away from those that are AVAILABLE, and breaks no promise by that", async () => {
    const scheduler = await box.scheduler();
    await scheduler.setRate("sms", { amount: 2, perMs: 3_600_000 });
    await fill(scheduler, 3);
    expect(await admitted(scheduler)).toBe(2);

    await scheduler.setRate("sms", { amount: 1, perMs: 3_600_000 });
    expect(await scheduler.claim()).toHaveLength(2);

    expect(await admittedBySweep(scheduler)).toBe(0);
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("to a larger amount lets more start at once", async () => {
    const scheduler = await box.scheduler();
    await scheduler.setRate("sms", { amount: 1, perMs: 60_000 });
    await fill(scheduler, 4);
    await scheduler.promote();

    await scheduler.setRate("sms", { amount: 3, perMs: 60_000 });

    expect(await admitted(scheduler)).toBe(2);
  });

  it("to a longer period counts what started before the change", async () => {
    const scheduler = await box.scheduler();
    await scheduler.setRate("sms", { amount: 1, perMs: 1_000 });
    await fill(scheduler, 2);
    await scheduler.promote();
    await scheduler.claim();
    await letPass(2_000);

    await scheduler.setRate("sms", { amount: 1, perMs: 60_000 });

    expect(await admitted(scheduler)).toBe(0);
  });
});

describe("a rate that nobody has set", () => {
  it("is refused when a task names it, and nothing is enqueued", async () => {
    const scheduler = await box.scheduler();

    await expect(scheduler.enqueueMany([echo.task(1), echo.task(2, { rate: "sms" })])).rejects.toMatchObject({
      code: "UNKNOWN_RATE",
      details: { rates: ["sms"] },
    });
    expect(await statusesIn(box, "default")).toEqual({});
  });

  it.each([
    ["", { amount: 1, perMs: 1 }, "rate: is empty; give it a name"],
    ["sms", { amount: 0, perMs: 1 }, "amount: 0 is not a whole number from 1 to 10000"],
    ["sms", { amount: 1, perMs: 86_400_001 }, "perMs: 86400001 is not a whole number from 1 to 86400000"],
  ])("or set to nonsense: %j %j", async (name, rate, message) => {
    const scheduler = await box.scheduler();

    await expect(scheduler.setRate(name, rate)).rejects.toMatchObject({ code: "INVALID_RULE", message });
  });
});
