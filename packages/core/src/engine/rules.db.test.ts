/** A rule that closes something and a promotion pass at the same moment: the one waits for the other. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { leaveOpen } from "../../test/stepped-pool.ts";
import { waitUntilBlocked } from "../../test/wait-until.ts";
import type { RunId, TaskId } from "../domain/ids.ts";
import { exclusive } from "../domain/resource.ts";
import { tryGateLock } from "../store/holds/gate-lock.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { promoteOnce } from "./promoter.ts";
import type { EnqueuedMany } from "./scheduler-face.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const FREEZE = {
  kind: "freeze",
  from: new Date(Date.now() - 3_600_000),
  until: new Date(Date.now() + 3_600_000),
} as const;

type Close = (scheduler: ManualScheduler, run: EnqueuedMany) => Promise<unknown>;
const closes: readonly (readonly [string, Close])[] = [
  ["a pause of its queue", async (scheduler) => await scheduler.pause({ queue: "mail" })],
  ["a pause of its run", async (scheduler, { runId }) => await scheduler.pause({ runId: runId as RunId })],
  ["a pause of its resource", async (scheduler) => await scheduler.pause({ resource: "orders" })],
  [
    "a stop",
    async (scheduler, { taskRuns: [first] }) =>
      await scheduler.putStop(first?.taskId ?? ("" as never), "APPROVAL"),
  ],
  ["a freeze of its queue", async (scheduler) => await scheduler.setWindows({ queue: "mail" }, [FREEZE])],
  [
    "a freeze of its resource",
    async (scheduler) => await scheduler.setWindows({ resource: "orders" }, [FREEZE]),
  ],
];

async function enqueue(scheduler: ManualScheduler): Promise<EnqueuedMany> {
  return await scheduler.enqueueMany([echo.task(1, { queue: "mail", resources: [exclusive("orders")] })], {
    run: { title: "nightly" },
  });
}

async function rulesInForce(): Promise<number> {
  return await box
    .value<number>(
      `SELECT (SELECT count(*) FROM signalbox.pause) + (SELECT count(*) FROM signalbox.stop)
            + (SELECT count(*) FROM signalbox.start_window)`,
    )
    .then(Number);
}

describe("while a pass is under way that has found its gates open", () => {
  it.each(closes)("%s waits for it, and takes back what it let in", async (_, close) => {
    const scheduler = await box.scheduler({ name: "ruler" });
    const run = await enqueue(scheduler);
    const pool = box.pool("promoter");
    // It has read everything and decided.
    const decided = pool.pauseBefore("promoteTaskRuns");
    const passes = promoteOnce({ pool, batchSize: 10 });
    await decided.reached;

    const closed = close(scheduler, run);
    await waitUntilBlocked(box.db.client, "signalbox ruler");
    expect(await rulesInForce()).toBe(0);
    decided.resume();
    await closed;

    expect(await passes).toMatchObject({ promoted: [run.taskRuns[0]?.taskRunId] });
    expect(await box.statusOf(run.taskRuns[0]?.taskRunId ?? "")).toBe("PENDING");
    expect(await scheduler.promote()).toMatchObject({ promoted: [] });
    expect(await scheduler.claim()).toEqual([]);
    expect(await box.value<number>("SELECT count(*)::integer FROM signalbox.hold")).toBe(0);
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("a limit of its queue waits for it, and counts or takes back what it let in", async () => {
    const scheduler = await box.scheduler({ name: "ruler" });
    await scheduler.setQueue("mail", { limit: 5 });
    await scheduler.enqueueMany([1, 2, 3].map((n) => echo.task(n, { queue: "mail" })));
    const pool = box.pool("promoter");
    const decided = pool.pauseBefore("promoteTaskRuns");
    const passes = promoteOnce({ pool, batchSize: 10 });
    await decided.reached;

    const lowered = scheduler.setQueue("mail", { limit: 1 });
    await waitUntilBlocked(box.db.client, "signalbox ruler");
    expect(await box.query("SELECT slot_limit FROM signalbox.queue")).toEqual([{ slot_limit: 5 }]);
    decided.resume();
    await lowered;

    // Lowered after they were let in: nobody is evicted, and nobody else comes in.
    expect(await passes).toMatchObject({ promoted: [{}, {}, {}] });
    await scheduler.enqueue(echo.task(4, { queue: "mail" }));
    expect(await scheduler.promote()).toMatchObject({ promoted: [] });
  });
});

describe("a rule", () => {
  it("that is asked for while somebody decides is not in force before that one has ended", async () => {
    const scheduler = await box.scheduler({ name: "ruler" });
    const gate = await leaveOpen(box.pool("other"), async (tx) => await tryGateLock(tx));

    const changed = scheduler.setKeyLimit("customer:7", 2);
    await waitUntilBlocked(box.db.client, "signalbox ruler");
    await gate.rollBack();
    await changed;

    expect(await box.query("SELECT slot_limit FROM signalbox.key_limit")).toEqual([{ slot_limit: 2 }]);
  });

  it.each(closes)("%s holds at the claim too, for what is AVAILABLE already", async (_, close) => {
    const scheduler = await box.scheduler();
    const run = await enqueue(scheduler);
    await scheduler.promote();

    await close(scheduler, run);

    expect(await box.statusOf(run.taskRuns[0]?.taskRunId ?? "")).toBe("PENDING");
    expect(await scheduler.claim()).toEqual([]);
    const [event] = await box.query<{ because: string }>(
      "SELECT data->>'because' AS because FROM signalbox.event_store WHERE type = 'task_run.demoted'",
    );
    expect(["PAUSED", "STOPPED", "WINDOW", "RULES_CHANGED"]).toContain(event?.because);
    expect(scheduler.events).toEqual([
      { type: "task_run.demoted", taskRunIds: [run.taskRuns[0]?.taskRunId] },
    ]);
  });

  it("that is the first limit of its queue tells whom it sends back", async () => {
    const scheduler = await box.scheduler();
    const { taskRuns } = await enqueue(scheduler);
    await scheduler.promote();

    await scheduler.setQueue("mail", { limit: 1 });

    expect(scheduler.events).toEqual([
      { type: "task_run.demoted", taskRunIds: taskRuns.map(({ taskRunId }) => taskRunId) },
    ]);
  });
});

describe("an id in capitals", () => {
  it("pauses and resumes the run whose id it is", async () => {
    const scheduler = await box.scheduler();
    const { runId } = await enqueue(scheduler);
    const capitals = (runId ?? "").toUpperCase() as RunId;

    expect(await scheduler.pause({ runId: capitals })).toBe(true);

    expect(await scheduler.promote()).toMatchObject({ promoted: [] });
    expect((await scheduler.getRun(capitals)).paused).not.toBeNull();
    expect(await scheduler.resume({ runId: capitals })).toBe(true);
    expect(await scheduler.promote()).toMatchObject({ promoted: [{}] });
  });

  it("changes the limit of its run, and tells those who wait there", async () => {
    const scheduler = await box.scheduler();
    const { runId } = await scheduler.enqueueMany([echo.task(1), echo.task(2)], {
      run: { title: "nightly", limit: 1 },
    });
    expect(await scheduler.promote()).toMatchObject({ promoted: [{}] });

    await scheduler.setRunLimit((runId ?? "").toUpperCase() as RunId, 2);

    expect(await scheduler.promote()).toMatchObject({ promoted: [{}] });
  });

  it("cancels and retries the tasks of its run", async () => {
    const scheduler = await box.scheduler();
    const { runId } = await enqueue(scheduler);
    const capitals = (runId ?? "").toUpperCase() as RunId;

    expect(await scheduler.cancelRun(capitals)).toMatchObject({ canceled: 1 });

    const again = await scheduler.retryMany({ runId: capitals, status: ["CANCELED"] });
    expect(again).toMatchObject({ retried: 1 });
    expect(await scheduler.list({ runId: capitals, status: ["PENDING"] })).toMatchObject({ taskRuns: [{}] });
  });

  it("takes a stop off its task, and tells it", async () => {
    const scheduler = await box.scheduler();
    const { taskId } = await scheduler.enqueue(echo.task(1, { stops: [{ code: "APPROVAL" }] }));
    expect(await scheduler.promote()).toMatchObject({ promoted: [] });

    expect(await scheduler.takeOffStop(taskId.toUpperCase() as TaskId, "APPROVAL")).toBe(true);

    expect(await scheduler.promote()).toMatchObject({ promoted: [{}] });
  });
});
