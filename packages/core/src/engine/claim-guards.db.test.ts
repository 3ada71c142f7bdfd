/** What both statements that claim must obey, the one for many and the short one: each of these holds for either. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { leaveOpen } from "../../test/stepped-pool.ts";
import { waitUntil, waitUntilBlocked } from "../../test/wait-until.ts";
import { defineTask } from "../executors/define-task.ts";
import type { Transaction } from "../store/database.ts";
import { joinCluster, markDraining } from "../store/instances/instance.ts";
import { pauseScope } from "../store/rules/pause.ts";
import { sql } from "../store/sql.ts";
import { type Claim, type ClaimRequest, claimTaskRuns } from "../store/task-runs/claim.ts";
import { claimFew } from "../store/task-runs/claim-few.ts";
import { ClaimPace } from "./claim-pace.ts";
import { claimOnce } from "./claimer.ts";
import { HeldClaims } from "./held-claims.ts";
import { createScheduler } from "./scheduler.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

type Way = (tx: Transaction, request: ClaimRequest) => Promise<readonly Claim[]>;
const many: Way = async (tx, request) => (await claimTaskRuns(tx, request)).claims;
const few: Way = async (tx, request) => (await claimFew(tx, request)).claims;

async function requestOf({ freeSlots = 5, leaseMs = 60_000 } = {}): Promise<ClaimRequest> {
  const member = { name: "worker", kinds: ["echo"], slots: 10, leaseMs, mark: null };
  const instanceId = await box.pool("joiner").transaction(async (tx) => await joinCluster(tx, member));
  return { instanceId, kinds: ["echo"], freeSlots, requestNo: 7 };
}

async function enqueueFree(count: number): Promise<readonly string[]> {
  const scheduler = await box.scheduler();
  const specs = Array.from({ length: count }, (_, n) => echo.task(n));
  return (await scheduler.enqueueMany(specs)).taskRuns.map(({ taskRunId }) => taskRunId);
}

async function claimBy(way: Way, request: ClaimRequest): Promise<readonly Claim[]> {
  return await box.pool("worker").transaction(async (tx) => await way(tx, request));
}

it("answer the same", async () => {
  const scheduler = await box.scheduler();
  const spec = echo.task({ a: ["it's"] }, { title: "Copy", retry: { attempts: 2 } });
  await scheduler.enqueue(spec);
  const [ofMany] = await claimBy(many, await requestOf());
  await scheduler.enqueue(spec);
  const [ofFew] = await claimBy(few, await requestOf());

  const { taskRunId, taskId, claimNo, waitedMs, availableMs, ...rest } = ofFew as Claim;
  expect(ofMany).toMatchObject(rest);
  expect(Object.keys(ofFew ?? {}).toSorted()).toEqual(Object.keys(ofMany ?? {}).toSorted());
  expect(claimNo).toBeGreaterThan(ofMany?.claimNo ?? Number.NaN);
  expect(waitedMs).toBe(availableMs);
  expect(waitedMs).toBeLessThan(10_000);
  expect(await scheduler.get(taskRunId)).toMatchObject({ taskId, status: "RUNNING", rowVersion: 2 });
});

describe.each([
  ["for many", many],
  ["for few", few],
])("the claim %s", (_, way) => {
  it.each([
    ["DEAD", "UPDATE signalbox.instance SET state = 'DEAD'"],
    ["unknown", "DELETE FROM signalbox.instance"],
    ["of another timeline", "UPDATE signalbox.instance SET timeline = timeline - 1"],
  ])("gets nothing for an instance that is %s", async (_state, change) => {
    await enqueueFree(1);
    const request = await requestOf();
    await box.query(change);

    expect(await claimBy(way, request)).toEqual([]);
  });

  it("gets nothing for an instance that drains", async () => {
    await enqueueFree(1);
    const request = await requestOf();
    await box.pool("worker").transaction(async (tx) => await markDraining(tx, request.instanceId));

    expect(await claimBy(way, request)).toEqual([]);
  });

  it("gets nothing for an instance whose lease has run out, though nobody has marked it yet", async () => {
    await enqueueFree(1);

    expect(await claimBy(way, await requestOf({ leaseMs: -1 }))).toEqual([]);
  });

  it("gets nothing of another kind", async () => {
    await enqueueFree(1);

    expect(await claimBy(way, { ...(await requestOf()), kinds: ["other"] })).toEqual([]);
  });

  it.each([
    ["its queue has other rules since", "INSERT INTO signalbox.queue (name, rules_no) VALUES ('default', 1)"],
    ["its window has closed", "UPDATE signalbox.ready SET open_until = clock_timestamp() - interval '1 ms'"],
  ])("leaves what lies ready where %s", async (_why, change) => {
    await enqueueFree(1);
    await box.query(change);

    expect(await claimBy(way, await requestOf())).toEqual([]);
    expect(await box.query("SELECT FROM signalbox.ready")).toHaveLength(1);
  });

  it("gets nothing of what only the work set calls AVAILABLE", async () => {
    const [taskRunId] = await enqueueFree(1);
    const [claim] = await claimBy(way, await requestOf());
    await box.query("INSERT INTO signalbox.ready (kind, priority, task_run_id) VALUES ('echo', 5, $1)", [
      taskRunId,
    ]);

    expect(await claimBy(way, await requestOf())).toEqual([]);
    expect(await box.value("SELECT claim_no FROM signalbox.task_run")).toBe(`${claim?.claimNo}`);
    expect(await box.query("SELECT FROM signalbox.ready")).toEqual([]);
  });

  it("passes over what somebody else is taking, and does not wait for it", async () => {
    const [taken, free] = await enqueueFree(2);
    const other = await leaveOpen(box.pool("other"), async (tx) => {
      await tx.query(sql("lock")`SELECT FROM signalbox.ready WHERE task_run_id = ${taken} FOR UPDATE`);
    });

    const claims = await claimBy(way, await requestOf());

    await other.rollBack();
    expect(claims.map(({ taskRunId }) => taskRunId)).toEqual([free]);
  });

  it("gives one number to all that it takes, and leaves a batch with the number of the request", async () => {
    const ids = await enqueueFree(3);
    const request = await requestOf();

    const claims = await claimBy(way, request);

    expect(claims.map(({ taskRunId }) => taskRunId).toSorted()).toEqual(ids.toSorted());
    expect(
      await box.query(
        "SELECT claim_no, instance_id, request_no, cardinality(task_run_ids) AS size FROM signalbox.claim_batch",
      ),
    ).toEqual([
      { claim_no: `${claims[0]?.claimNo}`, instance_id: request.instanceId, request_no: 7, size: 3 },
    ]);
    expect(await box.query("SELECT DISTINCT claim_no, claimed_by, status FROM signalbox.task_run")).toEqual([
      { claim_no: `${claims[0]?.claimNo}`, claimed_by: request.instanceId, status: "RUNNING" },
    ]);
  });

  it("leaves no batch where it takes nothing", async () => {
    expect(await claimBy(way, await requestOf())).toEqual([]);
    expect(await box.query("SELECT FROM signalbox.claim_batch")).toEqual([]);
  });

  it("wakes those of a run that wait for their share of it, once", async () => {
    const scheduler = await box.scheduler();
    const specs = Array.from({ length: 3 }, (_each, n) => echo.task(n));
    const { runId } = await scheduler.enqueueMany(specs, { run: { title: "nightly", limit: 2 } });
    await scheduler.promote();
    const request = await requestOf();
    await box.query("DELETE FROM signalbox.gate_wake");
    await box.query(
      "UPDATE signalbox.waiting SET blocked_on = 'FAIR_SHARE', blocked_key = run_id, blocked_since = now()",
    );

    expect(await claimBy(way, request)).toHaveLength(2);

    expect(await box.query("SELECT key FROM signalbox.gate_wake")).toEqual([{ key: `run:${runId}` }]);
  });
});

describe("the claim for few", () => {
  it("takes nothing where more lies ready than it was asked for, and says so", async () => {
    await enqueueFree(4);
    const request = await requestOf({ freeSlots: 3 });

    const claimed = await box.pool("worker").transaction(async (tx) => await claimFew(tx, request));

    expect(claimed).toEqual({ claims: [], seen: 4 });
    expect(await box.query("SELECT FROM signalbox.ready")).toHaveLength(4);
  });

  it("says how many lay ready, also of those that it may not have", async () => {
    await enqueueFree(3);
    await box.query(
      "UPDATE signalbox.ready SET open_until = now() WHERE task_run_id = (SELECT min(task_run_id::text)::uuid FROM signalbox.ready)",
    );
    const request = await requestOf();

    const { claims, seen } = await box.pool("worker").transaction(async (tx) => await claimFew(tx, request));

    expect([claims.length, seen]).toEqual([2, 3]);
  });
});

describe("a claimer with a pace", () => {
  const depsOf = async (slots: number) => {
    const pool = box.pool("claimer");
    const { instanceId } = await requestOf();
    const held = new HeldClaims();
    const pace = new ClaimPace();
    return { pool, instanceId, kinds: ["echo"], slots, batchSize: 100, held, pace, isTrusted: () => true };
  };

  it("takes all that lies ready, and knows that nothing is left", async () => {
    await enqueueFree(3);
    const deps = await depsOf(5);

    expect(await claimOnce(deps)).toHaveLength(3);
    expect(deps.pace.tookAll).toBe(true);
  });

  it("takes as many as it has slots where there are more, and knows that some are left", async () => {
    await enqueueFree(9);
    const deps = await depsOf(5);

    expect(await claimOnce(deps)).toHaveLength(5);
    expect(deps.pace.tookAll).toBe(false);
    expect(await box.query("SELECT FROM signalbox.ready")).toHaveLength(4);
  });

  it("does not know that nothing is left where somebody else is taking some", async () => {
    const [taken] = await enqueueFree(2);
    const other = await leaveOpen(box.pool("other"), async (tx) => {
      await tx.query(sql("lock")`SELECT FROM signalbox.ready WHERE task_run_id = ${taken} FOR UPDATE`);
    });
    const deps = await depsOf(5);

    expect(await claimOnce(deps)).toHaveLength(1);
    expect(deps.pace.tookAll).toBe(false);
    await other.rollBack();
  });

  it("is kept out by a pause that commits after it began", async () => {
    await enqueueFree(1);
    const deps = await depsOf(5);
    const asked = { by: null, reason: null };
    const pause = await leaveOpen(
      box.pool("ruler"),
      async (tx) => await pauseScope(tx, "queue:default", asked),
    );

    const claimed = claimOnce(deps);
    await waitUntilBlocked(box.db.client, "claimer");
    await pause.commit();

    expect(await claimed).toEqual([]);
  });
});

describe("an instance with its loops", () => {
  const untilDone = async (count: number): Promise<void> => {
    const done = "SELECT FROM signalbox.task_run WHERE status = 'DONE'";
    await waitUntil(`${count} are DONE`, async () => (await box.query(done)).length === count);
  };

  async function start(slots: number) {
    let claims = 0;
    const worker = createScheduler({
      databaseUrl: box.db.url,
      tasks: [echo],
      slots,
      // No poll comes to anybody's help.
      pollIntervalMs: 60_000,
      onEvent: (event) => {
        if (event.type === "loop.passed" && event.loop === "claimer") claims += 1;
      },
    });
    await worker.start();
    return { worker, claims: () => claims };
  }

  it("claims once for a task, and not again when that has ended: nothing was left", async () => {
    const { worker, claims } = await start(10);
    const scheduler = await box.scheduler();
    await scheduler.enqueue(echo.task(0));
    await untilDone(1);
    const before = claims();

    for (const n of [1, 2, 3, 4, 5]) {
      await scheduler.enqueue(echo.task(n));
      await untilDone(n + 1);
    }

    await worker.stop();
    // Its listener may have connected only now, and that is one more.
    expect(claims() - before).toBeLessThanOrEqual(6);
  });

  it("claims again when a slot becomes free and it hears nothing of what others bring", async () => {
    let isRunning = false;
    let mayEnd = false;
    const held = defineTask({
      kind: "held",
      run: async () => {
        isRunning = true;
        await waitUntil("it may end", () => mayEnd);
      },
    });
    const scheduler = await box.scheduler();
    await scheduler.enqueue(held.task(null));
    const worker = createScheduler({
      databaseUrl: box.db.url,
      directUrl: "postgres://postgres@127.0.0.1:1/nowhere",
      tasks: [held, echo],
      pollIntervalMs: 60_000,
    });
    await worker.start();
    await waitUntil("it runs", () => isRunning);
    await scheduler.enqueue(echo.task(1));

    mayEnd = true;

    await untilDone(2);
    await worker.stop();
  });

  it("claims again when a slot becomes free and something was left", async () => {
    const { worker } = await start(1);
    const scheduler = await box.scheduler();

    await scheduler.enqueueMany(Array.from({ length: 5 }, (_, n) => echo.task(n)));

    await untilDone(5);
    await worker.stop();
  });
});
