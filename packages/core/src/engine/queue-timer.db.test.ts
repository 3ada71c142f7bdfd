/** What waits for longer than it may has failed; what started in time is left alone. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import { loseAnswers } from "../../test/unheard.ts";
import { waitUntilBlocked } from "../../test/wait-until.ts";
import { exclusive } from "../domain/resource.ts";
import { DeferError } from "../executors/answers.ts";
import { defineTask } from "../executors/define-task.ts";
import { claimTaskRuns } from "../store/task-runs/claim.ts";
import { promoteOnce } from "./promoter.ts";
import { failOverdueOnce } from "./queue-timer.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const LONG_MS = 3_600_000;
const timeouts = { queuedMs: LONG_MS };

/** As if it had been enqueued so much earlier. */
async function letPass(taskRunId: string): Promise<void> {
  const earlier = async (table: string, id: string, stamp: string): Promise<unknown> =>
    await box.query(
      `UPDATE signalbox.${table} SET ${stamp} = ${stamp} - 2 * $2 * interval '1 ms' WHERE ${id} = $1`,
      [taskRunId, LONG_MS],
    );
  await earlier("task_run", "id", "enqueued_at");
  for (const table of ["waiting", "line"]) await earlier(table, "task_run_id", "enqueued_at");
  await earlier("queue_deadline", "task_run_id", "at");
}
const deadlines = async (): Promise<number> =>
  Number(await box.value("SELECT count(*) FROM signalbox.queue_deadline"));

describe("a queue timeout", () => {
  it("fails what is AVAILABLE and what is PENDING, gives back what they held, and says so", async () => {
    const scheduler = await box.scheduler();
    const held = await scheduler.enqueue(echo.task(1, { timeouts, resources: [exclusive("orders")] }));
    await scheduler.promote();
    const behind = await scheduler.enqueue(echo.task(2, { timeouts, resources: [exclusive("orders")] }));
    const free = await scheduler.enqueue(echo.task(3, { resources: [exclusive("orders")] }));
    await scheduler.promote();
    for (const { taskRunId } of [held, behind]) await letPass(taskRunId);

    expect(await scheduler.failOverdue()).toBe(2);

    for (const { taskRunId } of [held, behind]) {
      expect(await scheduler.get(taskRunId)).toMatchObject({
        status: "FAILED",
        outcome: "QUEUE_TIMEOUT",
        error: { code: "QUEUE_TIMEOUT", message: `It did not start within ${LONG_MS} ms` },
      });
    }
    expect(
      await box.query(
        "SELECT data->>'from' AS from FROM signalbox.event_store WHERE type = 'task_run.queue_timed_out' ORDER BY 1",
      ),
    ).toEqual([{ from: "AVAILABLE" }, { from: "PENDING" }]);
    expect(scheduler.events.map(({ type }) => type)).toEqual(Array(2).fill("task_run.queue_timed_out"));
    await scheduler.runUntilIdle();
    expect(await box.statusOf(free.taskRunId)).toBe("DONE");
    expect(await deadlines()).toBe(0);
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("is a failure like any other: the next attempt follows by the task's policy, with a limit of its own", async () => {
    const scheduler = await box.scheduler();
    const retry = { attempts: 2, backoff: { firstMs: 0 } };
    const { taskId, taskRunId } = await scheduler.enqueue(echo.task(1, { timeouts, retry }));
    await letPass(taskRunId);

    await scheduler.failOverdue();

    expect(await scheduler.get(taskId)).toMatchObject({ attempt: 2, status: "PENDING" });
    expect(await deadlines()).toBe(1);
    await scheduler.runUntilIdle();
    expect(await scheduler.get(taskId)).toMatchObject({ attempt: 2, status: "DONE" });
  });

  it("counts a run down that ends with it", async () => {
    const scheduler = await box.scheduler();
    const { runId, taskRuns } = await scheduler.enqueueMany([echo.task(1, { timeouts })], {
      run: { title: "nightly" },
    });
    for (const { taskRunId } of taskRuns) await letPass(taskRunId);

    await scheduler.failOverdue();

    expect(await box.value("SELECT status FROM signalbox.run WHERE id = $1", [runId])).toBe("FAILED");
  });

  it("begins with the run time where that is later, and writes no row where none was asked for", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueue(echo.task(1));
    const runAt = new Date(Date.now() + LONG_MS);
    await scheduler.enqueue(echo.task(2, { timeouts: { queuedMs: 1_000 }, runAt }));

    expect(await box.query("SELECT at FROM signalbox.queue_deadline")).toEqual([
      { at: new Date(runAt.getTime() + 1_000) },
    ]);
    expect(await scheduler.failOverdue()).toBe(0);
  });

  it("leaves alone what was claimed in time, and forgets its row", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { timeouts }));
    await scheduler.claim();
    await letPass(taskRunId);

    expect(await scheduler.failOverdue()).toBe(0);

    expect(await deadlines()).toBe(0);
    await scheduler.execute();
    await scheduler.settle();
    expect(await box.statusOf(taskRunId)).toBe("DONE");
  });

  it("counts again for one that is handed back after its row was forgotten", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { timeouts: { queuedMs: 1 } }));
    await scheduler.claim();
    await letPass(taskRunId);
    await scheduler.failOverdue();
    loseAnswers(scheduler.held);

    await scheduler.reconcile();

    expect(await box.statusOf(taskRunId)).toBe("PENDING");
    expect(await scheduler.failOverdue()).toBe(1);
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });
});

