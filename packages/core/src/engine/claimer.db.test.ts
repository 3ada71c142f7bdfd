import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { leaveOpen } from "../../test/stepped-pool.ts";
import type { InstanceId } from "../domain/ids.ts";
import { exclusive } from "../domain/resource.ts";
import { defineTask } from "../executors/define-task.ts";
import type { Pool } from "../store/database.ts";
import { joinCluster, markDraining } from "../store/instances/instance.ts";
import { type ClaimRequest, claimTaskRuns, isAnyReady } from "../store/task-runs/claim.ts";
import { claimOnce } from "./claimer.ts";
import { HeldClaims } from "./held-claims.ts";
import { reconcileOnce } from "./reconciler.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

async function enqueueFree(count: number): Promise<readonly string[]> {
  const scheduler = await box.scheduler();
  const { taskRuns } = await scheduler.enqueueMany(
    Array.from({ length: count }, (_, index) => echo.task(index)),
  );
  return taskRuns.map(({ taskRunId }) => taskRunId);
}

async function requestOf(freeSlots: number, leaseMs = 60_000): Promise<ClaimRequest> {
  const pool = box.pool("joiner");
  const instanceId = await pool.transaction(
    async (tx) =>
      await joinCluster(tx, {
        name: "worker",
        kinds: ["echo"],
        slots: 10,
        leaseMs,
        mark: null,
      }),
  );
  return { instanceId, kinds: ["echo"], freeSlots, requestNo: 1 };
}

