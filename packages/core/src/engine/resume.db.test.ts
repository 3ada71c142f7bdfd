/** What goes on outside survives the instances that ask after it, and those that started it. */

import { afterAll, afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { openFixture } from "../../test/fixture.ts";
import { cloud, outside, outsideSteps, resetOutside, step } from "../../test/outside-job.ts";
import { loseAnswers } from "../../test/unheard.ts";
import { MAX_INTERRUPTIONS } from "../domain/settlement.ts";
import { handBackTaskRuns } from "../store/task-runs/hand-back.ts";
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

  it("while it asked is told so, also before another asks: nobody took its answer", async () => {
    const [doomed, healthy] = [await open("doomed"), await open("healthy")];
    const taskRunId = await start(doomed);
    await due();
    await doomed.poll();
    await doomed.execute();
    await doomed.expireLease();
    await healthy.rescue();
    // Its row changes once more before the answer comes.
    await healthy.cancel(taskRunId);

    await doomed.settle();

    expect(doomed.events.at(-1)).toMatchObject({ type: "task_run.refused", taskRunId });
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
      loseAnswers(healthy.held);
      await healthy.reconcile();
    }

    expect(await healthy.get(taskRunId)).toMatchObject({ outcome: "TOO_MANY_INTERRUPTIONS" });
  });

  it.each([
    ["broken off by a stop", "shutdown"],
    ["broken off by a lost lease", "fence"],
    ["that threw", null],
  ] as const)("in between a poll %s: without an answer no loss is forgotten", async (_, because) => {
    const healthy = await open("healthy");
    const taskRunId = await start(healthy);
    for (let loss = 0; loss <= MAX_INTERRUPTIONS; loss += 1) {
      const doomed = await open("doomed");
      await due();
      expect(await doomed.poll()).toEqual([taskRunId]);
      await doomed.expireLease();
      await healthy.rescue();
      await healthy.poll();
      outside.answer = new Error("no answer");
      for (const held of healthy.held.all()) if (because !== null) stopExecution(held, because);
      await step(healthy);
    }

    expect(await healthy.get(taskRunId)).toMatchObject({ outcome: "TOO_MANY_INTERRUPTIONS" });
  });

  it("without having heard that the job is its to ask gives it back by itself", async () => {
    const scheduler = await open();
    const taskRunId = await start(scheduler);
    await due();
    await scheduler.poll();
    loseAnswers(scheduler.held);

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

it("resume without a handle is retry", async () => {
  const [doomed, healthy] = [await open("doomed"), await open("healthy")];
  const { taskId, taskRunId } = await doomed.enqueue(cloud.task(null, { onLost: "resume" }));
  await doomed.claim();
  await doomed.expireLease();

  await healthy.rescue();

  expect(await healthy.get(taskRunId)).toMatchObject({ outcome: "LEASE_LOST" });
  expect(await healthy.get(taskId)).toMatchObject({ attempt: 2, status: "PENDING" });
});
