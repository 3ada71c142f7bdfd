/** Whatever a handler gives back or throws, its task run comes to an end that can be stored and read. */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { openFixture } from "../../test/fixture.ts";
import type { TaskRunDetail } from "../domain/task-run.ts";
import { defineTask } from "../executors/define-task.ts";
import { createSettler } from "./settler.ts";
import type { SchedulerEvent } from "./telemetry.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

async function resultOf(run: () => unknown): Promise<TaskRunDetail> {
  const odd = defineTask({ kind: "odd", run });
  const scheduler = await box.scheduler({ tasks: [odd] });
  const { taskRunId } = await scheduler.enqueue(odd.task(null, { retry: { attempts: 3 } }));
  await scheduler.claim();
  await scheduler.execute();
  await scheduler.settle();
  return await scheduler.get(taskRunId);
}

const cycle: { self?: unknown } = {};
cycle.self = cycle;

describe("an output", () => {
  it.each([
    ["nothing", undefined, null],
    ["null", null, null],
    ["false", false, false],
    ["an empty text", "", ""],
    ["a list of everything", [1, "a", null, { b: [true] }], [1, "a", null, { b: [true] }]],
    ["text of other alphabets", { ключ: "値 🚂" }, { ключ: "値 🚂" }],
  ])("of %s is kept", async (_, output, kept) => {
    expect(await resultOf(() => output)).toMatchObject({ status: "DONE", output: kept });
  });

  it.each([
    ["a NUL character", { text: "a\u0000b" }],
    ["half of a surrogate pair", ["\ud800"]],
    ["a number that is none", { rate: Number.NaN }],
    ["a bigint", 1n],
    ["a function", () => 1],
    ["a cycle", cycle],
    ["something much too large", "x".repeat(300_000)],
  ])("with %s fails the attempt for good, and says where", async (_, output) => {
    expect(await resultOf(() => output)).toMatchObject({
      status: "FAILED",
      outcome: "OUTPUT_NOT_STORABLE",
      output: null,
      error: { code: "OUTPUT_NOT_STORABLE", message: expect.stringMatching(/^The output/) },
    });
  });
});

describe("what is thrown", () => {
  it.each<[string, unknown, string]>([
    ["an error with a NUL character", new Error("a\u0000b"), "a\ufffdb"],
    ["an error with half of a surrogate pair", new Error("a\udc00b"), "a\ufffdb"],
    ["a text", "no", "no"],
    ["nothing", undefined, "undefined"],
    ["a symbol", Symbol("odd"), "Symbol(odd)"],
    ["an object without a text", Object.create(null), "threw something that cannot be shown"],
    ["a very long message", new Error("x".repeat(5_000)), "x".repeat(2_000)],
    [
      "a message that is cut in the middle of a character",
      new Error(`${"x".repeat(1_999)}🚂`),
      `${"x".repeat(1_999)}\ufffd`,
    ],
  ])("%s: the attempt has failed, with a message that can be read", async (_, thrown, message) => {
    const failed = await resultOf(() => {
      throw thrown;
    });

    expect(failed).toMatchObject({
      status: "FAILED",
      outcome: "HANDLER_FAILED",
      error: { code: "HANDLER_FAILED", message },
    });
  });

  it("an error whose message cannot be read: the attempt has failed all the same", async () => {
    const trap = new Error("trap");
    Object.defineProperty(trap, "message", {
      get: () => {
        throw new Error("sprung");
      },
    });

    expect(
      await resultOf(() => {
        throw trap;
      }),
    ).toMatchObject({ status: "FAILED", outcome: "HANDLER_FAILED" });
  });
});

it("what a handler is told can be copied, with all that is made on demand", async () => {
  const seen: string[] = [];
  const copying = defineTask({
    kind: "copying",
    run: (_, context) => {
      const copy = { ...context, more: true };
      copy.log("by the copy");
      seen.push(...Object.entries(copy).map(([name, value]) => `${name} ${typeof value}`));
      copy.signal.throwIfAborted();
    },
  });
  const scheduler = await box.scheduler({ tasks: [copying] });
  const { taskRunId } = await scheduler.enqueue(copying.task(null));
  await scheduler.claim();
  await scheduler.execute();
  await scheduler.settle();

  expect(await scheduler.get(taskRunId)).toMatchObject({ status: "DONE" });
  expect((await scheduler.readLog(taskRunId)).entries).toMatchObject([{ text: "by the copy\n" }]);
  expect(seen.toSorted()).toEqual([
    "attempt number",
    "fence number",
    "keepHandle function",
    "log function",
    "more boolean",
    "processes object",
    "progress function",
    "signal object",
    "taskId string",
    "taskRunId string",
  ]);
});

it("a claim of a kind that the instance has forgotten fails for good, and names what it knows", async () => {
  const [odd, other] = ["odd", "other"].map((kind) => defineTask({ kind, run: () => null }));
  if (odd === undefined || other === undefined) throw new Error("unreachable");
  const scheduler = await box.scheduler({ tasks: [odd, other] });
  const { taskRunId } = await scheduler.enqueue(odd.task(null));
  await scheduler.claim();
  const held = scheduler.held.get(taskRunId);
  if (held === undefined) throw new Error("Nothing was claimed");
  Object.assign(held.claim, { kind: "unknown" });

  await scheduler.execute();
  await scheduler.settle();

  expect(await scheduler.get(taskRunId)).toMatchObject({
    status: "FAILED",
    outcome: "UNKNOWN_EXECUTOR",
    error: { message: expect.stringContaining("odd, other") },
  });
});

it("a result that the database refuses all the same holds up nobody who is settled with it", async () => {
  const odd = defineTask({ kind: "odd", run: (input) => input });
  const scheduler = await box.scheduler({ tasks: [odd] });
  const { taskRuns } = await scheduler.enqueueMany([odd.task(1), odd.task(2), odd.task(3)]);
  await scheduler.claim();
  const events: SchedulerEvent[] = [];
  const settler = createSettler({
    pool: box.pool("settler"),
    batchSize: 10,
    emit: (event) => events.push(event),
  });
  for (const { claim } of scheduler.held.all()) {
    const output = claim.taskRunId === taskRuns[1]?.taskRunId ? "a\u0000b" : 1;
    settler.add(claim, scheduler.instanceId, { kind: "succeeded", output }, scheduler.held);
  }

  while ((await settler.settleOnce()).left > 0);

  const ends = taskRuns.map(async ({ taskRunId }) => (await scheduler.get(taskRunId)).outcome);
  expect(await Promise.all(ends)).toEqual(["SUCCEEDED", "RESULT_NOT_STORABLE", "SUCCEEDED"]);
  expect(events.map(({ type }) => type)).toEqual(Array(3).fill("task_run.settled"));
  expect(scheduler.held.all()).toEqual([]);
});
