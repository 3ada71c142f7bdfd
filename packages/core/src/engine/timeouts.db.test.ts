/** What runs for too long is told to stop and has failed; what does not stop is settled all the same. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { deferred } from "../../test/deferred.ts";
import { openFixture } from "../../test/fixture.ts";
import { exclusive } from "../domain/resource.ts";
import type { TaskOptions } from "../executors/define-task.ts";
import { defineTask } from "../executors/define-task.ts";
import type { ExecutionContext } from "../executors/executor.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

/** Ends when it is told to, and not before. */
const obedient = async ({ signal }: ExecutionContext): Promise<never> =>
  await new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });

async function begin(
  run: (context: ExecutionContext) => unknown,
  options: TaskOptions = {},
  obeyMs = 5_000,
): Promise<{ readonly scheduler: ManualScheduler; readonly taskRunId: string; readonly taskId: string }> {
  const slow = defineTask({ kind: "slow", run: (_, context) => run(context) });
  const scheduler = await box.scheduler({ tasks: [slow], slots: 1, obeyMs });
  const enqueued = await scheduler.enqueue(slow.task(null, options));
  await scheduler.promote();
  await scheduler.claim();
  return { scheduler, ...enqueued };
}

const retry = { attempts: 2, backoff: { firstMs: 0 } };

describe("a running timeout", () => {
  it("tells the execution to stop, and fails the attempt; the next follows by policy", async () => {
    const { scheduler, taskRunId, taskId } = await begin(obedient, { timeouts: { runningMs: 20 }, retry });

    await scheduler.execute();
    await scheduler.settle();

    expect(await scheduler.get(taskRunId)).toMatchObject({
      status: "FAILED",
      outcome: "RUN_TIMEOUT",
      error: { message: "It ran for more than 20 ms" },
    });
    expect(await scheduler.get(taskId)).toMatchObject({ attempt: 2, status: "PENDING" });
  });

  it("does not undo what ended well all the same", async () => {
    const { scheduler, taskRunId } = await begin(
      async (context) => {
        await obedient(context).catch(() => {});
        return "finished on the way out";
      },
      { timeouts: { runningMs: 20 } },
    );

    await scheduler.execute();
    await scheduler.settle();

    expect(await scheduler.get(taskRunId)).toMatchObject({
      status: "DONE",
      output: "finished on the way out",
    });
  });
});

describe("a timeout of missing progress", () => {
  it("fails the attempt that gives no sign", async () => {
    const { scheduler, taskRunId } = await begin(obedient, { timeouts: { progressMs: 20 } });

    await scheduler.execute();
    await scheduler.settle();

    expect(await scheduler.get(taskRunId)).toMatchObject({ outcome: "NO_PROGRESS" });
  });

  it("begins anew with every sign", async () => {
    const progressMs = 400;
    const { scheduler, taskRunId } = await begin(
      async ({ progress, signal }) => {
        const endAt = performance.now() + 2 * progressMs;
        while (performance.now() < endAt) {
          progress();
          await new Promise((resolve) => setImmediate(resolve));
        }
        return signal.aborted;
      },
      { timeouts: { progressMs } },
    );

    await scheduler.execute();
    await scheduler.settle();

    expect(await scheduler.get(taskRunId)).toMatchObject({ status: "DONE", output: false });
  });
});

describe("a handler that ignores its signal", () => {
  const end = (): ReturnType<typeof deferred<void>> => deferred<void>();

  it("fails HANDLER_STUCK after a timeout; its slot stays taken until it ends", async () => {
    const stubborn = end();
    const { scheduler, taskRunId, taskId } = await begin(
      async () => await stubborn.promise,
      { timeouts: { runningMs: 10 }, retry, resources: [exclusive("orders")] },
      20,
    );

    await scheduler.execute();
    await scheduler.settle();

    expect(await scheduler.get(taskRunId)).toMatchObject({
      status: "FAILED",
      outcome: "HANDLER_STUCK",
      error: { message: expect.stringContaining("run_timeout") },
    });
    expect(scheduler.held.all()).toEqual([]);
    expect(scheduler.held.stuck).toBe(1);
    expect(scheduler.held.freeSlots(1)).toBe(0);
    // It may still be at work on what it held alone: only its own next attempt may have that.
    expect(await box.query("SELECT reserved_for FROM signalbox.hold")).toEqual([{ reserved_for: taskId }]);
    await scheduler.promote();
    expect(await scheduler.claim()).toEqual([]);

    stubborn.resolve();
    await stubborn.promise;
    await new Promise((resolve) => setImmediate(resolve));
    expect(scheduler.held.stuck).toBe(0);
    expect(await scheduler.claim()).toHaveLength(1);
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("is CANCELED where that was the reason, with what became of it", async () => {
    const stubborn = end();
    const { scheduler, taskRunId } = await begin(async () => await stubborn.promise, { retry }, 20);
    await scheduler.cancel(taskRunId);
    await scheduler.reconcile();

    await scheduler.execute();
    await scheduler.settle();

    expect(await scheduler.get(taskRunId)).toMatchObject({
      status: "CANCELED",
      error: { code: "HANDLER_STUCK" },
    });
    expect(await box.query("SELECT FROM signalbox.task_run")).toHaveLength(1);
    stubborn.resolve();
  });

  it("is waited for where its executor says that it always ends", async () => {
    const patient = end();
    const waited = defineTask({ kind: "waited", run: async () => await patient.promise });
    const scheduler = await box.scheduler({
      tasks: [{ ...waited, obeyMs: Number.POSITIVE_INFINITY }],
      obeyMs: 0,
    });
    const { taskRunId } = await scheduler.enqueue(waited.task(null, { timeouts: { runningMs: 1 } }));
    await scheduler.claim();
    const [held] = scheduler.held.all();
    const executing = scheduler.execute();
    await new Promise((resolve) => held?.stop.signal.addEventListener("abort", resolve, { once: true }));
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(scheduler.held.stuck).toBe(0);

    patient.resolve();
    await executing;
    await scheduler.settle();

    expect(await box.statusOf(taskRunId)).toBe("DONE");
  });
});
