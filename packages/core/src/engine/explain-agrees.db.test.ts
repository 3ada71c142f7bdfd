/** What `explain` says, what the table says and what the promoter does are one thing. */

import fc from "fast-check";
import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import type { Explanation } from "../domain/explanation.ts";
import { exclusive, shared } from "../domain/resource.ts";
import type { TaskSpec } from "../domain/task-spec.ts";
import { defineTask } from "../executors/define-task.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { promoteOnce } from "./promoter.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

/** No instance can run it. */
const nobodys = defineTask({ kind: "nobodys", run: (input) => input });

const resource = fc
  .record({ name: fc.constantFrom("a", "b", "c"), alone: fc.boolean() })
  .map(({ name, alone }) => (alone ? exclusive(name) : shared(name)));
const resources = fc.uniqueArray(resource, { maxLength: 2, selector: ({ name }) => name });
const spec: fc.Arbitrary<TaskSpec> = fc
  .record({
    resources,
    priority: fc.integer({ min: 3, max: 5 }),
    version: fc.option(fc.constantFrom("1", "2", "2.1"), { nil: undefined }),
    later: fc.boolean(),
    queue: fc.constantFrom("default", "mail"),
    concurrencyKey: fc.option(fc.constantFrom("customer:7", "customer:8"), { nil: undefined, freq: 2 }),
    rate: fc.option(fc.constant("sms"), { nil: undefined, freq: 3 }),
    stopped: fc.nat(7).map((n) => n === 0),
    kind: fc.constantFrom(echo, echo, echo, echo, nobodys),
  })
  .map(({ resources: wanted, priority, version, later, stopped, kind, queue, concurrencyKey, rate }) =>
    kind.task(null, {
      priority,
      queue,
      ...(concurrencyKey === undefined ? {} : { concurrencyKey }),
      ...(rate === undefined ? {} : { rate }),
      ...(stopped ? { stops: [{ code: "APPROVAL" }] } : {}),
      resources: wanted,
      ...(version === undefined || wanted.length === 0 ? {} : { version }),
      ...(later && wanted.length === 0 ? { runAt: new Date("2090-01-01") } : {}),
    }),
  );
const pausable = fc.constantFrom({ queue: "mail" }, { queue: "default" }, { resource: "a" });
/** What happens, in its order. A number names one of those that are there. */
const step = fc.oneof(
  fc.record({ do: fc.constant("enqueue" as const), specs: fc.array(spec, { minLength: 1, maxLength: 3 }) }),
  fc.record({
    do: fc.constant("enqueueRun" as const),
    specs: fc.array(spec, { minLength: 1, maxLength: 4 }),
    limit: fc.integer({ min: 1, max: 2 }),
  }),
  fc.record({ do: fc.constant("work" as const) }),
  fc.record({ do: fc.constant("cancel" as const), which: fc.nat(20) }),
  fc.record({
    do: fc.constant("setQueue" as const),
    queue: fc.constantFrom("default", "mail"),
    limit: fc.nat(2),
  }),
  fc.record({ do: fc.constant("setKeyLimit" as const), limit: fc.integer({ min: 1, max: 2 }) }),
  fc.record({ do: fc.constant("setRate" as const), amount: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ do: fc.constantFrom("pause" as const, "resume" as const), what: pausable }),
  fc.record({ do: fc.constantFrom("putStop" as const, "takeOffStop" as const), which: fc.nat(20) }),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

async function take(scheduler: ManualScheduler, what: Step): Promise<void> {
  if (what.do === "enqueue") await scheduler.enqueueMany(what.specs);
  else if (what.do === "enqueueRun")
    await scheduler.enqueueMany(what.specs, { run: { title: "run", limit: what.limit } });
  else if (what.do === "work") {
    await scheduler.claim();
    await scheduler.execute();
    await scheduler.settle();
  } else if ("which" in what) await meddle(scheduler, what);
  else await changeRule(scheduler, what);
}

async function meddle(scheduler: ManualScheduler, what: Extract<Step, { which: number }>): Promise<void> {
  const { taskRuns } = await scheduler.list({ status: ["PENDING", "AVAILABLE"] });
  const chosen = taskRuns[what.which % Math.max(1, taskRuns.length)];
  if (chosen === undefined) return;
  if (what.do === "cancel") await scheduler.cancel(chosen.taskRunId);
  else if (what.do === "putStop") await scheduler.putStop(chosen.taskId, "APPROVAL");
  else await scheduler.takeOffStop(chosen.taskId, "APPROVAL");
}

async function changeRule(
  scheduler: ManualScheduler,
  what: Extract<Step, { do: "setQueue" | "setKeyLimit" | "setRate" | "pause" | "resume" }>,
): Promise<void> {
  switch (what.do) {
    case "setQueue":
      await scheduler.setQueue(what.queue, { limit: what.limit });
      return;
    case "setKeyLimit":
      await scheduler.setKeyLimit("customer:*", what.limit);
      return;
    case "setRate":
      await scheduler.setRate("sms", { amount: what.amount, perMs: PERIOD_MS });
      return;
    case "pause":
      await scheduler.pause(what.what);
      return;
    case "resume":
      await scheduler.resume(what.what);
  }
}

/** So long that no slot is free again while the test runs: what explain says does not change by itself. */
const PERIOD_MS = 3_600_000;

async function begin(): Promise<ManualScheduler> {
  const scheduler = await box.scheduler({ slots: 2 });
  await scheduler.setRate("sms", { amount: 2, perMs: PERIOD_MS });
  return scheduler;
}

async function promoteAll(scheduler: ManualScheduler): Promise<void> {
  for (;;) {
    const pass = await scheduler.promote();
    if (pass.kind === "passed" && !pass.more) return;
  }
}

async function explainPending(scheduler: ManualScheduler): Promise<readonly Explanation[]> {
  const { taskRuns } = await scheduler.list({ status: ["PENDING"], limit: 500 });
  return await Promise.all(taskRuns.map(async ({ taskRunId }) => await scheduler.explain(taskRunId)));
}

function blocking({ gates }: Explanation): readonly string[] {
  return gates.filter(({ state }) => state === "blocking").map(({ code }) => code);
}

describe("after the passes that a random history asks for", () => {
  it("what parks a task run does block it, and nothing that could go is left waiting", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
        const scheduler = await begin();
        for (const each of steps) {
          await take(scheduler, each);
          await promoteAll(scheduler);
          for (const explanation of await explainPending(scheduler)) {
            expect(blocking(explanation), JSON.stringify(explanation)).toContain(explanation.blockedOn);
          }
        }
        expect((await scheduler.checkInvariants()).violations).toEqual([]);
        await box.clear();
      }),
      { numRuns: 10 },
    );
  });

  it("it is parked at the first gate that blocks it, once a sweep has looked at everything", async () => {
    const sweepUntilStill = async (): Promise<void> => {
      const pool = box.pool("sweeper");
      const parking = async () =>
        await box.query("SELECT task_run_id, blocked_on FROM signalbox.waiting ORDER BY task_run_id");
      for (let before: unknown = null; ; ) {
        await promoteOnce({ pool, batchSize: 100, sweepAfter: null });
        const now = JSON.stringify(await parking());
        if (now === before) return;
        before = now;
      }
    };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
        const scheduler = await begin();
        for (const each of steps) {
          await take(scheduler, each);
          await promoteAll(scheduler);
        }
        await sweepUntilStill();
        for (const explanation of await explainPending(scheduler)) {
          expect(blocking(explanation)[0], JSON.stringify(explanation)).toBe(explanation.blockedOn);
        }
        await box.clear();
      }),
      { numRuns: 6 },
    );
  });
});
