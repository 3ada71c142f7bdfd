/** Bad input by the calls of the library: refused with a code and one sentence, and nothing is written. */

import { createScheduler, defineTask, exclusive, type SchedulerError } from "@signalbox/core";
import { afterAll, afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import type { ManualScheduler } from "../../packages/core/src/testing/manual-scheduler.ts";
import { echo, openFixture } from "../../packages/core/test/fixture.ts";
import { BAD_JSON, BAD_OBJECTS, BAD_TEXT } from "./values.ts";

const box = await openFixture(inject("adminUrl"));
let scheduler: ManualScheduler;
beforeEach(async () => {
  scheduler = await box.scheduler();
});
afterEach(async () => {
  try {
    // Whatever was refused, the next task is done and nothing stays behind.
    await scheduler.enqueue(echo.task("next"));
    await scheduler.runUntilIdle();
    expect(await box.query("SELECT DISTINCT status FROM signalbox.task_run")).toEqual([{ status: "DONE" }]);
  } finally {
    await box.clear();
  }
});
afterAll(box.close);

/** What it was refused with: anything but an error of ours would be an accident. */
async function refusal(call: () => Promise<unknown>): Promise<readonly [string, string]> {
  const error = await call().then(
    () => new Error("It was accepted"),
    (thrown: unknown) => thrown as Error,
  );
  return [(error as SchedulerError).code ?? error.name, error.message];
}

describe.each(BAD_JSON)("$name", ({ value, problem }) => {
  it("as an input is refused, alone, among others and under a key", async () => {
    const good = echo.task("good");

    expect(await refusal(() => scheduler.enqueue(echo.task(value)))).toEqual([
      "INVALID_TASK",
      sentence("task.input"),
    ]);
    expect(await refusal(() => scheduler.enqueueMany([good, echo.task({ a: [value] })]))).toEqual([
      "INVALID_TASK",
      expect.stringMatching(/^tasks\[1\]\.input\b/),
    ]);
    expect(await refusal(() => scheduler.enqueue(echo.task(value), { idempotencyKey: "k" }))).toEqual([
      "INVALID_TASK",
      sentence("task.input"),
    ]);
    expect(await box.value("SELECT count(*)::integer FROM signalbox.task")).toBe(0);
    // The key is free: what was refused counts as never sent.
    await scheduler.enqueue(good, { idempotencyKey: "k" });
  });

  function sentence(at: string): unknown {
    return expect.stringMatching(new RegExp(`^${at}(?:\\[0\\])*: ${problem}$`));
  }
});

it.each(BAD_OBJECTS)("$name in an input is refused with its place", async ({ value, problem }) => {
  expect(await refusal(() => scheduler.enqueue(echo.task({ mail: { to: [value] } })))).toEqual([
    "INVALID_TASK",
    `task.input.mail.to[0]: ${problem}`,
  ]);
});

it("an input that cannot even be read is refused", async () => {
  const trap = {
    get inside(): never {
      throw new Error("sprung");
    },
  };

  expect(await refusal(() => scheduler.enqueue(echo.task(trap)))).toEqual([
    "INVALID_TASK",
    "task.input: cannot be written as JSON: sprung",
  ]);
  expect(await refusal(() => scheduler.enqueue(echo.task({ toJSON: () => undefined })))).toEqual([
    "INVALID_TASK",
    "task.input: is written as nothing, which is not JSON",
  ]);
});

it("a place that is itself bad input is named in a sentence that can be read", async () => {
  const key = `${"k".repeat(100_000)}\u0000`;

  expect(await refusal(() => scheduler.enqueue(echo.task({ [key]: 1 })))).toEqual([
    "INVALID_TASK",
    `task.input.${"k".repeat(60)}…: contains a NUL character, which cannot be stored`,
  ]);
  expect(await refusal(() => scheduler.enqueue(echo.task({ "a\u0000\ud800": 1 })))).toEqual([
    "INVALID_TASK",
    "task.input.a\ufffd\ufffd: contains a NUL character, which cannot be stored",
  ]);
});

describe.each(BAD_TEXT)("$name", ({ text, problem }) => {
  it("as any name of a task is refused", async () => {
    const parts = {
      kind: { kind: text },
      title: { title: text },
      queue: { queue: text },
      "tags[0]": { tags: [text] },
      concurrencyKey: { concurrencyKey: text },
      rate: { rate: text },
      "resources[0].name": { resources: [exclusive(text)] },
      "stops[0].code": { stops: [{ code: text }] },
      "stops[0].detail": { stops: [{ code: "APPROVAL", detail: text }] },
    };

    for (const [field, part] of Object.entries(parts))
      expect(await refusal(() => scheduler.enqueue({ kind: "echo", ...part }))).toEqual([
        "INVALID_TASK",
        `task.${field}: ${problem}`,
      ]);
  });

  it("as a version or an idempotency key is refused", async () => {
    const versioned = echo.task(1, { resources: [exclusive("r")], version: text });

    expect(await refusal(() => scheduler.enqueue(versioned))).toEqual([
      "INVALID_VERSION",
      expect.stringMatching(/^".{1,101}" is not a version; use dotted integers such as 3 or 20261115\.2$/su),
    ]);
    expect(await refusal(() => scheduler.enqueue(echo.task(1), { idempotencyKey: text }))).toEqual([
      "INVALID_TASK",
      "idempotencyKey: needs between 1 and 200 characters of printable ASCII, without spaces",
    ]);
  });

  it("as the title of a run is refused", async () => {
    expect(await refusal(() => scheduler.enqueueMany([echo.task(1)], { run: { title: text } }))).toEqual([
      "INVALID_TASK",
      `run.title: ${problem}`,
    ]);
    expect(await box.value("SELECT count(*)::integer FROM signalbox.run")).toBe(0);
  });

  it("in a rule is refused", async () => {
    const { taskId, taskRunId } = await scheduler.enqueue(echo.task(1, { stops: [{ code: "WAIT" }] }));
    const calls = {
      queue: () => scheduler.setQueue(text, { limit: 1 }),
      resource: () => scheduler.pause({ resource: text }),
      concurrencyKey: () => scheduler.setKeyLimit(text, 1),
      rate: () => scheduler.setRate(text, { amount: 1, perMs: 1 }),
      code: () => scheduler.takeOffStop(taskId, text),
      detail: () => scheduler.putStop(taskId, "WAIT", text),
    };

    for (const [at, call] of Object.entries(calls))
      expect(await refusal(call)).toEqual(["INVALID_RULE", `${at}: ${problem}`]);
    await scheduler.takeOffStop(taskId, "WAIT");
    await scheduler.runUntilIdle();
    expect(await box.statusOf(taskRunId)).toBe("DONE");
  });

  it("as who asks for a cancel, a retry or a rule, or as a reason, is refused, and nothing is changed", async () => {
    const { taskRunId } = await scheduler.enqueue(echo.task(1));
    const long = text.length > 200;
    const ofReason = long
      ? "is longer than 2000 characters"
      : problem.replace(/a control.*/, "a NUL character, which cannot be stored");

    for (const call of [
      () => scheduler.cancel(taskRunId, { by: text }),
      () => scheduler.cancelMany({ ids: [taskRunId] }, { by: text }),
      () => scheduler.retry(taskRunId, { by: text }),
      () => scheduler.retryMany({ ids: [taskRunId] }, { by: text }),
      () => scheduler.pause({ queue: "default" }, { by: text }),
      () => scheduler.resume({ queue: "default" }, { by: text }),
      () => scheduler.releaseReservation("orders", { by: text }),
      () => scheduler.drainInstance(scheduler.instanceId, { by: text }),
    ])
      expect(await refusal(call)).toEqual(["INVALID_TEXT", `by: ${problem}`]);
    for (const call of [
      () => scheduler.cancel(taskRunId, { reason: text }),
      () => scheduler.pause({ queue: "default" }, { reason: text }),
    ])
      expect(await refusal(call)).toEqual(["INVALID_TEXT", `reason: ${ofReason}`]);
    expect(await scheduler.resume({ queue: "default" })).toBe(false);
    expect(await box.statusOf(taskRunId)).toBe("AVAILABLE");
  });

  it("in a filter is refused, and no id or name", async () => {
    for (const [field, call] of Object.entries({
      kind: () => scheduler.list({ kind: text }),
      queue: () => scheduler.list({ queue: text }),
      tag: () => scheduler.list({ tag: text }),
    }))
      expect(await refusal(call)).toEqual(["INVALID_FILTER", `The filter has a ${field} that ${problem}`]);
    for (const call of [
      () => scheduler.cancelMany({ kind: text }),
      () => scheduler.retryMany({ kind: text, enqueuedSince: new Date(0) }),
    ])
      expect(await refusal(call)).toEqual(["INVALID_FILTER", `The filter has a kind that ${problem}`]);
    for (const call of [
      () => scheduler.get(text),
      () => scheduler.explain(text),
      () => scheduler.cancel(text),
    ])
      expect(await refusal(call)).toEqual(["TASK_NOT_FOUND", expect.stringMatching(/^.{1,150}$/su)]);
  });

  it("as the name of an instance or of a kind is refused before anything begins", () => {
    const options = { databaseUrl: box.db.url };
    const create = (part: object) => () => createScheduler({ ...options, ...part });

    const refused = (at: string) =>
      expect.objectContaining({ code: "INVALID_ARGUMENT", message: `${at}: ${problem}` });

    expect(create({ name: text })).toThrow(refused("name"));
    expect(create({ tasks: [{ kind: text, execute: async () => null }] })).toThrow(refused("tasks[0].kind"));
    expect(() => defineTask({ kind: text, run: () => null })).toThrow(refused("kind"));
  });
});

it("a place or an instant that cannot be is refused where it is asked for", async () => {
  const { taskRunId } = await scheduler.enqueue(echo.task(1));
  const follow = async () => {
    for await (const _ of scheduler.followLog(taskRunId, { from: -1 }));
  };

  for (const call of [
    () => scheduler.readLog(taskRunId, { from: -1 }),
    () => scheduler.readLog(taskRunId, { limit: 0 }),
    follow,
    () => scheduler.checkInvariants({ since: new Date(Number.NaN) }),
  ])
    expect(await refusal(call)).toEqual(["INVALID_FILTER", expect.any(String)]);
});

it("an unknown executor keeps its task waiting, says so, and lets others go on", async () => {
  const { taskRunId } = await scheduler.enqueue({ kind: "nobody-knows", resources: [exclusive("r")] });
  await scheduler.runUntilIdle();

  expect(await scheduler.explain(taskRunId)).toMatchObject({ status: "PENDING", blockedOn: "NO_EXECUTOR" });
  expect(await scheduler.cancel(taskRunId)).toBe("canceled");
  await box.query("DELETE FROM signalbox.task_run WHERE id = $1", [taskRunId]);
});