describe("a claim", () => {
  it("brings all that execution needs, and the row says who has it since when", async () => {
    const scheduler = await box.scheduler({ name: "worker-1" });
    const { taskRunId, taskId } = await scheduler.enqueue(
      echo.task({ a: [1] }, { title: "Copy", retry: { attempts: 2 } }),
    );

    expect(await scheduler.claim()).toEqual([taskRunId]);

    expect(scheduler.held.get(taskRunId)?.claim).toMatchObject({
      taskRunId,
      taskId,
      runId: null,
      kind: "echo",
      title: "Copy",
      attempt: 1,
      interruptions: 0,
      gated: false,
      input: { a: [1] },
      policy: { attempts: 2, onLost: "retry" },
    });
    const row = await scheduler.get(taskRunId);
    expect(row).toMatchObject({
      status: "RUNNING",
      claimedBy: scheduler.instanceId,
      instanceName: "worker-1",
      rowVersion: 2,
    });
    expect(row.claimedAt?.getTime()).toBeGreaterThanOrEqual(row.availableAt?.getTime() ?? Number.NaN);
  });

  it("takes only the kinds that the instance knows", async () => {
    const other = defineTask({ kind: "other", run: () => null });
    const scheduler = await box.scheduler({ tasks: [other] });
    await scheduler.enqueue(echo.task(1));
    const known = await scheduler.enqueue(other.task(2));

    expect(await scheduler.claim()).toEqual([known.taskRunId]);
    expect(await scheduler.claim()).toEqual([]);
  });

  it("takes the most urgent of all kinds first, and of equals the oldest", async () => {
    const other = defineTask({ kind: "other", run: () => null });
    const scheduler = await box.scheduler({ tasks: [echo, other], slots: 3 });
    const { taskRuns } = await scheduler.enqueueMany([
      echo.task("late"),
      other.task("urgent", { priority: 0 }),
      other.task("late too"),
      echo.task("urgent too", { priority: 1 }),
      echo.task("never now", { priority: 9 }),
    ]);
    const [oldest, urgent, , urgentToo] = taskRuns.map(({ taskRunId }) => taskRunId);

    expect(new Set(await scheduler.claim())).toEqual(new Set([urgent, urgentToo, oldest]));
  });

  it("takes the most urgent of a kind first, however many of it came before", async () => {
    const scheduler = await box.scheduler({ slots: 1 });
    await scheduler.enqueueMany([echo.task("early"), echo.task("early too")]);
    const { taskRunId } = await scheduler.enqueue(echo.task("urgent", { priority: 0 }));

    expect(await scheduler.claim()).toEqual([taskRunId]);
  });

  it("never takes more than there are free slots, also when a claim is still on its way", async () => {
    await enqueueFree(20);
    const scheduler = await box.scheduler({ slots: 3 });

    const both = await Promise.all([scheduler.claim(), scheduler.claim()]);

    expect(both.map((claimed) => claimed.length).toSorted((a, b) => a - b)).toEqual([0, 3]);
    expect(await scheduler.claim()).toEqual([]);
    await scheduler.execute();
    // RUNNING until their ends are recorded.
    expect(await scheduler.claim()).toEqual([]);
    await scheduler.settle();
    expect(await scheduler.claim()).toHaveLength(3);
  });

  it("gives one number to all that it takes, and numbers rise", async () => {
    await enqueueFree(4);
    const pool = box.pool("worker");
    const request = await requestOf(2);
    const claim = async () => await pool.transaction(async (tx) => (await claimTaskRuns(tx, request)).claims);

    const [first, second] = [await claim(), await claim()];

    expect(first[0]?.claimNo).toBe(first[1]?.claimNo);
    expect(second[0]?.claimNo).toBeGreaterThan(first[0]?.claimNo ?? Number.NaN);
    // The answer says one number for all: that they have it is said by their rows.
    for (const { taskRunId, claimNo } of [...first, ...second]) {
      const stored = await box.value("SELECT claim_no FROM signalbox.task_run WHERE id = $1", [taskRunId]);
      expect(Number(stored)).toBe(claimNo);
    }
  });

  it("gives each its own policy, also where the one that was told before is not told again", async () => {
    const scheduler = await box.scheduler();
    const attempts = [7, 7, 8, 7];
    const specs = attempts.map((most) => echo.task(most, { retry: { attempts: most } }));
    await scheduler.enqueueMany(specs);
    const pool = box.pool("worker");
    const request = await requestOf(1);

    for (const _ of attempts) {
      const [claim] = await pool.transaction(async (tx) => (await claimTaskRuns(tx, request)).claims);
      expect(claim?.policy.attempts).toBe(claim?.input);
    }
  });

  it("is not started but handed back when its answer comes after the lease could be trusted", async () => {
    const [taskRunId] = await enqueueFree(1);
    const { instanceId } = await requestOf(1);
    const held = new HeldClaims();
    let asked = 0;

    const claimed = await claimOnce({
      pool: box.pool("worker"),
      instanceId,
      kinds: ["echo"],
      slots: 1,
      batchSize: 1,
      held,
      // Yes before sending, no when the answer is there.
      isTrusted: () => asked++ === 0,
    });

    expect(claimed).toEqual([]);
    expect(held.all()).toEqual([]);
    expect(await box.statusOf(taskRunId ?? "")).toBe("PENDING");
  });

  it("is handed back later when it could not be then: it has never begun", async () => {
    const [taskRunId] = await enqueueFree(1);
    const { instanceId } = await requestOf(1);
    const held = new HeldClaims();
    const pool = box.pool("worker");
    let asked = 0;
    const failing: Pool = {
      ...pool,
      transaction: async () => {
        throw new Error("No way to the database");
      },
    };
    const deps = { pool: failing, instanceId, kinds: ["echo"], slots: 1, batchSize: 1, held };
    await claimOnce({ ...deps, isTrusted: () => asked++ === 0 });
    expect(await box.statusOf(taskRunId ?? "")).toBe("RUNNING");

    await reconcileOnce({ pool, instanceId, held, emit: () => {} });

    expect(await box.statusOf(taskRunId ?? "")).toBe("PENDING");
  });

  it("is not even asked for when the lease cannot be trusted", async () => {
    await enqueueFree(1);
    const { instanceId } = await requestOf(1);
    const deps = { pool: box.pool("worker"), instanceId, kinds: ["echo"], slots: 1, batchSize: 1 };

    await claimOnce({ ...deps, held: new HeldClaims(), isTrusted: () => false });

    expect(await box.query("SELECT FROM signalbox.claim_batch")).toEqual([]);
  });
});

