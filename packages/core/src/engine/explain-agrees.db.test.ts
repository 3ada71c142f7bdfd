/** What `explain` says, what the table says and what the promoter does are one thing. */

import fc from "fast-check";
import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../test/fixture.ts";
import type { Explanation } from "../domain/explanation.ts";
import { exclusive, shared } from "../domain/resource.ts";
import type { TaskSpec } from "../domain/task-spec.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { promoteOnce } from "./promoter.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

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
  })
  .map(({ resources: wanted, priority, version, later }) =>
    echo.task(null, {
      priority,
      resources: wanted,
      ...(version === undefined || wanted.length === 0 ? {} : { version }),
      ...(later && wanted.length === 0 ? { runAt: new Date("2090-01-01") } : {}),
    }),
  );
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
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

async function take(scheduler: ManualScheduler, what: Step): Promise<void> {
  switch (what.do) {
    case "enqueue":
      await scheduler.enqueueMany(what.specs);
      return;
    case "enqueueRun":
      await scheduler.enqueueMany(what.specs, { run: { title: "run", limit: what.limit } });
      return;
    case "work":
      await scheduler.claim();
      await scheduler.execute();
      await scheduler.settle();
      return;
    case "cancel": {
      const { taskRuns } = await scheduler.list({ status: ["PENDING", "AVAILABLE"] });
      const chosen = taskRuns[what.which % Math.max(1, taskRuns.length)];
      if (chosen !== undefined) await scheduler.cancel(chosen.taskRunId);
    }
  }
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
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
        const scheduler = await box.scheduler({ slots: 2 });
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
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
        const scheduler = await box.scheduler({ slots: 2 });
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
