/** New attempts by hand: when they are given, when not, and what becomes of the run. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { openFaultProxy } from "../../test/fault-proxy.ts";
import { broken, echo, openFixture } from "../../test/fixture.ts";
import { waitUntilBlocked } from "../../test/wait-until.ts";
import { exclusive } from "../domain/resource.ts";
import { defineTask } from "../executors/define-task.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { retryOnce } from "./retrier.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

/** Fails the first time. */
const flaky = defineTask({
  kind: "flaky",
  run: (_, { attempt }) => {
    if (attempt === 1) throw new Error("Not yet");
  },
});
const attemptsOf = async (taskId: string) =>
  await box.query("SELECT attempt, status FROM signalbox.task_run WHERE task_id = $1 ORDER BY 1", [taskId]);
const runOf = async (runId: string | null) =>
  (
    await box.query(
      "SELECT status, open_tasks, failed_tasks, canceled_tasks FROM signalbox.run WHERE id = $1",
      [runId],
    )
  )[0];
async function expectSound(scheduler: ManualScheduler): Promise<void> {
  expect((await scheduler.checkInvariants()).violations).toEqual([]);
}

describe("a retry by hand", () => {
  it("gives a failed task one more attempt, whatever its policy says", async () => {
    const scheduler = await box.scheduler({ tasks: [flaky] });
    const { taskId, taskRunId } = await scheduler.enqueue(flaky.task(1));
    await scheduler.runUntilIdle();

    const retried = await scheduler.retry(taskRunId, { by: "ana" });

    expect(retried).toMatchObject({ taskId, attempt: 2 });
    expect(await scheduler.get(retried.taskRunId)).toMatchObject({ status: "PENDING", attempt: 2 });
    expect(
      await box.query("SELECT type, data FROM signalbox.event_store WHERE aggregate_id = $1", [
        retried.taskRunId,
      ]),
    ).toEqual([{ type: "task_run.retried", data: { by: "ana", after: taskRunId } }]);
    await scheduler.runUntilIdle();
    expect(await attemptsOf(taskId)).toEqual([
      { attempt: 1, status: "FAILED" },
      { attempt: 2, status: "DONE" },
    ]);
    await expectSound(scheduler);
  });

  it("gives a canceled one too, by the id of the task", async () => {
    const scheduler = await box.scheduler();
    const { taskId } = await scheduler.enqueue(echo.task(1, { resources: [exclusive("orders")] }));
    await scheduler.cancel(taskId);

    await scheduler.retry(taskId);
    await scheduler.runUntilIdle();

    expect(await attemptsOf(taskId)).toEqual([
      { attempt: 1, status: "CANCELED" },
      { attempt: 2, status: "DONE" },
    ]);
    await expectSound(scheduler);
  });

  it("of a task that is open or DONE is refused, and says what it is", async () => {
    const scheduler = await box.scheduler();
    const open = await scheduler.enqueue(echo.task(1, { runAt: new Date("2090-01-01") }));
    const done = await scheduler.enqueue(echo.task(1));
    await scheduler.runUntilIdle();

    await expect(scheduler.retry(open.taskId)).rejects.toMatchObject({
      code: "NOT_RETRYABLE",
      message: expect.stringContaining("attempt 1 is PENDING"),
    });
    await expect(scheduler.retry(done.taskId)).rejects.toMatchObject({
      code: "NOT_RETRYABLE",
      message: expect.stringContaining("it is DONE"),
    });
    await expect(scheduler.retry("00000000-0000-7000-8000-000000000000")).rejects.toMatchObject({
      code: "TASK_NOT_FOUND",
    });
    expect(await box.value("SELECT count(*)::int FROM signalbox.task_run")).toBe(2);
  });

  it("of an attempt that was followed by another is refused, and names that one", async () => {
    const scheduler = await box.scheduler();
    const { taskId, taskRunId } = await scheduler.enqueue(broken.task(1));
    await scheduler.runUntilIdle();
    const { taskRunId: next } = await scheduler.retry(taskRunId);
    await scheduler.runUntilIdle();

    await expect(scheduler.retry(taskRunId)).rejects.toMatchObject({
      code: "NOT_RETRYABLE",
      message: expect.stringContaining(`attempt 2 of its task followed it (${next}, FAILED)`),
    });
    expect(await attemptsOf(taskId)).toHaveLength(2);
  });

  it("whose answer was lost brings no second attempt when it is repeated", async () => {
    const proxy = await openFaultProxy(box.db.url);
    const scheduler = await box.scheduler({ databaseUrl: proxy.url });
    const { taskId, taskRunId } = await scheduler.enqueue(broken.task(1));
    await scheduler.runUntilIdle();

    const cut = proxy.cutAfterCommit();
    await expect(scheduler.retry(taskRunId)).rejects.toMatchObject({ code: "ANSWER_LOST" });
    await cut;
    await scheduler.runUntilIdle();

    await expect(scheduler.retry(taskRunId)).rejects.toMatchObject({ code: "NOT_RETRYABLE" });
    expect(await attemptsOf(taskId)).toHaveLength(2);
    await box.clear();
    await proxy.close();
  });

  it("two at once: the second waits for the first and is refused", async () => {
    const scheduler = await box.scheduler();
    const { taskId } = await scheduler.enqueue(broken.task(1));
    await scheduler.runUntilIdle();
    const one = box.pool("one");
    const pause = one.pauseBefore("insertNextAttempts");

    const first = retryOnce(one, taskId, null);
    await pause.reached;
    const second = retryOnce(box.pool("other"), taskId, null);
    second.catch(() => {});
    await waitUntilBlocked(box.db.client, "other");
    pause.resume();

    expect(await first).toMatchObject({ attempt: 2 });
    await expect(second).rejects.toMatchObject({ code: "NOT_RETRYABLE" });
    expect(await attemptsOf(taskId)).toHaveLength(2);
  });

  it("begins the count of lost instances anew", async () => {
    const [scheduler, doomed] = [await box.scheduler(), await box.scheduler({ tasks: [echo] })];
    const { taskId } = await scheduler.enqueue(echo.task(1, { onLost: "fail" }));
    await doomed.claim();
    await doomed.expireLease();
    await scheduler.rescue();

    await scheduler.retry(taskId);

    expect(
      await box.query("SELECT attempt, interruptions FROM signalbox.task_run WHERE task_id = $1 ORDER BY 1", [
        taskId,
      ]),
    ).toEqual([
      { attempt: 1, interruptions: 0 },
      { attempt: 2, interruptions: 0 },
    ]);
  });
});

