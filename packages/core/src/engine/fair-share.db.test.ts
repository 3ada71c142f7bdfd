/** A run with many tasks does not stand in front of a run with one. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { parkingIn, statusesIn } from "../../test/look.ts";
import { waitUntil } from "../../test/wait-until.ts";
import { findFronts } from "../store/task-runs/woken.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { promoteOnce } from "./promoter.ts";
import type { EnqueuedMany } from "./scheduler-face.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

/** Of a cluster with up to ten slots. */
const SHARE = 20;

async function enqueueRun(scheduler: ManualScheduler, title: string, count: number): Promise<EnqueuedMany> {
  return await scheduler.enqueueMany(
    Array.from({ length: count }, (_, n) => echo.task(n)),
    { run: { title } },
  );
}

async function promoteAll(scheduler: ManualScheduler): Promise<void> {
  await countPasses(scheduler);
}

/** How many it takes until there is nothing more to look at. */
async function countPasses(scheduler: ManualScheduler): Promise<number> {
  for (let passes = 1; ; passes += 1) {
    const pass = await scheduler.promote();
    if (pass.kind === "passed" && !pass.more) return passes;
  }
}

describe("the fair share of a run", () => {
  it("is all of it that is AVAILABLE; the rest waits, and says so", async () => {
    const scheduler = await box.scheduler({ slots: 10 });
    const { runId, taskRuns } = await enqueueRun(scheduler, "nightly", 60);

    await promoteAll(scheduler);

    expect(await statusesIn(box, "default")).toEqual({ AVAILABLE: SHARE, PENDING: 40 });
    const last = taskRuns[59]?.taskRunId ?? "";
    expect(await parkingIn(box, last)).toBe(`FAIR_SHARE ${runId}`);
    expect((await scheduler.explain(last)).gates.find(({ code }) => code === "FAIR_SHARE")).toMatchObject({
      state: "blocking",
      causes: [{ cause: { share: SHARE, available: SHARE }, position: 40, lineLength: 40 }],
    });
  });

  it("does not move all that wait from it to the run's own limit and back, however many they are", async () => {
    const scheduler = await box.scheduler({ slots: 10 });
    await scheduler.enqueueMany(
      Array.from({ length: 400 }, (_, n) => echo.task(n)),
      { run: { title: "nightly", limit: SHARE + 5 } },
    );
    await promoteAll(scheduler);
    await scheduler.claim();

    expect(await countPasses(scheduler)).toBeLessThan(4);
    await scheduler.execute();
    await scheduler.settle();
    expect(await countPasses(scheduler)).toBeLessThan(4);
    expect(await statusesIn(box, "default")).toMatchObject({ AVAILABLE: SHARE });
  });

  it("binds a run whose own limit is larger, too", async () => {
    const scheduler = await box.scheduler({ slots: 10 });
    await scheduler.enqueueMany(
      Array.from({ length: 60 }, (_, n) => echo.task(n)),
      { run: { title: "nightly", limit: 2 * SHARE } },
    );

    await promoteAll(scheduler);
    await scheduler.sweep();

    expect(await statusesIn(box, "default")).toEqual({ AVAILABLE: SHARE, PENDING: 40 });
  });

  it("when woken is looked at no deeper than it has room, but for one that tells when to look again", async () => {
    const scheduler = await box.scheduler({ slots: 3 });
    const { runId } = await enqueueRun(scheduler, "nightly", 60);
    await promoteAll(scheduler);
    const looked = async (): Promise<number | undefined> =>
      await box.pool("promoter").transaction(async (tx) => {
        const woken = [{ blockedOn: "FAIR_SHARE", blockedKey: runId ?? "" } as const];
        const { fronts } = await findFronts(tx, woken, { batchSize: 100, fairShare: SHARE });
        return fronts[0]?.taskRunIds.length;
      });

    expect(await looked()).toBe(1);
    await scheduler.claim();
    expect(await looked()).toBe(2 * 3);
  });

  it("is filled again by claims, and everything runs in the end", async () => {
    const scheduler = await box.scheduler({ slots: 10 });
    await enqueueRun(scheduler, "nightly", 60);
    await promoteAll(scheduler);

    await scheduler.claim();
    await promoteAll(scheduler);

    expect(await statusesIn(box, "default")).toEqual({ AVAILABLE: SHARE, PENDING: 30, RUNNING: 10 });
    await scheduler.execute();
    await scheduler.settle();
    await scheduler.runUntilIdle();
    expect(await statusesIn(box, "default")).toEqual({ DONE: 60 });
  });

  it("is filled again after a claim that could not see whom a pass parked at the same moment", async () => {
    const scheduler = await box.scheduler({ slots: 10, batchSize: 20 });
    await enqueueRun(scheduler, "nightly", 40);
    await scheduler.promote();
    const pool = box.pool("promoter");
    const atCommit = pool.pauseBefore("COMMIT");
    const parks = promoteOnce({ pool, batchSize: 20 });
    await atCommit.reached;

    await scheduler.claim();
    atCommit.resume();
    await parks;

    expect(await statusesIn(box, "default")).toEqual({ AVAILABLE: 10, PENDING: 20, RUNNING: 10 });
    await waitUntil("the share is filled again without a sweep", async () => {
      await scheduler.promote();
      return (await statusesIn(box, "default"))["AVAILABLE"] === SHARE;
    });
  });

  it("grows with the slots of the cluster", async () => {
    const scheduler = await box.scheduler({ slots: 10 });
    await box.scheduler({ name: "other", slots: 30 });
    await enqueueRun(scheduler, "nightly", 100);

    await promoteAll(scheduler);

    expect((await statusesIn(box, "default"))["AVAILABLE"]).toBe(80);
  });

  it("lets a run with one task be AVAILABLE at once beside a run with 10,000", async () => {
    const scheduler = await box.scheduler({ slots: 10, batchSize: 500 });
    await enqueueRun(scheduler, "nightly", 10_000);
    await promoteAll(scheduler);
    const { taskRuns } = await enqueueRun(scheduler, "urgent", 1);

    expect(await scheduler.promote()).toMatchObject({ promoted: [taskRuns[0]?.taskRunId] });
  }, 120_000);

  // KNOWN DEFECT, to be turned into a plain test with its fix: claims go by the id of the task run, so that what is
  // promoted later of the older run goes before the one task of the younger run. All 200 go first.
  it("keeps the turn of a run with one task: no more than the share of the other goes before it", async () => {
    const scheduler = await box.scheduler({ slots: 5 });
    await enqueueRun(scheduler, "nightly", 200);
    await promoteAll(scheduler);
    const { taskRuns } = await enqueueRun(scheduler, "urgent", 1);
    await promoteAll(scheduler);

    let before = 0;
    for (let isIn = false; !isIn; ) {
      const claimed = await scheduler.claim();
      isIn = claimed.includes(taskRuns[0]?.taskRunId ?? ("" as never));
      before += claimed.length;
      await promoteAll(scheduler);
      await scheduler.execute();
      await scheduler.settle();
    }

    expect(before).toBeLessThanOrEqual(SHARE + 5);
  }, 60_000);
});