describe("two claimers", () => {
  it("never get one task run: the second skips what the first is taking, and does not wait for it", async () => {
    await enqueueFree(5);
    const [one, other] = [await requestOf(3), await requestOf(5)];
    const first = await leaveOpen(box.pool("first"), async (tx) => (await claimTaskRuns(tx, one)).claims);

    const second = await box
      .pool("second")
      .transaction(async (tx) => (await claimTaskRuns(tx, other)).claims);
    await first.commit();

    const ids = [...first.result, ...second].map(({ taskRunId }) => taskRunId);
    expect([first.result.length, second.length]).toEqual([3, 2]);
    expect(new Set(ids).size).toBe(5);
  });

  it("leave nothing out and take nothing twice when there are eight of them", async () => {
    const all = await enqueueFree(120);
    const workers = await Promise.all(
      Array.from(
        { length: 8 },
        async (_, index) => await box.scheduler({ name: `worker-${index}`, slots: 7 }),
      ),
    );

    const taken: string[] = [];
    const claimOn = async (worker: (typeof workers)[number]): Promise<void> => {
      // An empty answer may only mean that all were locked at that moment: the table says when it is over.
      while ((await worker.overview()).available > 0) {
        taken.push(...(await worker.claim()));
        await worker.execute();
        await worker.settle();
      }
    };
    await Promise.all(workers.map(claimOn));

    expect(taken).toHaveLength(120);
    expect(new Set(taken)).toEqual(new Set(all));
    expect((await workers[0]?.checkInvariants())?.violations).toEqual([]);
  });

  it("are told that something is left when the other one only looked at it", async () => {
    await enqueueFree(2);
    const pool = box.pool("second");
    expect(await isAnyReady(pool, ["other", "echo"])).toBe(true);
    expect(await isAnyReady(pool, ["other"])).toBe(false);

    const all = await requestOf(2);
    await pool.transaction(async (tx) => (await claimTaskRuns(tx, all)).claims);

    expect(await isAnyReady(pool, ["other", "echo"])).toBe(false);
  });

  it("get what a claim that rolled back gave up", async () => {
    const [taskRunId] = await enqueueFree(1);
    const [one, other] = [await requestOf(1), await requestOf(1)];
    const first = await leaveOpen(box.pool("first"), async (tx) => (await claimTaskRuns(tx, one)).claims);
    await first.rollBack();

    const second = await box
      .pool("second")
      .transaction(async (tx) => (await claimTaskRuns(tx, other)).claims);

    expect(second.map((claim) => claim.taskRunId)).toEqual([taskRunId]);
  });
});

describe("a claim gets nothing", () => {
  async function claimedBy(instanceId: InstanceId): Promise<number> {
    const request = { instanceId, kinds: ["echo"], freeSlots: 5, requestNo: 1 };
    const claims = await box
      .pool("worker")
      .transaction(async (tx) => (await claimTaskRuns(tx, request)).claims);
    return claims.length;
  }

  it("for an instance that is DEAD", async () => {
    await enqueueFree(1);
    const { instanceId } = await requestOf(5);
    await box.query("UPDATE signalbox.instance SET state = 'DEAD' WHERE boot_id = $1", [instanceId]);

    expect(await claimedBy(instanceId)).toBe(0);
  });

  it("for one that drains", async () => {
    await enqueueFree(1);
    const { instanceId } = await requestOf(5);
    await box.pool("worker").transaction(async (tx) => await markDraining(tx, instanceId));

    expect(await claimedBy(instanceId)).toBe(0);
  });

  it("for one whose lease has run out, though nobody has marked it yet", async () => {
    await enqueueFree(1);
    const { instanceId } = await requestOf(5, -1);

    expect(await claimedBy(instanceId)).toBe(0);
  });

  it("for one that nobody knows", async () => {
    await enqueueFree(1);
    const { instanceId } = await requestOf(5);
    await box.query("DELETE FROM signalbox.instance WHERE boot_id = $1", [instanceId]);

    expect(await claimedBy(instanceId)).toBe(0);
  });

  it("of what only the work set calls AVAILABLE", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1));
    await scheduler.claim();
    await box.query("INSERT INTO signalbox.ready (kind, priority, task_run_id) VALUES ('echo', 5, $1)", [
      taskRunId,
    ]);

    expect(await claimedBy((await requestOf(5)).instanceId)).toBe(0);
    expect(await scheduler.get(taskRunId)).toMatchObject({ claimedBy: scheduler.instanceId });
    expect(await box.query("SELECT FROM signalbox.ready")).toEqual([]);
  });
});

describe("the batches that claims leave", () => {
  it("are forgotten with their last settlement, and not before", async () => {
    await enqueueFree(3);
    const scheduler = await box.scheduler({ slots: 3, batchSize: 3 });
    await scheduler.claim();
    const [one, ...others] = scheduler.held.all();
    const countBatches = async () => (await box.query("SELECT FROM signalbox.claim_batch")).length;

    for (const each of others) each.ended = true;
    await scheduler.execute();
    await scheduler.settle();
    expect(one?.ended).toBe(true);
    expect(await countBatches()).toBe(1);

    for (const each of others) each.ended = false;
    await scheduler.execute();
    await scheduler.settle();
    expect(await countBatches()).toBe(0);
  });

  it("are forgotten by reconcile where somebody else ended what they list", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { resources: [exclusive("a")] }));
    await scheduler.promote();
    await scheduler.claim();
    await box.query(
      `UPDATE signalbox.task_run SET status = 'FAILED', outcome = 'X', finished_at = clock_timestamp() WHERE id = $1`,
      [taskRunId],
    );

    await scheduler.reconcile();

    expect(await box.query("SELECT FROM signalbox.claim_batch")).toEqual([]);
  });
});
