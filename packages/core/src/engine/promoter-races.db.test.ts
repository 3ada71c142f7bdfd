/** Many promoters at once, and what happens to a copy of the code without the gate lock. */

import { afterAll, afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { type FaultProxy, openFaultProxy } from "../../test/fault-proxy.ts";
import { echo, openFixture } from "../../test/fixture.ts";
import type { SteppedPool } from "../../test/stepped-pool.ts";
import { waitUntil } from "../../test/wait-until.ts";
import { exclusive, shared } from "../domain/resource.ts";
import type { TaskSpec } from "../domain/task-spec.ts";
import { openPool, type Pool } from "../store/database.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { promoteOnce } from "./promoter.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

/** Runs with limits, and resources that are wanted alone and together, with versions: something for every gate. */
async function enqueueCrowd(scheduler: ManualScheduler): Promise<number> {
  const spec = (index: number): TaskSpec =>
    echo.task(index, {
      resources: [index % 3 === 0 ? exclusive(`r${index % 4}`) : shared(`r${index % 4}`)],
      ...(index % 5 === 0 ? { version: `${index}` } : {}),
      priority: index % 10,
    });
  for (let run = 0; run < 3; run += 1) {
    const specs = Array.from({ length: 10 }, (_, index) =>
      index % 2 === 0 ? echo.task(index) : spec(index),
    );
    await scheduler.enqueueMany(specs, { run: { title: `run ${run}`, limit: run + 1 } });
  }
  await scheduler.enqueueMany(Array.from({ length: 10 }, (_, index) => spec(index)));
  return 40;
}

describe("eight promoters at once", () => {
  it.each(["read committed", "repeatable read", "serializable"])(
    "never exceed a limit nor share what is held alone, where %s is the default of the database",
    async (isolation) => {
      const name = await box.value<string>("SELECT current_database()");
      await box.query(`ALTER DATABASE ${name} SET default_transaction_isolation = '${isolation}'`);
      const scheduler = await box.scheduler({ slots: 4 });
      const pools = Array.from({ length: 8 }, (_, index) =>
        openPool({ url: box.db.url, size: 1, queryTimeoutMs: 20_000, applicationName: `promoter ${index}` }),
      );
      const count = await enqueueCrowd(scheduler);
      const isOver = async (): Promise<boolean> =>
        (await scheduler.list({ status: ["DONE"], limit: 500 })).taskRuns.length === count;

      let [over, missed] = [false, 0];
      const promoteOn = async (pool: Pool): Promise<void> => {
        while (!over) if ((await promoteOnce({ pool, batchSize: 7 })).kind === "lock_missed") missed += 1;
      };
      const work = async (): Promise<void> => {
        while (!(await isOver())) {
          await scheduler.claim();
          await scheduler.execute();
          await scheduler.settle();
        }
        over = true;
      };
      await Promise.all([work(), ...pools.map(promoteOn)]).finally(() => {
        over = true;
      });
      await Promise.all(pools.map(async (pool) => await pool.close()));
      await box.query(`ALTER DATABASE ${name} RESET default_transaction_isolation`);

      // Otherwise they never met, and nothing was tried.
      expect(missed).toBeGreaterThan(0);
      expect(await scheduler.checkInvariants()).toEqual({ violations: [], notChecked: [] });
    },
  );
});

describe("a promoter whose lock statement was analysed before another promoter committed", () => {
  let proxy: FaultProxy;
  beforeEach(async () => {
    proxy = await openFaultProxy(box.db.url);
  });
  afterEach(async () => {
    await proxy.close();
  });

  it.each(["read committed", "repeatable read", "serializable"])(
    "sees what that one wrote, where %s is the default of the database",
    async (isolation) => {
      const name = await box.value<string>("SELECT current_database()");
      await box.query(`ALTER DATABASE ${name} SET default_transaction_isolation = '${isolation}'`);
      const scheduler = await box.scheduler();
      const resources = [exclusive("orders")];
      const slow = await scheduler.enqueue(echo.task(1, { resources }));

      const held = proxy.holdBeforeRunning("pg_try_advisory_xact_lock");
      const pass = promoteOnce({ pool: box.pool("late", proxy.url), batchSize: 10 });
      await held.reached;
      const urgent = await scheduler.enqueue(echo.task(2, { resources, priority: 0 }));
      expect(await scheduler.promote()).toMatchObject({ promoted: [urgent.taskRunId] });
      held.resume();

      expect(await pass).toMatchObject({ kind: "passed", promoted: [] });
      expect(await box.statusOf(slow.taskRunId)).toBe("PENDING");
      await box.query(`ALTER DATABASE ${name} RESET default_transaction_isolation`);
    },
  );
});

describe("without the gate lock", () => {
  /** A promoter that believes it has the lock. */
  function lawless(name: string): SteppedPool {
    const pool = box.pool(name);
    pool.answer("tryGateLock", [{ locked: true }]);
    return pool;
  }

  /** The wakes of its join are taken: two passes would meet there, before they meet at a gate. */
  async function schedulerAtRest(): Promise<ManualScheduler> {
    const scheduler = await box.scheduler();
    await scheduler.promote();
    return scheduler;
  }

  it("the CHECK of resource_use refuses the second holder", async () => {
    const scheduler = await schedulerAtRest();
    await scheduler.enqueue(echo.task(1, { resources: [exclusive("orders")] }));
    const first = lawless("first");
    const pause = first.pauseBefore("promoteTaskRuns");

    const decided = promoteOnce({ pool: first, batchSize: 10 });
    await pause.reached;
    const better = await scheduler.enqueue(echo.task(2, { resources: [shared("orders")], priority: 0 }));
    await promoteOnce({ pool: lawless("second"), batchSize: 10 });
    pause.resume();

    await expect(decided).rejects.toMatchObject({
      code: "23514",
      constraint: "resource_held_alone_or_shared",
    });
    expect(await box.query("SELECT id FROM signalbox.task_run WHERE status = 'AVAILABLE'")).toEqual([
      { id: better.taskRunId },
    ]);
  });

  it("the primary key of hold refuses the second in a run's slot", async () => {
    const scheduler = await schedulerAtRest();
    const versioned = { resources: [shared("orders")] };
    const { taskRuns } = await scheduler.enqueueMany(
      [echo.task(1, { ...versioned, version: "2" }), echo.task(2)],
      { run: { title: "nightly", limit: 1 } },
    );
    const first = lawless("first");
    const pause = first.pauseBefore("promoteTaskRuns");

    const decided = promoteOnce({ pool: first, batchSize: 10 });
    await pause.reached;
    // From now on the one it has chosen must wait, and the slot is the other one's.
    await scheduler.enqueue(echo.task(3, { ...versioned, version: "1" }));
    await promoteOnce({ pool: lawless("second"), batchSize: 10 });
    pause.resume();

    await expect(decided).rejects.toMatchObject({ code: "23505", constraint: "hold_pkey" });
    expect(await box.statusOf(taskRuns[0]?.taskRunId ?? "")).toBe("PENDING");
    expect(await box.statusOf(taskRuns[1]?.taskRunId ?? "")).toBe("AVAILABLE");
  });

  it.each([
    { lock: "taken away", active: 2 },
    { lock: "kept", active: 1 },
  ])(
    "and without that primary key, a limit of 1 has $active active with the lock $lock",
    async ({ lock, active }) => {
      const scheduler = await schedulerAtRest();
      const versioned = { resources: [shared("orders")] };
      await scheduler.enqueueMany([echo.task(1, { ...versioned, version: "2" }), echo.task(2)], {
        run: { title: "nightly", limit: 1 },
      });
      const promoter = (name: string): SteppedPool => (lock === "kept" ? box.pool(name) : lawless(name));
      const first = promoter("first");
      const pause = first.pauseBefore("promoteTaskRuns");
      await box.query("ALTER TABLE signalbox.hold DROP CONSTRAINT hold_pkey");
      try {
        const decided = promoteOnce({ pool: first, batchSize: 10 });
        await pause.reached;
        await scheduler.enqueue(echo.task(3, { ...versioned, version: "1" }));
        await promoteOnce({ pool: promoter("second"), batchSize: 10 });
        pause.resume();
        await decided;

        const count =
          "SELECT count(*)::integer FROM signalbox.task_run WHERE status = 'AVAILABLE' AND run_id IS NOT NULL";
        expect(await box.value(count)).toBe(active);
      } finally {
        await box.query("DELETE FROM signalbox.hold");
        await box.query("ALTER TABLE signalbox.hold ADD CONSTRAINT hold_pkey PRIMARY KEY (scope, slot)");
      }
    },
  );

  it("a count inside the UPDATE, which has no such net, really breaks the limit", async () => {
    const scheduler = await schedulerAtRest();
    const { runId, taskRuns } = await scheduler.enqueueMany([echo.task(1), echo.task(2)], {
      run: { title: "nightly", limit: 1 },
    });
    const promote = (taskRunId: string | undefined) => ({
      name: "countInUpdate",
      text: `UPDATE signalbox.task_run
                SET status = 'AVAILABLE', available_at = clock_timestamp(), row_version = row_version + 1
              WHERE id = $1 AND status = 'PENDING'
                AND (SELECT count(*) FROM signalbox.task_run WHERE run_id = $2 AND status IN ('AVAILABLE', 'RUNNING'))
                    < (SELECT task_limit FROM signalbox.run WHERE id = $2)
             RETURNING id`,
      values: [taskRunId, runId],
    });
    const [one, other] = [box.pool("first"), box.pool("second")];
    const pause = one.pauseBefore("COMMIT");

    const first = one.transaction(async (tx) => await tx.query(promote(taskRuns[0]?.taskRunId)));
    await pause.reached;
    const second = await other.transaction(async (tx) => await tx.query(promote(taskRuns[1]?.taskRunId)));
    pause.resume();

    expect([(await first).length, second.length]).toEqual([1, 1]);
    const { violations } = await scheduler.checkInvariants();
    expect(violations).toContainEqual(expect.objectContaining({ property: "S7" }));
  });
});

describe("a smaller version that comes while a promoter decides", () => {
  it("is too late for that pass, which is no violation, and in time for the next", async () => {
    const scheduler = await box.scheduler();
    const resources = [shared("orders")];
    const [third, second] = [
      await scheduler.enqueue(echo.task(3, { resources, version: "3" })),
      await scheduler.enqueue(echo.task(2, { resources, version: "2" })),
    ];
    const promoting = box.pool("promoter");
    const pause = promoting.pauseBefore("promoteTaskRuns");

    const pass = promoteOnce({ pool: promoting, batchSize: 10 });
    await pause.reached;
    const first = await scheduler.enqueue(echo.task(1, { resources, version: "1" }));
    pause.resume();

    expect(await pass).toMatchObject({ promoted: [second.taskRunId] });
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
    expect(await scheduler.promote()).toMatchObject({ promoted: [first.taskRunId] });
    await scheduler.runUntilIdle();
    expect(await box.statusOf(third.taskRunId)).toBe("DONE");
  });
});

describe("a promoter that goes silent with the gate lock", () => {
  it("loses its session within seconds, has written nothing, and another promotes", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { resources: [exclusive("orders")] }));
    const frozen = box.pool("frozen");
    // Everything is written, only the commit is missing.
    const pause = frozen.freezeBefore("COMMIT");
    const pass = promoteOnce({ pool: frozen, batchSize: 10 });
    pass.catch(() => {});
    await pause.reached;

    const begunAt = performance.now();
    await waitUntil("another promoter has the lock", async () => {
      const other = await scheduler.promote();
      return other.kind === "passed";
    });
    pause.resume();

    // Two seconds and what a busy machine adds, but not the five that every other transaction is given.
    expect(performance.now() - begunAt).toBeLessThan(4_500);
    await expect(pass).rejects.toThrow();
    expect(await box.statusOf(taskRunId)).toBe("AVAILABLE");
    expect(await box.query("SELECT task_run_id FROM signalbox.hold")).toEqual([{ task_run_id: taskRunId }]);
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });
});
