/** What is stored is what was checked, whatever a caller does with his objects meanwhile, and however they answer a second look. */

import { afterAll, afterEach, expect, inject, it } from "vitest";
import { deferred } from "../../test/deferred.ts";
import { echo, openFixture } from "../../test/fixture.ts";
import { exclusive } from "../domain/resource.ts";
import { letGo } from "../executors/answers.ts";
import { defineTask } from "../executors/define-task.ts";
import type { StandardSchema } from "../executors/standard-schema.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const HOUR_MS = 3_600_000;

/** Harmless at the first look, poison at every later one. */
function turning(): { readonly text: string } {
  let looks = 0;
  return {
    get text() {
      looks += 1;
      return looks === 1 ? "checked" : "\u0000";
    },
  };
}

class Turning {
  readonly #told = turning();

  toJSON(): { readonly text: string } {
    return { text: this.#told.text };
  }
}

function schemaOf(check: (value: unknown) => Promise<void>): StandardSchema {
  const validate = async (value: unknown) => {
    await check(value);
    return { value };
  };
  return { "~standard": { version: 1, vendor: "test", validate } };
}

it("stores the input as it was when enqueue was called", async () => {
  const scheduler = await box.scheduler();
  const input = { text: "checked" };

  const enqueued = scheduler.enqueue(echo.task(input));
  input.text = "\u0000";

  expect(await scheduler.get((await enqueued).taskRunId)).toMatchObject({ input: { text: "checked" } });
});

it.each([
  ["a getter", turning],
  ["a toJSON", () => new Turning()],
  ["a Proxy", () => new Proxy(turning(), {})],
])("looks once at an input with %s", async (_, make) => {
  const scheduler = await box.scheduler();

  const { taskRunId } = await scheduler.enqueue(echo.task({ inner: make() }));

  expect(await scheduler.get(taskRunId)).toMatchObject({ input: { inner: { text: "checked" } } });
});

it("shows the schema what will be stored, and stores nothing of what the schema or the caller makes of it", async () => {
  const input: { when: unknown; seen?: unknown } = { when: new Date(0) };
  const seen: unknown[] = [];
  const schema = schemaOf(async (value) => {
    seen.push(structuredClone(value));
    input.seen = 1n;
    Object.assign(value as object, { seen: true });
  });
  const strict = defineTask({ kind: "strict", schema, run: () => null });
  const scheduler = await box.scheduler({ tasks: [strict] });

  const { taskRunId } = await scheduler.enqueue(strict.task(input), { idempotencyKey: "once" });
  const again = await scheduler.enqueue(strict.task({ when: "1970-01-01T00:00:00.000Z" }), {
    idempotencyKey: "once",
  });

  expect(seen[0]).toEqual({ when: "1970-01-01T00:00:00.000Z" });
  expect((await scheduler.get(taskRunId)).input).toEqual({ when: "1970-01-01T00:00:00.000Z" });
  expect(again.taskRunId).toBe(taskRunId);
});

it("stores specs and options as they were when enqueueMany was called", async () => {
  const scheduler = await box.scheduler();
  const runAt = new Date("2030-01-01T00:00:00.000Z");
  const tags = ["checked"];
  const resources = [{ ...exclusive("checked") }];
  const spec = { ...echo.task(1), runAt, tags, resources, retry: { attempts: 2 } };
  const specs = [spec];
  const run = { title: "checked", limit: 1 };

  const enqueued = scheduler.enqueueMany(specs, { run });
  runAt.setTime(Number.NaN);
  tags[0] = "\u0000";
  tags.push("more");
  resources.push(exclusive("checked"));
  Object.assign(resources[0] ?? {}, { name: "\u0000" });
  Object.assign(spec, { kind: "\u0000", retry: { attempts: -1 } });
  Object.assign(run, { title: "\u0000", limit: -1 });
  specs.push(echo.task(2) as typeof spec);

  const { taskRuns, runId } = await enqueued;
  expect(taskRuns).toHaveLength(1);
  expect(await scheduler.get(taskRuns[0]?.taskRunId ?? "")).toMatchObject({
    runAt: new Date("2030-01-01T00:00:00.000Z"),
    tags: ["checked"],
    resources: [exclusive("checked")],
    kind: "echo",
    runId,
  });
});

it("stores an output as it was when it was checked", async () => {
  const turns = defineTask({ kind: "turns", run: () => ({ inner: turning() }) });
  const scheduler = await box.scheduler({ tasks: [turns] });
  const { taskRunId } = await scheduler.enqueue(turns.task(null));

  await scheduler.runUntilIdle();

  expect(await scheduler.get(taskRunId)).toMatchObject({
    status: "DONE",
    output: { inner: { text: "checked" } },
  });
});

it("stores a handle as it was when it was kept or let go", async () => {
  const handle = { text: "checked" };
  const kept = deferred<void>();
  const goOn = deferred<void>();
  const keeps = defineTask({
    kind: "keeps",
    run: async (_, { keepHandle }) => {
      const keeping = keepHandle(handle, { deadlineInMs: HOUR_MS });
      handle.text = "\u0000";
      await keeping;
      kept.resolve();
      await goOn.promise;
      return letGo({ handle: turning(), pollInMs: HOUR_MS, deadlineInMs: HOUR_MS });
    },
    poll: async () => ({ kind: "running", pollInMs: HOUR_MS }),
  });
  const scheduler = await box.scheduler({ tasks: [keeps] });
  await scheduler.enqueue(keeps.task(null));
  await scheduler.claim();
  const executing = scheduler.execute();
  await Promise.race([kept.promise, executing]);
  const first = await box.value("SELECT handle FROM signalbox.outside_job");
  goOn.resolve();
  await executing;
  await scheduler.settle();

  expect(first).toEqual({ text: "checked" });
  expect(await box.value("SELECT handle FROM signalbox.outside_job")).toEqual({ text: "checked" });
});

it("cancels and retries by the filter as it was when it was called", async () => {
  const scheduler = await box.scheduler();
  await scheduler.enqueue(echo.task(1));
  const waits = await scheduler.enqueue(echo.task(2, { runAt: new Date("2030-01-01") }));
  const status: ("PENDING" | "AVAILABLE")[] = ["PENDING"];

  const canceling = scheduler.cancelMany({ status });
  status[0] = "AVAILABLE";

  expect(await canceling).toMatchObject({ canceled: 1 });
  expect(await box.statusOf(waits.taskRunId)).toBe("CANCELED");

  const again: ("FAILED" | "CANCELED")[] = ["CANCELED"];
  const retrying = scheduler.retryMany({ enqueuedSince: new Date(0), status: again });
  again[0] = "FAILED";

  expect(await retrying).toMatchObject({ retried: 1 });
});
