/** What may not start any more goes back to PENDING: without an executor, or after its window has closed. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { holdersIn, parkingIn, statusesIn } from "../../test/look.ts";
import type { TaskRunId } from "../domain/ids.ts";
import { exclusive } from "../domain/resource.ts";
import { defineTask } from "../executors/define-task.ts";
import { promoteOnce } from "./promoter.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const sql = defineTask({ kind: "sql", run: (input) => input });

describe("a kind that no live instance can run", () => {
  it("waits at NO_EXECUTOR and goes when an instance joins that can", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(sql.task(1, { resources: [exclusive("orders")] }));
    await scheduler.promote();
    expect(await parkingIn(box, taskRunId)).toBe("NO_EXECUTOR sql");
    expect(
      (await scheduler.explain(taskRunId)).gates.find(({ code }) => code === "NO_EXECUTOR"),
    ).toMatchObject({ state: "blocking", causes: [{ cause: { kind: "sql" } }] });

    const other = await box.scheduler({ name: "other", tasks: [sql] });

    expect(await scheduler.promote()).toMatchObject({ promoted: [taskRunId] });
    expect(await other.claim()).toEqual([taskRunId]);
  });

  it("goes back from AVAILABLE with the sweep, when the last instance that could is gone", async () => {
    const scheduler = await box.scheduler();
    const other = await box.scheduler({ name: "other", tasks: [sql] });
    const plain = await scheduler.enqueue(sql.task(1));
    const holder = await scheduler.enqueue(sql.task(2, { resources: [exclusive("orders")] }));
    await scheduler.promote();
    await other.expireLease();

    expect(await scheduler.promote()).toMatchObject({ demoted: [] });
    const pass = await scheduler.sweep();

    expect(pass.kind === "passed" && pass.demoted.toSorted()).toEqual([plain.taskRunId, holder.taskRunId]);
    expect(await parkingIn(box, plain.taskRunId)).toBe("NO_EXECUTOR sql");
    expect(await box.query("SELECT DISTINCT data->>'because' AS because FROM signalbox.event_store")).toEqual(
      [{ because: "NO_EXECUTOR" }],
    );
    expect(await holdersIn(box, "resource:orders")).toEqual([]);
    await box.scheduler({ name: "third", tasks: [sql] });
    await scheduler.promote();
    expect(await statusesIn(box, "default")).toEqual({ AVAILABLE: 2 });
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("keeps the sweep from being over while a full bite of them comes back", async () => {
    const scheduler = await box.scheduler();
    const other = await box.scheduler({ name: "other", tasks: [sql] });
    // The youngest are the most urgent: what comes back later stands before what the sweep has looked at.
    await scheduler.enqueueMany([5, 4, 3, 2, 1].map((priority) => sql.task(1, { priority })));
    await other.expireLease();
    const pool = box.pool("sweeper");

    for (let over = false, sweepAfter: TaskRunId | null = null; !over; ) {
      const pass = await promoteOnce({ pool, batchSize: 2, sweepAfter });
      if (pass.kind !== "passed") throw new Error("Nobody else has the lock");
      ({ sweptTo: sweepAfter, sweepOver: over } = pass);
    }

    expect(await statusesIn(box, "default")).toEqual({ PENDING: 5 });
  });

  it("goes back from AVAILABLE with the sweep, when the last instance that could is leaving", async () => {
    const scheduler = await box.scheduler();
    const other = await box.scheduler({ name: "other", tasks: [sql] });
    const { taskRunId, status } = await scheduler.enqueue(sql.task(1));
    await box.query("UPDATE signalbox.instance SET state = 'DRAINING' WHERE boot_id = $1", [
      other.instanceId,
    ]);

    expect(await scheduler.sweep()).toMatchObject({ demoted: [taskRunId], promoted: [] });

    expect(status).toBe("AVAILABLE");
    expect(await parkingIn(box, taskRunId)).toBe("NO_EXECUTOR sql");
  });

  it("is not what a draining instance could run", async () => {
    const scheduler = await box.scheduler();
    const other = await box.scheduler({ name: "other", tasks: [sql] });
    await box.query("UPDATE signalbox.instance SET state = 'DRAINING' WHERE boot_id = $1", [
      other.instanceId,
    ]);
    const { taskRunId } = await scheduler.enqueue(sql.task(1, { resources: [exclusive("orders")] }));

    await scheduler.promote();

    expect(await parkingIn(box, taskRunId)).toBe("NO_EXECUTOR sql");
  });
});

describe("one whose window closes while nobody claims it", () => {
  /** As if it had been promoted while a window was open that closes then. */
  const closeAt = async (taskRunId: string, instant: string): Promise<void> => {
    await box.query(`UPDATE signalbox.ready SET open_until = ${instant} WHERE task_run_id = $1`, [taskRunId]);
  };

  it("is not claimed after that instant, and goes back with the next pass", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { resources: [exclusive("orders")] }));
    await scheduler.promote();
    await closeAt(taskRunId, "clock_timestamp() - interval '1 ms'");

    expect(await scheduler.claim()).toEqual([]);
    // No window is there any more, so that it may go again in the same pass.
    expect(await scheduler.promote()).toMatchObject({ demoted: [taskRunId], promoted: [taskRunId] });
    expect(await scheduler.claim()).toEqual([taskRunId]);
  });

  it("is claimed before that instant, and the pass knows when to look", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1));
    await closeAt(taskRunId, "clock_timestamp() + interval '1 min'");

    const pass = await scheduler.promote();

    expect(pass).toMatchObject({ demoted: [] });
    expect(pass.kind === "passed" && pass.nextDueMs).toBeGreaterThan(50_000);
    expect(pass.kind === "passed" && pass.nextDueMs).toBeLessThanOrEqual(60_000);
    expect(await scheduler.claim()).toEqual([taskRunId]);
  });
});

