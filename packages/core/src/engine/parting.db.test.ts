/** An instance that leaves or loses its lease in the middle of asking harms no job: others ask on. */

import { afterAll, afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { deferred } from "../../test/deferred.ts";
import { openFixture } from "../../test/fixture.ts";
import { HOUR_MS, outside, outsideSteps, RUNNING, resetOutside } from "../../test/outside-job.ts";
import { letGo, type PollAnswer } from "../executors/answers.ts";
import { defineTask, type TaskDefinition } from "../executors/define-task.ts";
import type { ExecutionContext } from "../executors/executor.ts";
import { keepHandle } from "../store/outside-jobs/let-go.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { stopExecution } from "./held-claims.ts";
import { rescueOnce } from "./rescuer.ts";

const box = await openFixture(inject("adminUrl"));
beforeEach(resetOutside);
afterEach(box.clear);
afterAll(box.close);
const { due } = outsideSteps(box);

/** Its work goes on outside from the first moment. */
function jobOf(acts: {
  readonly poll?: (context: ExecutionContext) => Promise<PollAnswer>;
  readonly cancelOutside?: (context: ExecutionContext) => Promise<void>;
}): TaskDefinition<unknown> {
  const { poll = async () => RUNNING, cancelOutside = async () => {} } = acts;
  return defineTask({
    kind: "job",
    run: () => {
      outside.started += 1;
      return letGo({ handle: outside.started, pollInMs: HOUR_MS, deadlineInMs: 24 * HOUR_MS });
    },
    poll: async (_, context) => await poll(context),
    cancelOutside: async (_, context) => await cancelOutside(context),
  });
}

/** Starts the job, lets it go, and takes it to ask; executes from there on. */
async function ask(
  task: TaskDefinition<unknown>,
  before: () => Promise<unknown> = async () => {},
): Promise<{
  readonly scheduler: ManualScheduler;
  readonly taskRunId: string;
  readonly asked: Promise<void>;
}> {
  const scheduler = await box.scheduler({ tasks: [task], obeyMs: 20 });
  const { taskRunId } = await scheduler.enqueue(task.task(null, { retry: { attempts: 2 } }));
  await scheduler.claim();
  await scheduler.execute();
  await scheduler.settle();
  await before();
  await due();
  await scheduler.poll();
  return { scheduler, taskRunId, asked: scheduler.execute() };
}

/** Ends as soon as it is told to. */
async function untilTold(signal: AbortSignal): Promise<void> {
  await new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

/** It is still the same attempt, and due. */
async function expectGoesOn(scheduler: ManualScheduler, taskRunId: string): Promise<void> {
  expect(await scheduler.get(taskRunId)).toMatchObject({ status: "RUNNING", attempt: 1, claimedBy: null });
  expect(
    await box.query("SELECT FROM signalbox.outside_job WHERE next_poll_at <= clock_timestamp()"),
  ).toHaveLength(1);
  expect(outside.started).toBe(1);
}

const overdue = async (): Promise<unknown> =>
  await box.query("UPDATE signalbox.outside_job SET deadline = clock_timestamp()");

describe.each(["fence", "shutdown"] as const)("told to stop by a %s", (because) => {
  it.each([
    ["in time", async () => {}],
    ["after its deadline", overdue],
  ])("whoever asks and does not stop leaves the job to others, %s", async (_, before) => {
    const [asking, end] = [deferred(), deferred<PollAnswer>()];
    const task = jobOf({
      poll: async () => {
        asking.resolve();
        return await end.promise;
      },
    });
    const { scheduler, taskRunId, asked } = await ask(task, before);
    await asking.promise;

    for (const held of scheduler.held.all()) stopExecution(held, because);
    await asked;
    await scheduler.settle();

    await expectGoesOn(scheduler, taskRunId);
    end.resolve(RUNNING);
  });

  it.each([
    ["of an overdue one", overdue],
    [
      "of a canceled one",
      async () => await box.query("UPDATE signalbox.task_run SET cancel_requested_at = clock_timestamp()"),
    ],
  ])("the end %s that was broken off is tried again by others", async (_, before) => {
    const ending = deferred();
    const task = jobOf({
      cancelOutside: async ({ signal }) => {
        ending.resolve();
        await untilTold(signal);
      },
    });
    const { scheduler, taskRunId, asked } = await ask(task, before);
    await ending.promise;

    for (const held of scheduler.held.all()) stopExecution(held, because);
    await asked;
    await scheduler.settle();

    await expectGoesOn(scheduler, taskRunId);
    expect(scheduler.events.at(-1)).toMatchObject({ type: "task_run.polled", problem: null });
  });

  it("whoever runs it with a handle and does not stop leaves it to others", async () => {
    const [kept, end] = [deferred(), deferred()];
    const keeper = defineTask({
      kind: "keeper",
      run: async (_, { keepHandle }) => {
        outside.started += 1;
        await keepHandle("job-1", { deadlineInMs: HOUR_MS });
        kept.resolve();
        await end.promise;
      },
      poll: async () => RUNNING,
    });
    const scheduler = await box.scheduler({ tasks: [keeper], obeyMs: 20 });
    const { taskRunId } = await scheduler.enqueue(keeper.task(null, { onLost: "resume" }));
    await scheduler.claim();
    const executed = scheduler.execute();
    await kept.promise;

    for (const held of scheduler.held.all()) stopExecution(held, because);
    await executed;
    await scheduler.settle();

    await expectGoesOn(scheduler, taskRunId);
    end.resolve();
  });
});

it("a cancel that comes while an overdue job is ended does not break off the end for good", async () => {
  const ending = deferred();
  const ended: string[] = [];
  const task = jobOf({
    cancelOutside: async ({ signal }) => {
      ended.push(signal.aborted ? "told" : "begun");
      ending.resolve();
      if (ended.length === 1) await untilTold(signal);
    },
  });
  const { scheduler, taskRunId, asked } = await ask(task, overdue);
  await ending.promise;
  await scheduler.cancel(taskRunId);
  await scheduler.reconcile();
  await asked;
  await scheduler.settle();
  expect(await box.statusOf(taskRunId)).toBe("RUNNING");

  await scheduler.poll();
  await scheduler.execute();
  await scheduler.settle();

  expect(ended).toEqual(["begun", "begun"]);
  expect(await box.statusOf(taskRunId)).toBe("CANCELED");
});

describe("a handle that comes too late is refused, and no row of it stays", () => {
  /** A task that keeps a handle when the test says so, whatever has become of its task run by then. */
  async function begin(run: (keep: () => Promise<void>) => Promise<void>): Promise<ManualScheduler> {
    const late = defineTask({
      kind: "late",
      run: async (_, { keepHandle }) =>
        await run(async () => await keepHandle("job-1", { deadlineInMs: HOUR_MS })),
      poll: async () => RUNNING,
    });
    const scheduler = await box.scheduler({ tasks: [late], obeyMs: 20 });
    await scheduler.enqueue(late.task(null));
    await scheduler.claim();
    return scheduler;
  }
  const jobs = async (): Promise<unknown> => await box.query("SELECT FROM signalbox.outside_job");

  it("from one that was taken for stuck", async () => {
    const [go, kept] = [deferred(), deferred()];
    const scheduler = await begin(async (keep) => {
      await go.promise;
      await keep().then(kept.resolve, kept.reject);
    });
    for (const held of scheduler.held.all()) stopExecution(held, "run_timeout");
    await scheduler.execute();

    go.resolve();

    await expect(kept.promise).rejects.toMatchObject({ because: "fence" });
    await scheduler.settle();
    expect(await jobs()).toEqual([]);
  });

  it("from one that has ended", async () => {
    let keep: () => Promise<void> = async () => {};
    const scheduler = await begin(async (given) => {
      keep = given;
    });
    await scheduler.execute();

    await expect(keep()).rejects.toMatchObject({ because: "fence" });
    await scheduler.settle();
    expect(await jobs()).toEqual([]);
  });

  it("from one that is rescued at this moment", async () => {
    const scheduler = await begin(async () => {});
    const [held] = scheduler.held.all();
    if (held === undefined) throw new Error("Nothing was claimed");
    await scheduler.expireLease();
    const rescuing = box.pool("rescuer");
    const pause = rescuing.pauseBefore("settleTaskRuns");
    const rescued = rescueOnce({ pool: rescuing, graceMs: 0, batchSize: 10, emit: () => {} });
    await pause.reached;
    const owned = { ...held.claim, claimedBy: scheduler.instanceId };
    await box
      .pool("late")
      .transaction(async (tx) => await keepHandle(tx, owned, { handle: "job-1", deadlineInMs: HOUR_MS }));
    pause.resume();

    expect(await rescued).toBe(1);
    expect(await jobs()).toEqual([]);
  });
});
