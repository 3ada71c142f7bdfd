/** Pauses of queues, runs and resources. */

import pg from "pg";
import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { holdersIn, parkingIn, statusesIn } from "../../test/look.ts";
import { makeOlder } from "../../test/make-older.ts";
import { leaveOpen } from "../../test/stepped-pool.ts";
import { waitUntilBlocked } from "../../test/wait-until.ts";
import { asRunId, type RunId } from "../domain/ids.ts";
import { exclusive, shared } from "../domain/resource.ts";
import { pauseScope } from "../store/rules/pause.ts";
import { claimOnce } from "./claimer.ts";
import { promoteOnce } from "./promoter.ts";
import { ruleKeeper } from "./rule-keeper.ts";
import { createWakeups } from "./wakeups.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

function requireRun(runId: RunId | null): RunId {
  if (runId === null) throw new Error("It was enqueued without a run");
  return runId;
}

describe("a queue that is paused", () => {
  it("starts nothing any more when that resolves, and says why; what runs goes on", async () => {
    const scheduler = await box.scheduler({ slots: 1 });
    await scheduler.enqueueMany([1, 2, 3].map((n) => echo.task(n, { queue: "mail" })));
    await scheduler.claim();

    expect(await scheduler.pause({ queue: "mail" }, { by: "eva", reason: "flood" })).toBe(true);

    expect(await statusesIn(box, "mail")).toEqual({ PENDING: 2, RUNNING: 1 });
    await scheduler.execute();
    await scheduler.settle();
    expect(await scheduler.promote()).toMatchObject({ promoted: [] });
    expect(await scheduler.claim()).toEqual([]);
    expect(await statusesIn(box, "mail")).toEqual({ DONE: 1, PENDING: 2 });
    const [waits] = (await scheduler.list({ status: ["PENDING"] })).taskRuns;
    expect(await parkingIn(box, waits?.taskRunId ?? "")).toBe("PAUSED queue:mail");
    const { gates } = await scheduler.explain(waits?.taskRunId ?? "");
    expect(gates.find(({ code }) => code === "PAUSED")?.causes).toMatchObject([
      { cause: { scope: "queue:mail", by: "eva", reason: "flood", since: expect.any(Date) } },
    ]);
  });

  it("lets whoever comes meanwhile wait, and all of them go when it is resumed", async () => {
    const scheduler = await box.scheduler();
    await scheduler.pause({ queue: "mail" });
    const { status } = await scheduler.enqueue(echo.task(1, { queue: "mail" }));
    await scheduler.promote();

    expect(await scheduler.resume({ queue: "mail" })).toBe(true);

    expect(status).toBe("PENDING");
    await scheduler.runUntilIdle();
    expect(await statusesIn(box, "mail")).toEqual({ DONE: 1 });
  });

  it("is paused once and resumed once, and each is recorded", async () => {
    const scheduler = await box.scheduler();

    expect(await scheduler.resume({ queue: "mail" })).toBe(false);
    expect(await scheduler.pause({ queue: "mail" })).toBe(true);
    expect(await scheduler.pause({ queue: "mail" }, { by: "eva" })).toBe(false);
    expect(await scheduler.resume({ queue: "mail" }, { by: "eva" })).toBe(true);
    expect(await scheduler.resume({ queue: "mail" })).toBe(false);

    const events = await box.query("SELECT type, data FROM signalbox.event_store ORDER BY aggregate_version");
    expect(events).toEqual([
      { type: "scope.paused", data: { scope: "queue:mail", by: null, reason: null } },
      { type: "scope.resumed", data: { scope: "queue:mail", by: "eva", reason: null } },
    ]);
  });

  it("waits for a claim that is under way, and no claim after it gets anything", async () => {
    const scheduler = await box.scheduler({ name: "ruler" });
    await scheduler.enqueueMany([1, 2].map((n) => echo.task(n, { queue: "mail" })));
    const pool = box.pool("claimer");
    const { instanceId, held } = scheduler;
    const claim = async (slots: number) =>
      await claimOnce({
        pool,
        instanceId,
        kinds: ["echo"],
        slots,
        batchSize: 100,
        held,
        isTrusted: () => true,
      });
    const atCommit = pool.pauseBefore("COMMIT");
    const claimed = claim(1);
    await atCommit.reached;

    const paused = scheduler.pause({ queue: "mail" });
    await waitUntilBlocked(box.db.client, "signalbox ruler");
    atCommit.resume();
    await paused;

    expect(await claimed).toHaveLength(1);
    expect(await claim(10)).toEqual([]);
    expect(await statusesIn(box, "mail")).toEqual({ PENDING: 1, RUNNING: 1 });
  });

  it("keeps out a claim that begins before the pause commits", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(echo.task(1, { queue: "mail" }));
    const pause = await leaveOpen(
      box.pool("ruler"),
      async (tx) => await pauseScope(tx, "queue:mail", { by: null, reason: null }),
    );

    const claimed = scheduler.claim();
    await waitUntilBlocked(box.db.client, "signalbox manual");
    await pause.commit();

    expect(await claimed).toEqual([]);
  });
});

