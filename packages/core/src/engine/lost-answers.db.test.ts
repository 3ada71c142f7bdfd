/** The commit lands and its answer is lost: the connection breaks between the two. */

import { afterAll, afterEach, beforeEach, expect, inject, it } from "vitest";
import { type FaultProxy, openFaultProxy } from "../../test/fault-proxy.ts";
import { openFixture } from "../../test/fixture.ts";
import { exclusive } from "../domain/resource.ts";
import { defineTask } from "../executors/define-task.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { stopExecution } from "./held-claims.ts";

const box = await openFixture(inject("adminUrl"));
let proxy: FaultProxy;
let effects: string[];
beforeEach(async () => {
  proxy = await openFaultProxy(box.db.url);
  effects = [];
});
afterEach(async () => {
  await box.clear();
  await proxy.close();
});
afterAll(box.close);

const effect = defineTask({
  kind: "effect",
  run: (input, { taskRunId, attempt }) => {
    effects.push(`${taskRunId} ${attempt}`);
    if (input === "fail") throw new Error("no");
    return input;
  },
});

const obedient = defineTask({
  kind: "obedient",
  run: (_, { signal }) => signal.throwIfAborted(),
});

async function throughProxy(): Promise<ManualScheduler> {
  return await box.scheduler({ databaseUrl: proxy.url, tasks: [effect, obedient], name: "cut off" });
}

/** The first of its kind on a connection, or one that is sent as a series with one answer. */
const WAYS = [
  ["the first of its connection", false],
  ["one like others before", true],
] as const;

/** A scheduler whose connections have done all that the task runs of these tests need. */
async function throughProxyAfter(others: boolean): Promise<ManualScheduler> {
  const scheduler = await throughProxy();
  for (let round = 0; others && round < 3; round += 1) {
    await scheduler.enqueue(effect.task("before"));
    await scheduler.claim();
    await scheduler.execute();
    await scheduler.settle();
  }
  effects = [];
  return scheduler;
}

/** Does it, and the answer to its n-th commit is lost. */
async function losingTheAnswer(act: () => Promise<unknown>, nth = 1): Promise<unknown> {
  const cut = proxy.cutAfterCommit(nth);
  const failure: unknown = await act().then(
    () => new Error("The answer came"),
    (error: unknown) => error,
  );
  await cut;
  return failure;
}

it.each(WAYS)(
  "a lost claim answer, %s: reconcile hands it back, it runs again, and has exactly one effect",
  async (_, others) => {
    const scheduler = await throughProxyAfter(others);
    const { taskRunId } = await scheduler.enqueue(effect.task(1, { resources: [exclusive("orders")] }));
    await scheduler.promote();

    expect(await losingTheAnswer(scheduler.claim)).toMatchObject({
      message: expect.stringMatching(/terminated/),
    });
    expect(await scheduler.get(taskRunId)).toMatchObject({
      status: "RUNNING",
      claimedBy: scheduler.instanceId,
    });
    expect(scheduler.held.all()).toEqual([]);

    expect(await scheduler.reconcile()).toBe(1);
    await scheduler.runUntilIdle();

    expect(await scheduler.get(taskRunId)).toMatchObject({ status: "DONE", attempt: 1 });
    expect(effects).toEqual([`${taskRunId} 1`]);
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  },
);

it("a lost claim answer does not cost a slot", async () => {
  const scheduler = await box.scheduler({ databaseUrl: proxy.url, tasks: [effect], slots: 1 });
  await scheduler.enqueueMany([effect.task(1), effect.task(2)]);

  await losingTheAnswer(scheduler.claim);

  expect(await scheduler.claim()).toHaveLength(1);
});

it.each(WAYS)("a lost settle answer, %s: it is sent again and recognised as recorded", async (_, others) => {
  const scheduler = await throughProxyAfter(others);
  const { taskRunId } = await scheduler.enqueue(effect.task({ rows: 3 }));
  await scheduler.claim();
  await scheduler.execute();

  await losingTheAnswer(scheduler.settle);
  expect(await scheduler.get(taskRunId)).toMatchObject({ status: "DONE" });
  const before = await scheduler.get(taskRunId);
  await scheduler.settle();

  expect(await scheduler.get(taskRunId)).toEqual(before);
  const told = scheduler.events.filter((event) => "taskRunId" in event && event.taskRunId === taskRunId);
  expect(told).toMatchObject([{ type: "task_run.settled", status: "DONE" }]);
  expect(scheduler.held.all()).toEqual([]);
  expect(effects).toHaveLength(1);
  expect(await box.query("SELECT FROM signalbox.claim_batch")).toEqual([]);
});

