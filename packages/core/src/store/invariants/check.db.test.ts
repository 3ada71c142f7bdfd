/** Every property: a history without a fault has no violation, and a planted one is found as what it is. */

import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { broken, echo, openFixture } from "../../../test/fixture.ts";
import { event, PLANTED, set, stamp, US } from "../../../test/planted-violations.ts";
import { loseAnswers } from "../../../test/unheard.ts";
import { exclusive, shared } from "../../domain/resource.ts";
import { defineTask } from "../../executors/define-task.ts";
import type { ManualScheduler } from "../../testing/manual-scheduler.ts";
import { joinTransaction } from "../database.ts";
import { checkInvariants, type InvariantViolation } from "./check.ts";

const box = await openFixture(inject("adminUrl"));
afterAll(box.close);

const OPTIONS = { since: new Date(0), rescueWithinMs: 60_000 };

async function violations(): Promise<readonly InvariantViolation[]> {
  return (await checkInvariants(joinTransaction(box.db.client), OPTIONS)).violations;
}

/** What `<name>` stands for in the planted SQL. */
const world: Record<string, string> = {};
function name(taskRuns: readonly { readonly taskRunId: string }[], names: readonly string[]): void {
  for (const [index, { taskRunId }] of taskRuns.entries()) world[names[index] ?? ""] = taskRunId;
}
const flaky = defineTask({
  kind: "flaky",
  run: (_, { attempt }) => {
    if (attempt === 1) throw new Error("Not yet");
  },
});

/** A little of everything that can happen, rightly done; some of it is still open in the end. */
beforeAll(async () => {
  const scheduler = await box.scheduler({ tasks: [echo, broken, flaky], slots: 20 });
  const one = async (called: string, options: Parameters<typeof echo.task>[1] = {}): Promise<void> => {
    world[called] = (await scheduler.enqueue(echo.task(called, options))).taskRunId;
  };
  const ended = await scheduler.enqueueMany([echo.task(1), echo.task(2)], {
    run: { title: "ended", limit: 2 },
  });
  name(ended.taskRuns, ["t1", "t2"]);
  world["endedRun"] = ended.runId ?? "";
  await one("x1", { resources: [exclusive("x")] });
  await one("x2", { resources: [exclusive("x")] });
  await one("y1", { resources: [shared("y")] });
  await one("y2", { resources: [exclusive("y")] });
  await one("v1", { resources: [shared("v")], version: "1" });
  await one("v2", { resources: [shared("v")], version: "2" });
  await scheduler.runUntilIdle();
  await one("w2", { resources: [shared("w")], version: "2" });
  await scheduler.runUntilIdle();
  await one("w1", { resources: [shared("w")], version: "1" });
  await one("due", { runAt: new Date(Date.now() - 1_000) });
  const failed = await scheduler.enqueue(flaky.task(1, { retry: { attempts: 2, backoff: { firstMs: 0 } } }));
  world["f1"] = failed.taskRunId;
  await scheduler.runUntilIdle();
  world["f2"] = (await scheduler.get(failed.taskId)).taskRunId;
  await loseAndHandBack(scheduler);
  await leaveOpen(scheduler);
}, 60_000);

async function loseAndHandBack(scheduler: ManualScheduler): Promise<void> {
  const doomed = await box.scheduler({ name: "doomed" });
  const lost = await doomed.enqueue(echo.task("lost", { resources: [exclusive("kept")] }));
  await doomed.promote();
  await doomed.claim();
  await doomed.expireLease();
  await scheduler.rescue();
  world["other"] = (await scheduler.enqueue(echo.task(2, { resources: [exclusive("kept")] }))).taskRunId;
  await scheduler.runUntilIdle();
  world["l1"] = lost.taskRunId;
  world["l2"] = (await scheduler.get(lost.taskId)).taskRunId;

  const back = await scheduler.enqueueMany([echo.task(1, { resources: [exclusive("h")] })], {
    run: { title: "handed back", limit: 1 },
  });
  world["h1"] = back.taskRuns[0]?.taskRunId ?? "";
  world["backRun"] = back.runId ?? "";
  await scheduler.promote();
  await scheduler.claim();
  loseAnswers(scheduler.held);
  await scheduler.reconcile();
  await scheduler.runUntilIdle();
  world["h2"] = (await scheduler.enqueue(echo.task(2, { resources: [exclusive("h")] }))).taskRunId;
  await scheduler.runUntilIdle();
}