describe("a resource that is paused", () => {
  it("waits for a pass that is under way, and takes back what it has let go", async () => {
    const scheduler = await box.scheduler({ name: "ruler" });
    const resources = [exclusive("orders")];
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { resources }));
    const pool = box.pool("promoter");
    const atCommit = pool.pauseBefore("COMMIT");
    const pass = promoteOnce({ pool, batchSize: 9 });
    await atCommit.reached;

    const paused = scheduler.pause({ resource: "orders" });
    await waitUntilBlocked(box.db.client, "signalbox ruler");
    atCommit.resume();
    await paused;

    expect(await pass).toMatchObject({ promoted: [taskRunId] });
    expect(await box.statusOf(taskRunId)).toBe("PENDING");
    expect(await scheduler.claim()).toEqual([]);
  });
});

describe("a task enqueued in a caller's transaction that was open while its queue was paused", () => {
  it("is not claimed, and waits with the others after the sweep", async () => {
    const scheduler = await box.scheduler();
    const caller = new pg.Client({ connectionString: box.db.url });
    await caller.connect();
    await caller.query("BEGIN");
    const stray = await scheduler.enqueue(echo.task(1, { queue: "mail" }), { transaction: caller });
    await scheduler.pause({ queue: "mail" });
    await caller.query("COMMIT");
    await caller.end();

    expect(await scheduler.claim()).toEqual([]);
    expect(await scheduler.promote()).toMatchObject({ demoted: [] });
    expect(await scheduler.sweep()).toMatchObject({ demoted: [stray.taskRunId], promoted: [] });
    expect(await parkingIn(box, stray.taskRunId)).toBe("PAUSED queue:mail");
    await scheduler.resume({ queue: "mail" });
    await scheduler.runUntilIdle();
    expect(await box.statusOf(stray.taskRunId)).toBe("DONE");
  });

  it("is claimed after a resume too, though the number of its rules is an old one", async () => {
    const scheduler = await box.scheduler();
    const caller = new pg.Client({ connectionString: box.db.url });
    await caller.connect();
    await caller.query("BEGIN");
    const stray = await scheduler.enqueue(echo.task(1, { queue: "mail" }), { transaction: caller });
    await scheduler.pause({ queue: "mail" });
    await scheduler.resume({ queue: "mail" });
    await caller.query("COMMIT");
    await caller.end();

    await scheduler.sweep();

    expect(await scheduler.claim()).toEqual([stray.taskRunId]);
  });
});