it("a lost settle answer of a failure: there is one next attempt, not two", async () => {
  const scheduler = await throughProxy();
  const retry = { attempts: 2, backoff: { firstMs: 0 } };
  const { runId } = await scheduler.enqueueMany([effect.task("fail", { retry })], {
    run: { title: "nightly" },
  });
  await scheduler.promote();
  await scheduler.claim();
  await scheduler.execute();

  await losingTheAnswer(scheduler.settle);
  await scheduler.settle();

  expect(scheduler.events).toMatchObject([{ type: "task_run.settled", status: "FAILED" }]);
  expect(
    await box.query("SELECT attempt, status FROM signalbox.task_run WHERE run_id = $1 ORDER BY 1", [runId]),
  ).toEqual([
    { attempt: 1, status: "FAILED" },
    { attempt: 2, status: "PENDING" },
  ]);
  await scheduler.runUntilIdle();
  expect(effects).toHaveLength(2);
  expect((await scheduler.checkInvariants()).violations).toEqual([]);
});

it.each([
  ["shutdown", 0, "SHUTDOWN"],
  ["shutdown", 3, "TOO_MANY_INTERRUPTIONS"],
  ["fence", 0, "LEASE_LOST"],
  ["fence", 3, "TOO_MANY_INTERRUPTIONS"],
] as const)(
  "a lost settle answer after a %s and %i interruptions: it is recognised as %s of its own",
  async (because, interruptions, outcome) => {
    const scheduler = await throughProxy();
    const { taskRunId } = await scheduler.enqueue(obedient.task(null));
    await box.query("UPDATE signalbox.task_run SET interruptions = $1::int, attempt = attempt + $1::int", [
      interruptions,
    ]);
    await scheduler.claim();
    for (const held of scheduler.held.all()) stopExecution(held, because);
    await scheduler.execute();

    await losingTheAnswer(scheduler.settle);
    await scheduler.settle();

    expect(scheduler.events).toMatchObject([{ type: "task_run.settled", taskRunId, outcome }]);
  },
);

it("a lost promotion answer: what was promoted is claimed, and nothing is promoted twice", async () => {
  const scheduler = await throughProxy();
  const { taskRunId } = await scheduler.enqueue(effect.task(1, { resources: [exclusive("orders")] }));

  await losingTheAnswer(scheduler.promote);

  expect(await scheduler.promote()).toMatchObject({ promoted: [] });
  expect(await scheduler.claim()).toEqual([taskRunId]);
});

it("a lost rescue answer: the next pass finds nothing left, and there is one next attempt", async () => {
  const doomed = await box.scheduler({ tasks: [effect] });
  const { taskId } = await doomed.enqueue(effect.task(1));
  await doomed.claim();
  await box.query("UPDATE signalbox.instance SET state = 'DEAD'");
  const scheduler = await throughProxy();
  // Its first two transactions mark instances and look what they left.
  await losingTheAnswer(scheduler.rescue, 3);

  expect(await scheduler.rescue()).toBe(0);

  expect(
    await box.query("SELECT attempt, status FROM signalbox.task_run WHERE task_id = $1 ORDER BY 1", [taskId]),
  ).toEqual([
    { attempt: 1, status: "FAILED" },
    { attempt: 2, status: "PENDING" },
  ]);
});

it.each(WAYS)(
  "a lost enqueue answer, %s, is unknown to the caller, not failed: the task is there, once",
  async (_, others) => {
    const scheduler = await throughProxyAfter(others);

    const failure = await losingTheAnswer(async () => await scheduler.enqueue(effect.task(1)));

    // Any other code would say that nothing was written.
    expect(failure).toMatchObject({ code: "ANSWER_LOST" });
    expect((await scheduler.list({ status: ["AVAILABLE"] })).taskRuns).toHaveLength(1);
    await scheduler.runUntilIdle();
    expect(effects).toHaveLength(1);
  },
);

it("a lost cancel answer: asking again says what became of it", async () => {
  const scheduler = await throughProxy();
  const { taskRunId } = await scheduler.enqueue(effect.task(1));

  await losingTheAnswer(async () => await scheduler.cancel(taskRunId));

  expect(await scheduler.cancel(taskRunId)).toBe("ended");
  expect(await scheduler.get(taskRunId)).toMatchObject({ status: "CANCELED" });
});
