import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../../test/fixture.ts";
import { leaveOpen } from "../../../test/stepped-pool.ts";
import { waitUntilBlocked } from "../../../test/wait-until.ts";
import { asRunId, type RunId } from "../../domain/ids.ts";
import { promoteOnce } from "../../engine/promoter.ts";
import type { ManualScheduler } from "../../testing/manual-scheduler.ts";
import { changeRunLimit } from "./limit.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

async function enqueueRun(scheduler: ManualScheduler, tasks: number, limit: number): Promise<RunId> {
  const specs = Array.from({ length: tasks }, (_, index) => echo.task(index));
  const { runId } = await scheduler.enqueueMany(specs, { run: { title: "nightly", limit } });
  if (runId === null) throw new Error("No run");
  return runId;
}
async function promotedCount(scheduler: ManualScheduler): Promise<number> {
  const pass = await scheduler.promote();
  return pass.kind === "passed" ? pass.promoted.length : Number.NaN;
}
const activeSlots = async (): Promise<readonly number[]> =>
  (await box.query<{ slot: number }>("SELECT slot FROM signalbox.hold ORDER BY slot")).map(
    ({ slot }) => slot,
  );

describe("a limit that is lowered", () => {
  it("evicts nobody and lets nobody in until fewer than it are active", async () => {
    const scheduler = await box.scheduler({ slots: 1 });
    const runId = await enqueueRun(scheduler, 8, 4);
    expect(await promotedCount(scheduler)).toBe(4);

    await scheduler.setRunLimit(runId, 2);

    expect((await scheduler.list({ status: ["AVAILABLE"] })).taskRuns).toHaveLength(4);
    for (const expected of [0, 0, 1, 1]) {
      await scheduler.claim();
      await scheduler.execute();
      await scheduler.settle();
      expect(await promotedCount(scheduler)).toBe(expected);
    }
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("is not passed by because low slots are free while high ones are held", async () => {
    const scheduler = await box.scheduler({ slots: 2 });
    const runId = await enqueueRun(scheduler, 9, 5);
    await scheduler.promote();
    await scheduler.setRunLimit(runId, 2);

    // Slots 0 and 1 are given back; 2, 3 and 4 stay.
    await scheduler.claim();
    await scheduler.execute();
    await scheduler.settle();

    const pass = await scheduler.promote();
    expect(pass).toMatchObject({ promoted: [], failed: new Map() });
    expect(await activeSlots()).toEqual([2, 3, 4]);
    expect((await scheduler.overview()).waiting).toEqual({ RUN_LIMIT: 4 });
  });

  it("is in force for the pass that waits while it is changed, and for none before", async () => {
    const scheduler = await box.scheduler();
    const runId = await enqueueRun(scheduler, 5, 4);
    const lowered = await leaveOpen(box.pool("lowering"), async (tx) => await changeRunLimit(tx, runId, 1));

    expect(await scheduler.promote()).toEqual({ kind: "lock_missed" });
    await lowered.commit();

    expect(await promotedCount(scheduler)).toBe(1);
  });

  it("waits for the pass that is under way, and counts what it let in", async () => {
    const scheduler = await box.scheduler();
    const runId = await enqueueRun(scheduler, 5, 3);
    const promoting = box.pool("promoter");
    const pause = promoting.pauseBefore("takeHolds");

    const pass = promoteOnce({ pool: promoting, batchSize: 10 });
    await pause.reached;
    const lowered = box.pool("lowering").transaction(async (tx) => await changeRunLimit(tx, runId, 1));
    await waitUntilBlocked(box.db.client, "lowering");
    pause.resume();
    await Promise.all([pass, lowered]);

    expect(await pass).toMatchObject({ promoted: { length: 3 } });
    expect(await promotedCount(scheduler)).toBe(0);
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });
});

describe("a limit that is raised", () => {
  it("wakes those who wait for it", async () => {
    const scheduler = await box.scheduler();
    const runId = await enqueueRun(scheduler, 5, 1);
    await scheduler.promote();

    await scheduler.setRunLimit(runId, 3);

    expect(await promotedCount(scheduler)).toBe(2);
  });

  it("to 0 is no limit any more", async () => {
    // With so many slots in the cluster that the fair share of a run is no limit either.
    const scheduler = await box.scheduler({ slots: 15 });
    const runId = await enqueueRun(scheduler, 30, 1);
    await scheduler.promote();

    await scheduler.setRunLimit(runId, 0);
    await scheduler.promote();

    expect((await scheduler.list({ status: ["AVAILABLE"] })).taskRuns).toHaveLength(30);
  });
});

describe("a change of a limit", () => {
  it("is recorded with what it was and what it is", async () => {
    const scheduler = await box.scheduler();
    const runId = await enqueueRun(scheduler, 1, 4);

    await scheduler.setRunLimit(runId, 2);

    expect(
      await box.query("SELECT aggregate_id, aggregate_version, type, data FROM signalbox.event_store"),
    ).toEqual([
      { aggregate_id: runId, aggregate_version: 2, type: "run.limit_changed", data: { from: 4, to: 2 } },
    ]);
  });

  it("is refused for what is no limit and for what is no run", async () => {
    const scheduler = await box.scheduler();
    const runId = await enqueueRun(scheduler, 1, 4);

    await expect(scheduler.setRunLimit(runId, -1)).rejects.toMatchObject({ code: "INVALID_LIMIT" });
    await expect(
      scheduler.setRunLimit(asRunId("00000000-0000-7000-8000-000000000000"), 1),
    ).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
  });
});
