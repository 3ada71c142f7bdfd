/** A promotion pass and what happens at the same moment: another pass, a settlement, a rescue, a cancel. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { cancel, promote, rescue, SUCCESS, settleAll } from "../../test/acts.ts";
import { echo, openFixture } from "../../test/fixture.ts";
import { waitUntil, waitUntilBlocked } from "../../test/wait-until.ts";
import { exclusive, shared } from "../domain/resource.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const orders = { resources: [exclusive("orders")] };
const wakes = async (): Promise<readonly string[]> =>
  (
    await box.query<{ key: string }>(
      "SELECT DISTINCT key FROM signalbox.gate_wake WHERE key NOT LIKE 'executor:%' ORDER BY key",
    )
  ).map(({ key }) => key);
const parkedAt = async (taskRunId: string): Promise<string | null> =>
  await box.value("SELECT blocked_on FROM signalbox.waiting WHERE task_run_id = $1", [taskRunId]);
const holders = async (): Promise<readonly unknown[]> =>
  await box.query("SELECT scope, slot, task_run_id, reserved_for FROM signalbox.hold ORDER BY scope, slot");

async function expectSound(scheduler: ManualScheduler): Promise<void> {
  expect((await scheduler.checkInvariants()).violations).toEqual([]);
}

describe("two promotion passes at the same moment", () => {
  it("the second passes by at once: it takes nothing, not even a wake, and tells that it missed the lock", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1, orders));
    await box.query("INSERT INTO signalbox.gate_wake (key) VALUES ('resource:other')");
    const first = box.pool("first");
    const pause = first.pauseBefore("takeWakes");

    const pass = promote(first);
    await pause.reached;
    expect(await promote(box.pool("second"))).toEqual({ kind: "lock_missed" });
    expect(await wakes()).toEqual(["resource:other"]);
    expect(await box.statusOf(taskRunId)).toBe("PENDING");
    pause.resume();

    expect(await pass).toMatchObject({ promoted: [taskRunId] });
    expect(await holders()).toMatchObject([{ scope: "resource:orders", slot: 0, task_run_id: taskRunId }]);
    await expectSound(scheduler);
  });
});

describe("a promotion pass whose session the database has ended", () => {
  it("has lost the lock and writes nothing more, and the wakes that it took are there again", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1, orders));
    await box.query("INSERT INTO signalbox.gate_wake (key) VALUES ('resource:other')");
    const promoting = box.pool("promoter");
    const pause = promoting.pauseBefore("promoteTaskRuns");

    const pass = promote(promoting);
    pass.catch(() => {});
    await pause.reached;
    const gateLock =
      "locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    await box.query(`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE ${gateLock}`);
    await waitUntil(
      "the lock is free",
      async () => (await box.query(`SELECT FROM pg_locks WHERE ${gateLock}`)).length === 0,
    );
    pause.resume();

    await pass.catch(() => {});
    expect(await box.statusOf(taskRunId)).toBe("PENDING");
    expect(await holders()).toEqual([]);
    expect(await wakes()).toEqual(["resource:other"]);
    expect(await scheduler.promote()).toMatchObject({ promoted: [taskRunId] });
    await expectSound(scheduler);
  });
});

describe("a promotion and a settlement at the same moment", () => {
  /** One has the resource, the next waits for it and no pass has looked at it yet. */
  async function oneRunsOneWaits() {
    const scheduler = await box.scheduler();
    const holder = await scheduler.enqueue(echo.task(1, orders));
    await scheduler.promote();
    await scheduler.claim();
    const next = await scheduler.enqueue(echo.task(2, orders));
    return { scheduler, holder, next };
  }

  it("promotion first: its wake outlives the pass that had read before it, and the next pass lets the next in", async () => {
    const { scheduler, holder, next } = await oneRunsOneWaits();
    const promoting = box.pool("promoter");
    // It knows by now that the resource is busy.
    const pause = promoting.pauseBefore("parkTaskRuns");

    const pass = promote(promoting);
    await pause.reached;
    await settleAll(scheduler, SUCCESS)(box.pool("settler"));
    pause.resume();

    expect(await pass).toMatchObject({ promoted: [] });
    expect(await box.statusOf(holder.taskRunId)).toBe("DONE");
    expect(await parkedAt(next.taskRunId)).toBe("RESOURCE_BUSY");
    expect(await wakes()).toEqual(["resource:orders"]);
    expect(await scheduler.promote()).toMatchObject({ promoted: [next.taskRunId] });
    await expectSound(scheduler);
  });

  it("settlement first: a pass does not count on what is not committed, and does not wait for it either", async () => {
    const { scheduler, next } = await oneRunsOneWaits();
    const settling = box.pool("settler");
    const pause = settling.pauseBefore("COMMIT");

    const settled = settleAll(scheduler, SUCCESS)(settling);
    await pause.reached;
    expect(await scheduler.promote()).toMatchObject({ kind: "passed", promoted: [] });
    pause.resume();
    await settled;

    expect(await wakes()).toEqual(["resource:orders"]);
    expect(await scheduler.promote()).toMatchObject({ promoted: [next.taskRunId] });
    await expectSound(scheduler);
  });

  it("where both count the uses of a shared resource, one waits for the other and neither count is lost", async () => {
    const scheduler = await box.scheduler();
    const together = { resources: [shared("orders")] };
    await scheduler.enqueue(echo.task(1, together));
    await scheduler.promote();
    await scheduler.claim();
    const next = await scheduler.enqueue(echo.task(2, together));
    const settling = box.pool("settler");
    const pause = settling.pauseBefore("COMMIT");

    const settled = settleAll(scheduler, SUCCESS)(settling);
    await pause.reached;
    const pass = promote(box.pool("promoter"));
    await waitUntilBlocked(box.db.client, "promoter");
    pause.resume();

    await settled;
    expect(await pass).toMatchObject({ promoted: [next.taskRunId] });
    expect(await box.query("SELECT exclusive, shared FROM signalbox.resource_use")).toEqual([
      { exclusive: 0, shared: 1 },
    ]);
    await expectSound(scheduler);
  });
});

