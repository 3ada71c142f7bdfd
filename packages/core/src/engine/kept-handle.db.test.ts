/** What an instance runs itself with a handle kept goes on from there when the instance is lost, stopped or fenced. */

import { afterAll, afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { deferred } from "../../test/deferred.ts";
import { openFixture } from "../../test/fixture.ts";
import { HOUR_MS, outside, resetOutside, step } from "../../test/outside-job.ts";
import { leaveOpen } from "../../test/stepped-pool.ts";
import { waitUntilBlocked } from "../../test/wait-until.ts";
import { letGo } from "../executors/answers.ts";
import { defineTask, type TaskOptions } from "../executors/define-task.ts";
import { sql } from "../store/sql.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { stopExecution } from "./held-claims.ts";

const box = await openFixture(inject("adminUrl"));
beforeEach(resetOutside);
afterEach(box.clear);
afterAll(box.close);

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

  it("is not replaced by what the lost one lets go: it is told that nobody took it", async () => {
    const goOn = deferred();
    const late = defineTask({
      kind: "keeper",
      run: async (_, { keepHandle }) => {
        await keepHandle("kept", { deadlineInMs: HOUR_MS });
        await goOn.promise;
        return letGo({ handle: "late", pollInMs: HOUR_MS, deadlineInMs: HOUR_MS });
      },
      poll: async () => ({ kind: "succeeded" }),
    });
    const doomed = await box.scheduler({ tasks: [late], name: "doomed" });
    const healthy = await box.scheduler({ tasks: [late], name: "healthy" });
    const { taskRunId } = await doomed.enqueue(late.task(null, { onLost: "resume" }));
    await doomed.claim();
    const [held] = doomed.held.all();
    const executing = doomed.execute();
    await expect.poll(() => held?.handle).toBe("kept");
    await doomed.expireLease();
    expect(await healthy.rescue()).toBe(1);

    goOn.resolve();
    await executing;
    await doomed.settle();

    expect(doomed.events.at(-1)).toMatchObject({ type: "task_run.refused", taskRunId });
    expect(await box.value("SELECT handle FROM signalbox.outside_job")).toBe("kept");
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

  it.each<[string, TaskOptions, object]>([
    [
      "is where others go on, with onLost resume",
      { onLost: "resume" },
      { status: "RUNNING", claimedBy: null },
    ],
    ["goes with it, otherwise", {}, { status: "FAILED", outcome: "END_LOST" }],
  ])("of one whose end a failover has undone %s", async (_, options, becomes) => {
    const scheduler = await box.scheduler({ tasks: [keeper] });
    const { taskRunId } = await scheduler.enqueue(keeper.task(null, options));
    await scheduler.claim();
    const [held] = scheduler.held.all();
    void scheduler.execute();
    await expect.poll(() => held?.handle).toBe("kept");
    // As if its end had been recorded, on a server that is no more.
    if (held !== undefined) scheduler.held.remove(held.claim);

    await scheduler.reconcile();

    expect(await scheduler.get(taskRunId)).toMatchObject(becomes);
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
    if (held !== undefined) stopExecution(held, "shutdown");
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