describe("a demotion", () => {
  it("is recorded with the stay it ends", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId, taskId } = await scheduler.enqueue(echo.task(1, { queue: "mail" }));
    const { availableAt } = await scheduler.get(taskRunId);

    await scheduler.pause({ queue: "mail" });

    const [event] = await box.query<{ data: Record<string, unknown> }>(
      "SELECT data FROM signalbox.event_store WHERE type = 'task_run.demoted' AND aggregate_id = $1",
      [taskRunId],
    );
    expect(event?.data).toMatchObject({ from: "AVAILABLE", to: "PENDING", taskId });
    expect(new Date(String(event?.data["availableAt"]))).toEqual(availableAt);
    expect(await scheduler.get(taskRunId)).toMatchObject({ status: "PENDING", availableAt: null });
  });

  it("of what older rules of a queue let in is not the work of a rule of a resource", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { queue: "mail" }));
    await box.query("INSERT INTO signalbox.queue (name, rules_no) VALUES ('mail', 1)");

    await scheduler.pause({ resource: "orders" });
    await scheduler.setWindows({ resource: "orders" }, []);
    expect(await box.statusOf(taskRunId)).toBe("AVAILABLE");
    await scheduler.pause({ queue: "sms" });
    expect(await box.statusOf(taskRunId)).toBe("PENDING");
  });

  it("keeps the place in line", async () => {
    const scheduler = await box.scheduler({ slots: 1 });
    const first = await scheduler.enqueue(echo.task(1, { queue: "mail" }));
    await scheduler.pause({ queue: "mail" });
    await scheduler.enqueue(echo.task(2, { queue: "mail" }));
    await scheduler.resume({ queue: "mail" });
    await scheduler.promote();

    expect(await scheduler.claim()).toEqual([first.taskRunId]);
  });

  it("and a cancel at the same moment leave one of them", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { queue: "mail" }));

    await Promise.all([scheduler.pause({ queue: "mail" }), scheduler.cancel(taskRunId)]);

    expect(await box.statusOf(taskRunId)).toBe("CANCELED");
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });
});