async function leaveOpen(scheduler: ManualScheduler): Promise<void> {
  const resources = [exclusive("open"), shared("also")];
  const open = await scheduler.enqueueMany([echo.task(1, { resources, version: "1" }), echo.task(2)], {
    run: { title: "open", limit: 1 },
  });
  name(open.taskRuns, ["running", "limited"]);
  world["openRun"] = open.runId ?? "";
  await scheduler.promote();
  await scheduler.claim();
  world["available"] = (await scheduler.enqueue(echo.task(3))).taskRunId;
  world["busy"] = (await scheduler.enqueue(echo.task(4, { resources, version: "1" }))).taskRunId;
  world["later"] = (await scheduler.enqueue(echo.task(5, { runAt: new Date("2090-01-01") }))).taskRunId;
  await scheduler.promote();
}

/** Plants it past every trigger and CHECK, looks, and takes it back. */
async function withPlanted(planted: readonly string[], look: () => Promise<void>): Promise<void> {
  await box.query("BEGIN");
  try {
    await box.query(`
      ALTER TABLE signalbox.task_run DISABLE TRIGGER ALL;
      ALTER TABLE signalbox.run DROP CONSTRAINT run_ends_with_its_last_task;
      ALTER TABLE signalbox.task_run DROP CONSTRAINT task_run_ended_with_an_outcome;
    `);
    for (const text of planted) {
      const done = await box.db.client.query(
        text.replaceAll(/<(\w+)>/g, (_, name: string) => `'${world[name]}'`),
      );
      expect(done.rowCount, text).toBeGreaterThan(0);
    }
    await look();
  } finally {
    await box.query("ROLLBACK");
  }
}

it("finds nothing in a history without a fault, and could look at everything", async () => {
  expect(await checkInvariants(joinTransaction(box.db.client), OPTIONS)).toEqual({
    violations: [],
    notChecked: [],
  });
});

describe.each(Object.entries(PLANTED))("%s", (property, plants) => {
  it.each(plants)("finds %s, and nothing else", async (_, planted) => {
    await withPlanted(planted, async () => {
      const found = await violations();

      expect(found).not.toEqual([]);
      expect(new Set(found.map((violation) => violation.property)), JSON.stringify(found)).toEqual(
        new Set([property]),
      );
    });
  });
});

describe("no violation is", () => {
  it("a limit that was lowered while more than that were active", async () => {
    const lowered = [
      "UPDATE signalbox.run SET task_limit = 1 WHERE id = <endedRun>",
      event("<endedRun>", "run.limit_changed", `'{"from": 2, "to": 1}'`),
    ];
    await withPlanted(lowered, async () => expect(await violations()).toEqual([]));
  });

  it("a task run of an instance that has just died: a rescue takes a moment", async () => {
    const died = [
      `UPDATE signalbox.instance SET state = 'DEAD', expires_at = clock_timestamp()
        WHERE boot_id = ${stamp("running", "claimed_by")}`,
    ];
    await withPlanted(died, async () => expect(await violations()).toEqual([]));
  });

  it("what happened before the time that was asked about", async () => {
    const since = new Date(Date.now() + 3_600_000);
    await withPlanted([set("due", `run_at = available_at + ${US}`)], async () => {
      const db = joinTransaction(box.db.client);
      expect((await checkInvariants(db, { ...OPTIONS, since })).violations).toEqual([]);
    });
  });
});
