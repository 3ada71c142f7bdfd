/** What goes on outside survives the instances that ask after it, and those that started it. */

import { afterAll, afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { deferred } from "../../test/deferred.ts";
import { openFixture } from "../../test/fixture.ts";
import { cloud, HOUR_MS, outside, outsideSteps, resetOutside, step } from "../../test/outside-job.ts";
import { leaveOpen } from "../../test/stepped-pool.ts";
import { waitUntilBlocked } from "../../test/wait-until.ts";
import { MAX_INTERRUPTIONS } from "../domain/settlement.ts";
import { defineTask, type TaskOptions } from "../executors/define-task.ts";
import { sql } from "../store/sql.ts";
import { handBackTaskRuns } from "../store/task-runs/hand-back.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { stopExecution } from "./held-claims.ts";

const box = await openFixture(inject("adminUrl"));
beforeEach(resetOutside);
afterEach(box.clear);
afterAll(box.close);
const { open, start, due, poll } = outsideSteps(box);

describe("an instance that is lost", () => {
  it("while a job goes on outside takes nothing with it", async () => {
    const [doomed, healthy] = [await open("doomed"), await open("healthy")];
    const taskRunId = await start(doomed);
    await doomed.expireLease();

    expect(await healthy.rescue()).toBe(0);

    outside.answer = { kind: "succeeded" };
    await poll(healthy);
    expect(await box.statusOf(taskRunId)).toBe("DONE");
    expect(outside.started).toBe(1);
  });

  it("while it asked gives the job back: others ask on, nothing begins again", async () => {
    const [doomed, healthy] = [await open("doomed"), await open("healthy")];
    const taskRunId = await start(doomed, { onLost: "fail" });
    await due();
    await doomed.poll();
    await doomed.expireLease();

    expect(await healthy.rescue()).toBe(1);

    expect(healthy.events).toMatchObject([
      { type: "instance.lost" },
      { type: "task_run.resumed", taskRunId, fromName: "doomed" },
    ]);
    expect(await healthy.get(taskRunId)).toMatchObject({ status: "RUNNING", claimedBy: null, attempt: 1 });
    expect(await healthy.poll()).toEqual([taskRunId]);
    // Its answer comes too late: the job is another's to ask.
    outside.answer = { kind: "failed", message: "stale" };
    await step(doomed);
    outside.answer = { kind: "succeeded" };
    await step(healthy);
    expect(doomed.events.at(-1)).toMatchObject({ type: "task_run.refused" });
    expect(await box.statusOf(taskRunId)).toBe("DONE");
    expect((await healthy.checkInvariants()).violations).toEqual([]);
  });

  it("takes nothing more, though nobody has noticed yet", async () => {
    const doomed = await open("doomed");
    await start(doomed);
    await due();
    await doomed.expireLease();

    expect(await doomed.poll()).toEqual([]);
  });

  it("while it asked cannot put off what another asks by now", async () => {
    const [doomed, healthy] = [await open("doomed"), await open("healthy")];
    const taskRunId = await start(doomed);
    await due();
    await doomed.poll();
    await doomed.execute();
    await doomed.expireLease();
    await healthy.rescue();
    expect(await healthy.poll()).toEqual([taskRunId]);

    await doomed.settle();

    expect(doomed.events.at(-1)).toMatchObject({ type: "task_run.refused" });
    expect(await healthy.get(taskRunId)).toMatchObject({ claimedBy: healthy.instanceId });
  });

  it("time and again while it asked: the job may be the reason, and fails", async () => {
    const healthy = await open("healthy");
    const taskRunId = await start(healthy);
    for (let loss = 0; loss <= MAX_INTERRUPTIONS; loss += 1) {
      const doomed = await open("doomed");
      await due();
      expect(await doomed.poll()).toEqual([taskRunId]);
      await doomed.expireLease();
      await healthy.rescue();
    }

    expect(await healthy.get(taskRunId)).toMatchObject({ outcome: "TOO_MANY_INTERRUPTIONS" });
    expect(await box.query("SELECT FROM signalbox.outside_job")).toEqual([]);
  });

  it("now and then while it asked, with answers in between, is no fault of the job", async () => {
    const healthy = await open("healthy");
    const taskRunId = await start(healthy);
    for (let loss = 0; loss <= MAX_INTERRUPTIONS; loss += 1) {
      const doomed = await open("doomed");
      await due();
      await doomed.poll();
      await doomed.expireLease();
      await healthy.rescue();
      expect(await poll(healthy)).toBe(1);
    }

    expect(await box.statusOf(taskRunId)).toBe("RUNNING");
    expect((await healthy.checkInvariants()).violations).toEqual([]);
  });

  it("that gives the job back unasked forgets no loss", async () => {
    const healthy = await open("healthy");
    const taskRunId = await start(healthy);
    for (let loss = 0; loss <= MAX_INTERRUPTIONS; loss += 1) {
      const doomed = await open("doomed");
      await due();
      await doomed.poll();
      await doomed.expireLease();
      await healthy.rescue();
      await healthy.poll();
      // As if it had never heard of it.
      for (const held of healthy.held.all()) {
        healthy.held.endExecution(held);
        healthy.held.remove(held.claim);
      }
      await healthy.reconcile();
    }

    expect(await healthy.get(taskRunId)).toMatchObject({ outcome: "TOO_MANY_INTERRUPTIONS" });
  });

  it("without having heard that the job is its to ask gives it back by itself", async () => {
    const scheduler = await open();
    const taskRunId = await start(scheduler);
    await due();
    await scheduler.poll();
    for (const held of scheduler.held.all()) {
      scheduler.held.endExecution(held);
      scheduler.held.remove(held.claim);
    }

    await scheduler.reconcile();

    expect(await scheduler.get(taskRunId)).toMatchObject({ status: "RUNNING", claimedBy: null });
    expect(await scheduler.poll()).toEqual([taskRunId]);
  });
});

it("what was let go is never handed back as if it had not started", async () => {
  const scheduler = await open();
  const taskRunId = await start(scheduler);
  await due();
  await scheduler.poll();
  const claims = scheduler.held.all().map(({ claim }) => claim);

  const back = await box
    .pool("hander")
    .transaction(async (tx) => await handBackTaskRuns(tx, scheduler.instanceId, claims));

  expect(back.size).toBe(0);
  expect(await scheduler.get(taskRunId)).toMatchObject({
    status: "RUNNING",
    claimedBy: scheduler.instanceId,
  });
});

describe("a handle that is kept while the instance runs it itself", () => {
  const keeper = defineTask({
    kind: "keeper",
    run: async (_, { keepHandle, signal }) => {
      outside.started += 1;
      await keepHandle({ execution: `kept-${outside.started}` }, { deadlineInMs: HOUR_MS });
      await new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      });
    },
    poll: async () => ({ kind: "succeeded", output: "found again" }),
  });
  async function lose(options: TaskOptions): Promise<{ taskRunId: string; healthy: ManualScheduler }> {
    const doomed = await box.scheduler({ tasks: [keeper], name: "doomed" });
    const healthy = await box.scheduler({ tasks: [keeper], name: "healthy" });
    const { taskRunId } = await doomed.enqueue(keeper.task(null, options));
    await doomed.claim();
    const [held] = doomed.held.all();
    void doomed.execute();
    await expect.poll(() => held?.handle).toBe("kept");
    await doomed.expireLease();
    expect(await healthy.rescue()).toBe(1);
    return { taskRunId, healthy };
  }

  it("is where others go on after its loss, with onLost resume", async () => {
    const { taskRunId, healthy } = await lose({ onLost: "resume" });

    expect(await healthy.get(taskRunId)).toMatchObject({ status: "RUNNING", attempt: 1, claimedBy: null });
    expect(await healthy.poll()).toEqual([taskRunId]);
    await step(healthy);

    expect(await healthy.get(taskRunId)).toMatchObject({ status: "DONE", output: "found again" });
    expect((await healthy.checkInvariants()).violations).toEqual([]);
  });

  it("is where others go on when the lease is given up: nothing begins beside it", async () => {
    const fenced = await box.scheduler({ tasks: [keeper], name: "fenced" });
    const { taskRunId } = await fenced.enqueue(keeper.task(null, { onLost: "resume" }));
    await fenced.claim();
    const [held] = fenced.held.all();
    const executing = fenced.execute();
    await expect.poll(() => held?.handle).toBe("kept");

    if (held !== undefined) stopExecution(held, "fence");
    await executing;
    await fenced.settle();

    expect(await fenced.get(taskRunId)).toMatchObject({ status: "RUNNING", attempt: 1, claimedBy: null });
    const healthy = await box.scheduler({ tasks: [keeper], name: "healthy" });
    expect(await healthy.poll()).toEqual([taskRunId]);
    await step(healthy);
    expect(await healthy.get(taskRunId)).toMatchObject({ status: "DONE", output: "found again" });
    expect(outside.started).toBe(1);
    expect((await healthy.checkInvariants()).violations).toEqual([]);
  });

  it("that a failover has lost does not hide the task run from the rescue", async () => {
    const fenced = await box.scheduler({ tasks: [keeper], name: "fenced" });
    const { taskId, taskRunId } = await fenced.enqueue(keeper.task(null, { onLost: "resume" }));
    await fenced.claim();
    const [held] = fenced.held.all();
    const executing = fenced.execute();
    await expect.poll(() => held?.handle).toBe("kept");
    await box.query("DELETE FROM signalbox.outside_job");
    if (held !== undefined) stopExecution(held, "fence");
    await executing;
    await fenced.settle();
    expect(fenced.events.at(-1)).toMatchObject({ type: "task_run.refused", taskRunId });
    await fenced.expireLease();

    const healthy = await box.scheduler({ tasks: [keeper], name: "healthy" });
    expect(await healthy.rescue()).toBe(1);

    expect(await healthy.get(taskId)).toMatchObject({ status: "PENDING", attempt: 2 });
  });

  it("counts while a newer one is on its way", async () => {
    const renewing = defineTask({
      kind: "renewing",
      run: async (_, { keepHandle, signal }) => {
        await keepHandle("first", { deadlineInMs: HOUR_MS });
        held.resolve();
        await locked.promise;
        void keepHandle("second", { deadlineInMs: HOUR_MS }).catch(() => {});
        await new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
        });
      },
      poll: async () => ({ kind: "succeeded" }),
    });
    const [held, locked] = [deferred(), deferred()];
    const leaving = await box.scheduler({ tasks: [renewing], name: "leaving" });
    const { taskRunId } = await leaving.enqueue(renewing.task(null, { onLost: "resume" }));
    await leaving.claim();
    const executing = leaving.execute();
    await held.promise;
    const lock = await leaveOpen(box.pool("holder"), async (tx) => {
      await tx.query(sql("lockIt")`SELECT FROM signalbox.task_run WHERE id = ${taskRunId} FOR UPDATE`);
    });
    locked.resolve();
    await waitUntilBlocked(box.db.client, "signalbox leaving");

    for (const each of leaving.held.all()) stopExecution(each, "shutdown");
    await executing;
    await lock.commit();
    await leaving.settle();

    expect(await leaving.get(taskRunId)).toMatchObject({ status: "RUNNING", claimedBy: null });
  });

  it("is of no use without it: the task begins again", async () => {
    const { taskRunId } = await lose({ onLost: "retry" });

    expect(await box.statusOf(taskRunId)).toBe("FAILED");
    expect(await box.query("SELECT FROM signalbox.outside_job")).toEqual([]);
  });
});

it("resume without a handle is retry", async () => {
  const [doomed, healthy] = [await open("doomed"), await open("healthy")];
  const { taskId, taskRunId } = await doomed.enqueue(cloud.task(null, { onLost: "resume" }));
  await doomed.claim();
  await doomed.expireLease();

  await healthy.rescue();

  expect(await healthy.get(taskRunId)).toMatchObject({ outcome: "LEASE_LOST" });
  expect(await healthy.get(taskId)).toMatchObject({ attempt: 2, status: "PENDING" });
});