describe("a run that is paused", () => {
  it("gives back what it holds and starts nothing, while other runs go on", async () => {
    const scheduler = await box.scheduler();
    const nightly = await scheduler.enqueueMany(
      [1, 2].map((n) => echo.task(n, { resources: [shared("orders")] })),
      { run: { title: "nightly" } },
    );
    const weekly = await scheduler.enqueueMany([echo.task(3)], { run: { title: "weekly" } });
    await scheduler.promote();

    expect(await scheduler.pause({ runId: requireRun(nightly.runId) })).toBe(true);

    expect(await holdersIn(box, `run:${nightly.runId}`)).toEqual([]);
    expect(await holdersIn(box, "resource:orders")).toEqual([]);
    await scheduler.promote();
    expect(await scheduler.claim()).toEqual([weekly.taskRuns[0]?.taskRunId]);
    expect(await parkingIn(box, nightly.taskRuns[0]?.taskRunId ?? "")).toBe(`PAUSED run:${nightly.runId}`);
    await scheduler.resume({ runId: requireRun(nightly.runId) });
    await scheduler.runUntilIdle();
    expect(await statusesIn(box, "default")).toEqual({ DONE: 3 });
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("waits for a claim that is taking one of its task runs, which then runs", async () => {
    const scheduler = await box.scheduler({ name: "ruler" });
    const { runId, taskRuns } = await scheduler.enqueueMany([echo.task(1), echo.task(2)], {
      run: { title: "nightly" },
    });
    await scheduler.promote();
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

    const paused = scheduler.pause({ runId: requireRun(runId) });
    await waitUntilBlocked(box.db.client, "signalbox ruler");
    atCommit.resume();
    await paused;

    expect((await claimed).map(({ claim }) => claim.taskRunId)).toEqual([taskRuns[0]?.taskRunId]);
    expect(await statusesIn(box, "default")).toEqual({ PENDING: 1, RUNNING: 1 });
  });

  it("that is none is refused", async () => {
    const scheduler = await box.scheduler();
    const nobody = asRunId("00000000-0000-7000-8000-000000000001");

    await expect(scheduler.pause({ runId: nobody })).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    await expect(scheduler.pause({ runId: asRunId("nightly") })).rejects.toMatchObject({
      code: "RUN_NOT_FOUND",
    });
  });
});

describe("a resource that is paused", () => {
  it("is given to nobody, in either mode, and is taken back from whoever has not started", async () => {
    const scheduler = await box.scheduler();
    const alone = await scheduler.enqueue(echo.task(1, { resources: [exclusive("orders")] }));
    const other = await scheduler.enqueue(echo.task(2, { resources: [exclusive("users")] }));
    await scheduler.promote();

    await scheduler.pause({ resource: "orders" });

    const sharer = await scheduler.enqueue(echo.task(3, { resources: [shared("orders")] }));
    await scheduler.promote();
    expect(await scheduler.claim()).toEqual([other.taskRunId]);
    for (const { taskRunId } of [alone, sharer])
      expect(await parkingIn(box, taskRunId)).toBe("PAUSED resource:orders");
    expect(
      await box.query("SELECT name, exclusive, shared FROM signalbox.resource_use WHERE name = 'orders'"),
    ).toEqual([{ name: "orders", exclusive: 0, shared: 0 }]);
    await scheduler.resume({ resource: "orders" });
    await scheduler.runUntilIdle();
    expect(await statusesIn(box, "default")).toEqual({ DONE: 3 });
  });
});

describe("two pauses", () => {
  it("hold until both are gone", async () => {
    const scheduler = await box.scheduler();
    await scheduler.pause({ queue: "mail" });
    await scheduler.pause({ resource: "orders" });
    const { taskRunId } = await scheduler.enqueue(
      echo.task(1, { queue: "mail", resources: [exclusive("orders")] }),
    );
    await scheduler.promote();

    await scheduler.resume({ queue: "mail" });
    await scheduler.promote();
    expect(await parkingIn(box, taskRunId)).toBe("PAUSED resource:orders");
    await scheduler.resume({ resource: "orders" });

    expect(await scheduler.promote()).toMatchObject({ promoted: [taskRunId] });
  });
});

describe("pauses under load", () => {
  it("let nothing be claimed between the moment one resolves and its end", async () => {
    const one = await box.scheduler({ name: "one", slots: 2 });
    const two = await box.scheduler({ name: "two", slots: 2 });
    const ruler = await box.scheduler({ name: "ruler" });
    let done = false;
    const work = async (scheduler: typeof one): Promise<void> => {
      while (!done) {
        await scheduler.enqueueMany([1, 2].map((n) => echo.task(n, { queue: "mail" })));
        await scheduler.promote();
        await scheduler.claim();
        await scheduler.execute();
        await scheduler.settle();
      }
    };
    const working = [work(one), work(two)];
    const closed: { readonly from: Date; readonly to: Date }[] = [];
    const clock = async (): Promise<Date> => await box.value<Date>("SELECT clock_timestamp()");
    for (let round = 0; round < 8; round++) {
      await ruler.pause({ queue: "mail" });
      const from = await clock();
      await one.promote();
      closed.push({ from, to: await clock() });
      await ruler.resume({ queue: "mail" });
    }
    done = true;
    await Promise.all(working);

    for (const { from, to } of closed) {
      const claimed = "SELECT count(*)::integer FROM signalbox.task_run WHERE claimed_at BETWEEN $1 AND $2";
      expect(await box.value<number>(claimed, [from, to])).toBe(0);
    }
    await ruler.sweep();
    await one.runUntilIdle();
    expect(Object.keys(await statusesIn(box, "mail"))).toEqual(["DONE"]);
    expect((await one.checkInvariants()).violations).toEqual([]);
  }, 60_000);
});

it("of a run that is pruned at the same moment is refused, and leaves nothing behind", async () => {
  const scheduler = await box.scheduler();
  const { runId } = await scheduler.enqueueMany([echo.task(1)], { run: { title: "old" } });
  await scheduler.runUntilIdle();
  await makeOlder(box, 100 * 86_400_000);
  const pool = box.pool("pauser");
  const pause = pool.pauseBefore("takeGateLock");
  const rules = ruleKeeper(
    pool,
    createWakeups(pool, box.db.url, () => {}),
    () => {},
  );
  const paused = rules.pause({ runId: requireRun(runId) });
  await pause.reached;
  while (await scheduler.prune({ DONE: 1, FAILED: 1, CANCELED: 1 }));
  pause.resume();

  await expect(paused).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
  expect(await box.query("SELECT FROM signalbox.pause")).toEqual([]);
});