describe("at the same moment as a queue timeout", () => {
  it("a claim that is taking it was in time", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { timeouts }));
    await letPass(taskRunId);
    const claiming = box.pool("claimer");
    const pause = claiming.pauseBefore("COMMIT");
    const claim = claiming.transaction(
      async (tx) =>
        (
          await claimTaskRuns(tx, {
            instanceId: scheduler.instanceId,
            kinds: ["echo"],
            freeSlots: 1,
            requestNo: 1,
          })
        ).claims,
    );
    await pause.reached;

    expect(await scheduler.failOverdue()).toBe(0);
    pause.resume();

    expect(await claim).toHaveLength(1);
    expect(await box.statusOf(taskRunId)).toBe("RUNNING");
  });

  it("a promotion that comes in between is not overrun: the next pass fails it", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(
      echo.task(1, { timeouts, resources: [exclusive("orders")] }),
    );
    await letPass(taskRunId);
    const timing = box.pool("timer");
    const pause = timing.pauseBefore("failOverdue");
    const failing = failOverdueOnce({ pool: timing, batchSize: 10, emit: () => {} });
    await pause.reached;
    await promoteOnce({ pool: box.pool("promoter"), batchSize: 10 });
    pause.resume();

    expect(await failing).toMatchObject({ failed: 0 });
    expect(await box.statusOf(taskRunId)).toBe("AVAILABLE");
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
    expect(await scheduler.failOverdue()).toBe(1);
  });

  it.each([
    ["waits", LONG_MS, "PENDING"],
    ["may start", 0, "AVAILABLE"],
  ])(
    "one that was claimed and deferred in between %s again, for as long as it may",
    async (_, delayMs, status) => {
      const late = defineTask({
        kind: "late",
        run: () => {
          throw new DeferError(delayMs);
        },
      });
      const scheduler = await box.scheduler({ tasks: [late] });
      const { taskRunId } = await scheduler.enqueue(late.task(1, { timeouts }));
      await letPass(taskRunId);
      const timing = box.pool("timer");
      const pause = timing.pauseBefore("leaveReadyOverdue");
      const failing = failOverdueOnce({ pool: timing, batchSize: 10, emit: () => {} });
      await pause.reached;
      await scheduler.claim();
      await scheduler.execute();
      await scheduler.settle();
      await scheduler.promote();
      expect(await box.statusOf(taskRunId)).toBe(status);
      pause.resume();

      expect(await failing).toMatchObject({ failed: 0 });
      expect(await box.statusOf(taskRunId)).toBe(status);
      expect(await deadlines()).toBe(1);
      expect((await scheduler.checkInvariants()).violations).toEqual([]);
    },
  );

  it("a cancel goes first or last, and one of them ends it", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue(echo.task(1, { timeouts }));
    await letPass(taskRunId);
    const timing = box.pool("timer");
    const pause = timing.pauseBefore("COMMIT");
    const failing = failOverdueOnce({ pool: timing, batchSize: 10, emit: () => {} });
    await pause.reached;
    const canceling = scheduler.cancel(taskRunId);
    await waitUntilBlocked(box.db.client, "signalbox manual");
    pause.resume();

    expect(await failing).toMatchObject({ failed: 1 });
    expect(await canceling).toBe("ended");
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("two instances fail it once", async () => {
    const [one, other] = [await box.scheduler(), await box.scheduler()];
    const retry = { attempts: 5, backoff: { firstMs: 0 } };
    const { taskId, taskRunId } = await one.enqueue(echo.task(1, { timeouts, retry }));
    await letPass(taskRunId);
    const timing = box.pool("timer");
    const pause = timing.pauseBefore("failOverdue");
    const failing = failOverdueOnce({ pool: timing, batchSize: 10, emit: () => {} });
    await pause.reached;
    // It finds the row of the work set locked, and what it could have failed is PENDING for nobody.
    expect(await other.failOverdue()).toBe(0);
    pause.resume();
    await failing;

    expect(await other.failOverdue()).toBe(0);
    expect(await one.get(taskId)).toMatchObject({ attempt: 2, status: "PENDING" });
  });
});
