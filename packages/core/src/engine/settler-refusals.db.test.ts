/** What the database refuses to record holds up nobody else, whoever records it. */

import { afterAll, afterEach, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import type { Outcome } from "../domain/settlement.ts";
import { defineTask } from "../executors/define-task.ts";
import { HeldClaims } from "./held-claims.ts";
import { reconcileOnce } from "./reconciler.ts";
import { createSettler } from "./settler.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

it.each([
  ["an output", "second"],
  ["none", null],
])(
  "two claims of one task run that end together: what counts is recorded, with %s, the other refused",
  async (_, output) => {
    let begun = 0;
    const twice = defineTask({
      kind: "twice",
      run: async (_, { signal }) => {
        begun += 1;
        if (begun === 2) return output;
        return await new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
        });
      },
    });
    const scheduler = await box.scheduler({ tasks: [twice] });
    const { taskRunId } = await scheduler.enqueue(twice.task(null));
    await scheduler.claim();
    const first = scheduler.execute();
    // As after a failover that undid the claim: the database gives it out again, to the same instance.
    const { instanceId } = scheduler;
    await reconcileOnce({ pool: box.pool("undo"), instanceId, held: new HeldClaims(), emit: () => {} });
    await scheduler.promote();
    await scheduler.claim();
    await Promise.all([first, scheduler.execute()]);

    await scheduler.settle();

    expect(await scheduler.get(taskRunId)).toMatchObject({ status: "DONE", output, error: null });
    expect(scheduler.events.map(({ type }) => type).sort()).toEqual(["task_run.refused", "task_run.settled"]);
    expect(scheduler.held.all()).toEqual([]);
    expect(await box.query("SELECT FROM signalbox.task_run")).toHaveLength(1);
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  },
);

const REFUSED: readonly [what: string, outcome: Outcome][] = [
  ["an output", { kind: "succeeded", output: "a\u0000b" }],
  ["a reason to defer", { kind: "deferred", delayMs: 1, reason: "a\u0000b" }],
  ["a handle", { kind: "let_go", handle: "a\u0000b", pollInMs: 1, deadlineInMs: 1 }],
  ["a time to poll", { kind: "poll_again", pollInMs: Number.NaN, answered: true, problem: null }],
];

it.each(REFUSED)("%s that no second try will store fails the task run, and says why", async (_, outcome) => {
  const scheduler = await box.scheduler();
  const { taskRunId } = await scheduler.enqueue(echo.task(1, { retry: { attempts: 3 } }));
  await scheduler.claim();
  const settler = createSettler({ pool: box.pool("settler"), batchSize: 10, emit: () => {} });
  for (const { claim } of scheduler.held.all())
    settler.add(claim, scheduler.instanceId, outcome, scheduler.held);

  expect(await settler.settleOnce()).toMatchObject({ left: 0 });

  expect(await scheduler.get(taskRunId)).toMatchObject({
    status: "FAILED",
    outcome: "RESULT_NOT_STORABLE",
    error: { message: expect.stringMatching(/refused to store the result: (?:unsupported|invalid)/) },
  });
  expect(scheduler.held.all()).toEqual([]);
  expect((await scheduler.checkInvariants()).violations).toEqual([]);
});

it("a row that stands in the way of one holds up only that one, and not for longer than it stands there", async () => {
  const scheduler = await box.scheduler();
  const { taskRuns } = await scheduler.enqueueMany([1, 2, 3].map((input) => echo.task(input)));
  const [before, stuck, after] = taskRuns.map(({ taskRunId }) => taskRunId);
  await scheduler.claim();
  await scheduler.execute();
  await box.query("INSERT INTO signalbox.task_run_result (task_run_id, output) VALUES ($1, '0')", [stuck]);

  await expect(scheduler.settle()).rejects.toMatchObject({ code: "23505" });

  expect(await box.statusOf(before ?? "")).toBe("DONE");
  expect(await box.statusOf(after ?? "")).toBe("DONE");
  expect(await box.statusOf(stuck ?? "")).toBe("RUNNING");
  const late = await scheduler.enqueue(echo.task(4));
  await scheduler.claim();
  await scheduler.execute();
  await expect(scheduler.settle()).rejects.toMatchObject({ code: "23505" });
  expect(await box.statusOf(late.taskRunId)).toBe("DONE");
  await box.query("DELETE FROM signalbox.task_run_result WHERE task_run_id = $1", [stuck]);
  await scheduler.settle();
  expect(await scheduler.get(stuck ?? "")).toMatchObject({ status: "DONE", output: 2 });
  expect(scheduler.held.all()).toEqual([]);
});

it("nor does what a lost instance left and cannot be settled: the rescue of the others goes on", async () => {
  const [doomed, healthy] = [await box.scheduler({ name: "doomed" }), await box.scheduler()];
  const { taskRuns } = await doomed.enqueueMany([1, 2, 3].map((input) => echo.task(input)));
  const [before, stuck, after] = taskRuns.map(({ taskRunId }) => taskRunId);
  await doomed.claim();
  await box.query("INSERT INTO signalbox.task_run_result (task_run_id, output) VALUES ($1, '0')", [stuck]);
  await doomed.expireLease();

  await expect(healthy.rescue()).rejects.toMatchObject({ code: "23505" });

  expect(await box.statusOf(before ?? "")).toBe("FAILED");
  expect(await box.statusOf(after ?? "")).toBe("FAILED");
  expect(healthy.events.filter(({ type }) => type === "task_run.rescued")).toHaveLength(2);
  await box.query("DELETE FROM signalbox.task_run_result WHERE task_run_id = $1", [stuck]);
  expect(await healthy.rescue()).toBe(1);
  expect((await healthy.checkInvariants()).violations).toEqual([]);
});
