/** An outside job goes on without a slot, is asked by any instance that knows the kind, and ends in time. */

import { afterAll, afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { openFixture } from "../../test/fixture.ts";
import {
  cloud,
  HOUR_MS,
  outside,
  outsideSteps,
  RUNNING,
  resetOutside,
  step,
} from "../../test/outside-job.ts";
import { exclusive } from "../domain/resource.ts";
import { letGo } from "../executors/answers.ts";
import { defineTask, NonRetryableError } from "../executors/define-task.ts";
import { takeOutsideJobs } from "../store/outside-jobs/take.ts";
import { changeQueue } from "../store/rules/queue.ts";

const box = await openFixture(inject("adminUrl"));
beforeEach(resetOutside);
afterEach(box.clear);
afterAll(box.close);
const { open, start, due, poll } = outsideSteps(box);

async function overdue(): Promise<void> {
  await box.query("UPDATE signalbox.outside_job SET deadline = clock_timestamp()");
}

describe("a task run that was let go", () => {
  it("is RUNNING and nobody's: its slot is free, its holds stay", async () => {
    const scheduler = await open();
    const taskRunId = await start(scheduler, { resources: [exclusive("orders")] });

    expect(await scheduler.get(taskRunId)).toMatchObject({ status: "RUNNING", claimedBy: null });
    expect(scheduler.held.all()).toEqual([]);
    expect(scheduler.held.freeSlots(1)).toBe(1);
    expect(await box.query("SELECT FROM signalbox.hold")).toHaveLength(1);
    expect(await box.query("SELECT FROM signalbox.claim_batch")).toEqual([]);
    expect(scheduler.events).toMatchObject([{ type: "task_run.let_go", taskRunId, pollInMs: HOUR_MS }]);
    expect((await scheduler.list({ status: ["RUNNING"] })).taskRuns).toHaveLength(1);
    expect(await scheduler.overview()).toMatchObject({ running: 1, instances: [{ running: 0 }] });
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("is RUNNING while it is polled too, and takes no slot of whoever asks", async () => {
    const scheduler = await open();
    await start(scheduler);
    await due();
    expect(await scheduler.poll()).toHaveLength(1);

    expect(await scheduler.overview()).toMatchObject({ running: 1, instances: [{ slots: 1, running: 0 }] });
  });

  it("is polled when it is due, not before, under a new claim number each time", async () => {
    const [one, other] = [await open(), await open("other")];
    await start(one);
    expect(await other.poll()).toEqual([]);

    expect(await poll(other)).toBe(1);
    expect(await poll(one)).toBe(1);

    expect(outside.polled.map(({ handle }) => handle)).toEqual(Array(2).fill({ execution: "job-1" }));
    expect(outside.polled[1]?.fence).toBeGreaterThan(outside.polled[0]?.fence ?? 0);
    expect(outside.started).toBe(1);
    expect(other.events).toMatchObject([{ type: "task_run.polled", pollInMs: HOUR_MS, problem: null }]);
    expect((await one.checkInvariants()).violations).toEqual([]);
  });

  it("is polled although every slot is taken", async () => {
    const scheduler = await open();
    const first = await start(scheduler);
    await scheduler.enqueue(cloud.task(null));
    await scheduler.claim();
    expect(scheduler.held.freeSlots(1)).toBe(0);
    await due();

    expect(await scheduler.poll()).toEqual([first]);
    expect(scheduler.held.freeSlots(1)).toBe(0);
  });

  it("is not taken by two, and not by one that knows no way to ask", async () => {
    const [one, other] = [await open(), await open("other")];
    const taskRunId = await start(one);
    const blind = await box.scheduler({ tasks: [defineTask({ kind: "cloud", run: () => null })] });
    await due();
    expect(await blind.poll()).toEqual([]);
    const taking = box.pool("taker");
    const pause = taking.pauseBefore("COMMIT");
    const request = { instanceId: other.instanceId, kinds: ["cloud"], freeSlots: 5, requestNo: 1 };
    const taken = taking.transaction(async (tx) => await takeOutsideJobs(tx, request));
    await pause.reached;

    expect(await one.poll()).toEqual([]);
    pause.resume();

    expect(await taken).toMatchObject([{ taskRunId }]);
  });

  it("takes a slot of its queue's first limit", async () => {
    const scheduler = await open();
    const taskRunId = await start(scheduler, { queue: "night" });

    await box.pool("rules").transaction(async (tx) => await changeQueue(tx, "night", { limit: 1 }));
    await scheduler.enqueue(cloud.task(null, { queue: "night" }));
    await scheduler.promote();

    expect(await box.query("SELECT task_run_id FROM signalbox.hold")).toEqual([{ task_run_id: taskRunId }]);
    expect(await scheduler.overview()).toMatchObject({ waiting: { QUEUE_LIMIT: 1 } });
    outside.answer = { kind: "succeeded" };
    await poll(scheduler);
    await scheduler.promote();
    expect(await scheduler.overview()).toMatchObject({ waiting: {}, available: 1 });
  });
});

describe("the answer to a poll", () => {
  it("succeeded: DONE with the output, and nothing is left of the job", async () => {
    const scheduler = await open();
    const taskRunId = await start(scheduler, { resources: [exclusive("orders")] });
    outside.answer = { kind: "succeeded", output: { rows: 3 } };

    await poll(scheduler);

    expect(await scheduler.get(taskRunId)).toMatchObject({ status: "DONE", output: { rows: 3 } });
    for (const table of ["outside_job", "claim_batch", "hold"])
      expect(await box.query(`SELECT FROM signalbox.${table}`), table).toEqual([]);
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("failed: FAILED, and the next attempt starts a job of its own", async () => {
    const scheduler = await open();
    const taskRunId = await start(scheduler, { retry: { attempts: 2, backoff: { firstMs: 0 } } });
    outside.answer = { kind: "failed", message: "exit code 3" };

    await poll(scheduler);

    expect(await scheduler.get(taskRunId)).toMatchObject({
      outcome: "OUTSIDE_JOB_FAILED",
      error: { message: "exit code 3" },
    });
    await scheduler.promote();
    await scheduler.claim();
    await step(scheduler);
    expect(outside.started).toBe(2);
    expect(await box.value("SELECT handle FROM signalbox.outside_job")).toEqual({ execution: "job-2" });
  });

  it("that does not come says nothing about the job: it is asked again", async () => {
    const scheduler = await open();
    const taskRunId = await start(scheduler);
    outside.answer = new Error("503");

    await poll(scheduler);
    expect(await box.statusOf(taskRunId)).toBe("RUNNING");
    expect(scheduler.events.at(-1)).toMatchObject({ type: "task_run.polled", problem: "503" });
    outside.answer = { kind: "succeeded" };
    await poll(scheduler);

    expect(await box.statusOf(taskRunId)).toBe("DONE");
  });

  it("that the job is unknown for good fails the task run", async () => {
    const scheduler = await open();
    const taskRunId = await start(scheduler);
    outside.answer = new NonRetryableError("no such job");

    await poll(scheduler);

    expect(await box.statusOf(taskRunId)).toBe("FAILED");
  });
});

describe("the deadline of an outside job", () => {
  it("ends the job, then fails the task run", async () => {
    const scheduler = await open();
    const taskRunId = await start(scheduler);
    await overdue();

    await poll(scheduler);

    expect(outside.ended).toEqual([{ execution: "job-1" }]);
    expect(await scheduler.get(taskRunId)).toMatchObject({
      status: "FAILED",
      outcome: "OUTSIDE_JOB_TIMEOUT",
    });
  });

  it("fails it also when the job cannot be asked or ended", async () => {
    const scheduler = await open();
    const taskRunId = await start(scheduler);
    await overdue();
    outside.answer = new Error("503");
    outside.endProblem = new Error("503");

    await poll(scheduler);

    expect(await scheduler.get(taskRunId)).toMatchObject({ outcome: "OUTSIDE_JOB_TIMEOUT" });
  });

  it("does not undo a job that has ended by then", async () => {
    const scheduler = await open();
    const taskRunId = await start(scheduler);
    await overdue();
    outside.answer = { kind: "succeeded" };

    await poll(scheduler);

    expect(await box.statusOf(taskRunId)).toBe("DONE");
    expect(outside.ended).toEqual([]);
  });
});

describe("a cancel of an outside job", () => {
  it("makes it due at once, and whoever polls ends the job", async () => {
    const scheduler = await open();
    const taskRunId = await start(scheduler);

    expect(await scheduler.cancel(taskRunId)).toBe("canceling");
    expect(await scheduler.poll()).toEqual([taskRunId]);
    await step(scheduler);

    expect(outside.ended).toEqual([{ execution: "job-1" }]);
    expect(outside.polled).toEqual([]);
    expect(await scheduler.get(taskRunId)).toMatchObject({ status: "CANCELED", outcome: "CANCELED" });
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("of many finds it too, though it is in no batch, and counts it once", async () => {
    const scheduler = await open();
    const taskRunId = await start(scheduler);

    expect(await scheduler.cancelMany({ kind: "cloud" })).toMatchObject({ canceling: 1, ended: 0 });

    expect(await scheduler.poll()).toEqual([taskRunId]);
    expect(await scheduler.cancelMany({ kind: "cloud" })).toMatchObject({ canceling: 1, ended: 0 });
    await step(scheduler);
    expect(await box.statusOf(taskRunId)).toBe("CANCELED");
  });

  it("is tried again when the job could not be ended", async () => {
    const scheduler = await open();
    const taskRunId = await start(scheduler);
    await scheduler.cancel(taskRunId);
    outside.endProblem = new Error("503");
    await poll(scheduler);
    expect(await box.statusOf(taskRunId)).toBe("RUNNING");

    outside.endProblem = null;
    await poll(scheduler);

    expect(await box.statusOf(taskRunId)).toBe("CANCELED");
  });

  it("that comes while it is being let go finds it at once", async () => {
    const scheduler = await open();
    const { taskRunId } = await scheduler.enqueue(cloud.task(null));
    await scheduler.claim();
    await scheduler.cancel(taskRunId);

    await step(scheduler);

    expect(await scheduler.poll()).toEqual([taskRunId]);
  });

  it("that comes during a poll reaches whoever asks", async () => {
    const scheduler = await open();
    const taskRunId = await start(scheduler);
    await due();
    await scheduler.poll();
    await scheduler.cancel(taskRunId);

    await scheduler.reconcile();

    expect(scheduler.held.get(taskRunId)?.stop.signal.aborted).toBe(true);
  });
});

it.each([
  ["without a way to ask", "lone", letGo({ handle: 1, pollInMs: 1, deadlineInMs: 1 })],
  [
    "with a handle that cannot be stored",
    "cloud",
    letGo({ handle: "a\u0000b", pollInMs: 1, deadlineInMs: 1 }),
  ],
])("letting go %s fails for good", async (_, kind, output) => {
  const task =
    kind === "cloud"
      ? defineTask({ kind, run: () => output, poll: async () => RUNNING })
      : defineTask({ kind, run: () => output });
  const scheduler = await box.scheduler({ tasks: [task] });
  const { taskRunId } = await scheduler.enqueue(task.task(null, { retry: { attempts: 3 } }));
  await scheduler.claim();
  await step(scheduler);

  expect(await scheduler.get(taskRunId)).toMatchObject({ status: "FAILED", outcome: "CANNOT_LET_GO" });
});