describe("a retry in a run", () => {
  it("opens a run that had ended, which ends again with it", async () => {
    const scheduler = await box.scheduler({ tasks: [echo, flaky] });
    const { runId, taskRuns } = await scheduler.enqueueMany([echo.task(1), flaky.task(2)], {
      run: { title: "nightly", limit: 1 },
    });
    await scheduler.runUntilIdle();
    expect(await runOf(runId)).toMatchObject({ status: "FAILED", failed_tasks: 1 });

    await scheduler.retry(taskRuns[1]?.taskId ?? "");

    expect(await runOf(runId)).toEqual({
      status: "RUNNING",
      open_tasks: 1,
      failed_tasks: 0,
      canceled_tasks: 0,
    });
    await expectSound(scheduler);
    await scheduler.runUntilIdle();
    expect(await runOf(runId)).toEqual({ status: "DONE", open_tasks: 0, failed_tasks: 0, canceled_tasks: 0 });
    expect(
      await box.query(
        "SELECT type, data FROM signalbox.event_store WHERE aggregate_id = $1 ORDER BY aggregate_version",
        [runId],
      ),
    ).toEqual([
      { type: "run.ended", data: { status: "FAILED" } },
      { type: "run.reopened", data: { from: "FAILED" } },
      { type: "run.ended", data: { status: "DONE" } },
    ]);
    await expectSound(scheduler);
  });

  it("that goes on counts its task as open again, without an event of the run", async () => {
    const scheduler = await box.scheduler();
    const { runId, taskRuns } = await scheduler.enqueueMany(
      [broken.task(1), echo.task(2, { runAt: new Date("2090-01-01") })],
      { run: { title: "nightly" } },
    );
    await scheduler.runUntilIdle();
    expect(await runOf(runId)).toMatchObject({ status: "RUNNING", open_tasks: 1, failed_tasks: 1 });

    await scheduler.retry(taskRuns[0]?.taskId ?? "");

    expect(await runOf(runId)).toMatchObject({ status: "RUNNING", open_tasks: 2, failed_tasks: 0 });
    expect(await box.query("SELECT FROM signalbox.event_store WHERE aggregate_id = $1", [runId])).toEqual([]);
    await expectSound(scheduler);
  });
});

describe("what others made of a resource between the end of a task and its retry", () => {
  it("is no violation: neither of the order of versions, nor of what was kept after a loss", async () => {
    const [scheduler, doomed] = [await box.scheduler(), await box.scheduler({ tasks: [echo] })];
    const resources = [exclusive("orders")];
    const first = await scheduler.enqueue(echo.task(1, { resources, version: "1" }));
    await scheduler.promote();
    await doomed.claim();
    await doomed.expireLease();
    await scheduler.rescue();
    await scheduler.cancel(first.taskId);
    await scheduler.enqueue(echo.task(2, { resources, version: "2" }));
    await scheduler.runUntilIdle();

    await scheduler.retry(first.taskId);
    await expectSound(scheduler);
    await scheduler.runUntilIdle();
    await expectSound(scheduler);
  });
});

