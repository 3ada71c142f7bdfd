/** Whether an error is worth another attempt, and when: the error says so, or the kind, or the task's policy. */

import { afterAll, afterEach, expect, inject, it } from "vitest";
import { openFixture } from "../../test/fixture.ts";
import { SchedulerError } from "../domain/errors.ts";
import { type RetryDecision, RetryLaterError } from "../executors/answers.ts";
import { defineTask, NonRetryableError } from "../executors/define-task.ts";
import { ExecutionFailedError } from "../executors/executor.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

interface After {
  readonly attempts: number;
  readonly waitsMs: number | null;
}

async function after(
  error: Error,
  retryOn?: (error: unknown, attempt: number) => RetryDecision,
): Promise<After> {
  const moody = defineTask({
    kind: "moody",
    run: () => {
      throw error;
    },
    ...(retryOn === undefined ? {} : { retryOn }),
  });
  const scheduler = await box.scheduler({ tasks: [moody] });
  const retry = { attempts: 3, backoff: { firstMs: 1_000, factor: 1 } };
  await scheduler.enqueue(moody.task(null, { retry }));
  await scheduler.claim();
  await scheduler.execute();
  await scheduler.settle();
  const [{ attempts, waits } = { attempts: "0", waits: null }] = await box.query<{
    attempts: string;
    waits: number | null;
  }>(`SELECT count(*) AS attempts,
             max(extract(epoch FROM run_at - enqueued_at) * 1000) FILTER (WHERE status = 'PENDING')::float8 AS waits
        FROM signalbox.task_run`);
  return { attempts: Number(attempts), waitsMs: waits === null ? null : Math.round(waits) };
}

it("an error alone: the task's policy decides", async () => {
  const { attempts, waitsMs } = await after(new Error("no"));

  expect(attempts).toBe(2);
  expect(waitsMs).toBeGreaterThanOrEqual(500);
  expect(waitsMs).toBeLessThanOrEqual(1_001);
});

it("the kind decides by the error and the attempt", async () => {
  const asked: unknown[] = [];
  const gone = new Error("the table is gone");

  const result = await after(gone, (...question) => {
    asked.push(...question);
    return "fail";
  });

  expect(result).toEqual({ attempts: 1, waitsMs: null });
  expect(asked).toEqual([gone, 1]);
});

it("the kind says when", async () => {
  expect(await after(new Error("429"), () => ({ afterMs: 60_000 }))).toEqual({
    attempts: 2,
    waitsMs: 60_000,
  });
});

it("an error says when, whatever the kind thinks", async () => {
  expect(await after(new RetryLaterError(90_000, "come back later"), () => "fail")).toEqual({
    attempts: 2,
    waitsMs: 90_000,
  });
});

it("an error says never, whatever the kind thinks", async () => {
  expect(await after(new NonRetryableError("never"), () => "retry")).toEqual({ attempts: 1, waitsMs: null });
});

it("an executor's own failure says never, whatever the kind thinks", async () => {
  const never = new ExecutionFailedError("DISK_FULL", "no room", { retryable: false });

  expect(await after(never, () => "retry")).toEqual({ attempts: 1, waitsMs: null });
});

it("an input that is refused when it is run is never tried again", async () => {
  const refused = new SchedulerError("INVALID_INPUT", { kind: "moody", at: "", problem: "is none" });

  expect(await after(refused, () => "retry")).toEqual({ attempts: 1, waitsMs: null });
});

it.each<[string, () => RetryDecision]>([
  [
    "throws",
    () => {
      throw new Error("I do not know either");
    },
  ],
  ["asks for what no clock shows", () => ({ afterMs: Number.NaN })],
  ["is none of those there are", () => "RETRY" as RetryDecision],
  ["is a promise", () => Promise.resolve("fail") as unknown as RetryDecision],
  // A rejection that nobody handles fails the test run.
  ["is a promise that rejects", () => Promise.reject(new Error("later")) as unknown as RetryDecision],
])("a decision that %s leaves it to the task's policy", async (_, retryOn) => {
  const { attempts, waitsMs } = await after(new Error("no"), retryOn);

  expect(attempts).toBe(2);
  expect(waitsMs).toBeLessThanOrEqual(1_001);
});