describe("a promotion and a rescue at the same moment", () => {
  /** Its instance was lost with the resource; somebody more urgent waits for that. */
  async function oneIsLostOneWaits() {
    const [scheduler, doomed] = [await box.scheduler(), await box.scheduler({ name: "doomed" })];
    const lost = await scheduler.enqueue(echo.task(1, orders));
    await scheduler.promote();
    await doomed.claim();
    await doomed.expireLease();
    const urgent = await scheduler.enqueue(echo.task(2, { ...orders, priority: 0 }));
    return { scheduler, lost, urgent };
  }

  async function expectKeptForTheLost(
    scheduler: ManualScheduler,
    lost: { readonly taskId: string },
    urgent: { readonly taskRunId: string },
  ): Promise<void> {
    const next = await scheduler.get(lost.taskId);
    expect(await scheduler.promote()).toMatchObject({ promoted: [next.taskRunId] });
    expect(await holders()).toEqual([
      { scope: "resource:orders", slot: 0, task_run_id: next.taskRunId, reserved_for: lost.taskId },
    ]);
    await scheduler.runUntilIdle();
    expect(await scheduler.get(lost.taskId)).toMatchObject({ attempt: 2, status: "DONE" });
    expect(await box.statusOf(urgent.taskRunId)).toBe("DONE");
    await expectSound(scheduler);
  }

  it("rescue first: a pass before its commit finds the resource held, one after it finds it kept", async () => {
    const { scheduler, lost, urgent } = await oneIsLostOneWaits();
    const rescuing = box.pool("rescuer");
    const pause = rescuing.pauseBefore("recordRescue");

    const rescued = rescue(rescuing);
    await pause.reached;
    expect(await scheduler.promote()).toMatchObject({ kind: "passed", promoted: [] });
    expect(await parkedAt(urgent.taskRunId)).toBe("RESOURCE_BUSY");
    pause.resume();

    expect(await rescued).toBe(1);
    await expectKeptForTheLost(scheduler, lost, urgent);
  });

  it("promotion first: what it reads after the rescue keeps the resource for the task that was lost", async () => {
    const { scheduler, lost, urgent } = await oneIsLostOneWaits();
    const promoting = box.pool("promoter");
    // It has chosen whom it looks at, and not yet asked who has the resource.
    const pause = promoting.pauseBefore("loadHolders");

    const pass = promote(promoting);
    await pause.reached;
    expect(await rescue(box.pool("rescuer"))).toBe(1);
    pause.resume();

    expect(await pass).toMatchObject({ promoted: [] });
    await expectKeptForTheLost(scheduler, lost, urgent);
  });
});

describe("a promotion and a cancel of one that it parks, at the same moment", () => {
  async function oneHasItOneComes() {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(echo.task(1, orders));
    await scheduler.promote();
    const late = await scheduler.enqueue(echo.task(2, orders));
    return { scheduler, late };
  }
  async function expectGone(scheduler: ManualScheduler, taskRunId: string): Promise<void> {
    expect(await box.statusOf(taskRunId)).toBe("CANCELED");
    for (const table of ["waiting", "line"]) {
      expect(await box.query(`SELECT FROM signalbox.${table}`), table).toEqual([]);
    }
    expect(await wakes()).toEqual(["resource:orders"]);
    await expectSound(scheduler);
  }

  it("cancel first: the pass that waited for it puts it in no line", async () => {
    const { scheduler, late } = await oneHasItOneComes();
    const canceling = box.pool("canceler");
    const pause = canceling.pauseBefore("COMMIT");

    const answer = cancel(late.taskRunId)(canceling);
    await pause.reached;
    const pass = promote(box.pool("promoter"));
    await waitUntilBlocked(box.db.client, "promoter");
    pause.resume();

    expect(await answer).toBe("canceled");
    expect(await pass).toMatchObject({ promoted: [] });
    await expectGone(scheduler, late.taskRunId);
  });

  it("promotion first: the cancel waits for it, and takes it out of the line that it was put in", async () => {
    const { scheduler, late } = await oneHasItOneComes();
    const promoting = box.pool("promoter");
    const pause = promoting.pauseBefore("COMMIT");

    const pass = promote(promoting);
    await pause.reached;
    const answer = cancel(late.taskRunId)(box.pool("canceler"));
    await waitUntilBlocked(box.db.client, "canceler");
    pause.resume();

    await pass;
    expect(await answer).toBe("canceled");
    await expectGone(scheduler, late.taskRunId);
  });
});

describe("a promotion and a cancel of one that it has chosen, at the same moment", () => {
  it("cancel first: the slot of the run that it would have had is given to the next", async () => {
    const scheduler = await box.scheduler();
    const { taskRuns } = await scheduler.enqueueMany([echo.task(1), echo.task(2)], {
      run: { title: "nightly", limit: 1 },
    });
    const [chosen, next] = taskRuns.map(({ taskRunId }) => taskRunId);
    const canceling = box.pool("canceler");
    const pause = canceling.pauseBefore("COMMIT");

    const answer = cancel(chosen ?? "")(canceling);
    await pause.reached;
    const pass = promote(box.pool("promoter"));
    await waitUntilBlocked(box.db.client, "promoter");
    pause.resume();

    expect(await answer).toBe("canceled");
    expect(await pass).toMatchObject({ promoted: [], more: true });
    expect(await scheduler.promote()).toMatchObject({ promoted: [next] });
    await expectSound(scheduler);
  });
});