describe("retryMany", () => {
  it("retries what failed of a run and nothing else, and can be repeated", async () => {
    const scheduler = await box.scheduler({ tasks: [echo, flaky], slots: 50 });
    const specs = Array.from({ length: 130 }, (_, index) =>
      index % 2 === 0 ? flaky.task(index) : echo.task(index),
    );
    const { runId, taskRuns } = await scheduler.enqueueMany(specs, { run: { title: "nightly" } });
    await scheduler.cancel(taskRuns[1]?.taskId ?? "");
    await scheduler.runUntilIdle();
    if (runId === null) throw new Error("No run");

    expect(await scheduler.retryMany({ runId })).toEqual({ retried: 65, notRetryable: 0, notFound: 0 });
    expect(await scheduler.retryMany({ runId })).toEqual({ retried: 0, notRetryable: 0, notFound: 0 });
    await scheduler.runUntilIdle();

    expect(await runOf(runId)).toMatchObject({ status: "CANCELED", failed_tasks: 0, canceled_tasks: 1 });
    expect(await scheduler.retryMany({ runId, status: ["CANCELED"] })).toMatchObject({ retried: 1 });
    await scheduler.runUntilIdle();
    expect(await runOf(runId)).toMatchObject({ status: "DONE" });
    await expectSound(scheduler);
  });

  it("by ids says how many there were of each answer, and takes each once", async () => {
    const scheduler = await box.scheduler();
    const failed = await scheduler.enqueue(broken.task(1));
    const done = await scheduler.enqueue(echo.task(1));
    await scheduler.runUntilIdle();
    const nobody = "00000000-0000-7000-8000-000000000000";
    const ids = [failed.taskId, failed.taskRunId, failed.taskId, done.taskId, nobody, "no id"];

    expect(await scheduler.retryMany({ ids })).toEqual({ retried: 1, notRetryable: 1, notFound: 2 });
    expect(await attemptsOf(failed.taskId)).toHaveLength(2);
  });

  it("by the ids of a task and of an attempt that was followed counts the new attempt once", async () => {
    const scheduler = await box.scheduler();
    const first = await scheduler.enqueue(broken.task(1));
    await scheduler.runUntilIdle();
    const second = await scheduler.retry(first.taskId);
    await scheduler.runUntilIdle();
    const older = first.taskRunId;

    const counts = { retried: 1, notRetryable: 1, notFound: 0 };
    expect(await scheduler.retryMany({ ids: [older, first.taskId] })).toEqual(counts);
    expect(await attemptsOf(first.taskId)).toHaveLength(3);

    await scheduler.runUntilIdle();
    const third = (await scheduler.get(first.taskId)).taskRunId;
    expect(await scheduler.retryMany({ ids: [older, second.taskRunId, third] })).toEqual({
      ...counts,
      notRetryable: 2,
    });
    expect(await attemptsOf(first.taskId)).toHaveLength(4);
  });

  it("by kind since an instant does not touch what is older, another's or a later attempt", async () => {
    const scheduler = await box.scheduler();
    const old = await scheduler.enqueue(broken.task("old"));
    await scheduler.runUntilIdle();
    const again = await scheduler.enqueue(
      broken.task("again", { retry: { attempts: 2, backoff: { firstMs: 0 } } }),
    );
    // The first twelve digits of an id are the milliseconds at which it was made.
    const enqueuedSince = new Date(Number.parseInt(again.taskRunId.replace("-", "").slice(0, 12), 16));
    await scheduler.enqueue(broken.task("canceled", { runAt: new Date("2090-01-01") }));
    await scheduler.runUntilIdle();

    expect(await scheduler.retryMany({ kind: "echo", enqueuedSince })).toMatchObject({ retried: 0 });
    expect(await scheduler.retryMany({ kind: "broken", enqueuedSince })).toMatchObject({ retried: 1 });

    expect(await attemptsOf(old.taskId)).toHaveLength(1);
    expect(await attemptsOf(again.taskId)).toHaveLength(3);
  });

  it("wants to know where to look", async () => {
    const scheduler = await box.scheduler();

    await expect(scheduler.retryMany({ kind: "broken" })).rejects.toMatchObject({ code: "INVALID_FILTER" });
    await expect(scheduler.retryMany({ ids: [], status: [] })).rejects.toMatchObject({
      code: "INVALID_FILTER",
    });
  });

  it("takes null for not given, and refuses a condition that it does not know", async () => {
    const scheduler = await box.scheduler();
    const { taskId } = await scheduler.enqueue(broken.task(1));
    await scheduler.runUntilIdle();

    for (const field of ["ids", "runId", "enqueuedSince"])
      await expect(scheduler.retryMany({ [field]: null })).rejects.toMatchObject({ code: "INVALID_FILTER" });
    const strange = { ids: [taskId], queue: "mail" };
    await expect(scheduler.retryMany(strange)).rejects.toMatchObject({
      code: "INVALID_FILTER",
      message: "The filter has no condition queue, only ids, runId, kind, status, enqueuedSince",
    });
    expect(await attemptsOf(taskId)).toHaveLength(1);

    const only = { ids: [taskId], runId: null, kind: null, status: null, enqueuedSince: null } as never;
    expect(await scheduler.retryMany(only)).toMatchObject({ retried: 1 });
  });
});
