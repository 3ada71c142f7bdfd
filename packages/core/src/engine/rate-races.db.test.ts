/** A pass that gives the slots of a rate away meets those who had them, and neither waits for ever. */

import { afterAll, afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { type Act, promote } from "../../test/acts.ts";
import { echo, openFixture } from "../../test/fixture.ts";
import type { SteppedPool } from "../../test/stepped-pool.ts";
import { waitUntilBlockedOrDone } from "../../test/wait-until.ts";
import { shared } from "../domain/resource.ts";
import { deferTaskRuns } from "../store/task-runs/defer.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const PERIOD_MS = 60_000;
const NAMES = ["a", "b", "c"];
let scheduler: ManualScheduler;
let one: SteppedPool;
let other: SteppedPool;
beforeEach(async () => {
  scheduler = await box.scheduler();
  one = box.pool("first");
  other = box.pool("second");
  await scheduler.setRate("sms", { amount: NAMES.length, perMs: PERIOD_MS });
});

const tasks = () => NAMES.map((name) => echo.task(name, { rate: "sms", resources: [shared(name)] }));

/** Three have started, and as many wait for their slots and share their resources. */
async function startedBefore(ms: number): Promise<void> {
  await scheduler.enqueueMany(tasks());
  await scheduler.promote();
  await scheduler.claim();
  await box.query("UPDATE signalbox.task_run SET claimed_at = claimed_at - $1 * interval '1 ms'", [ms]);
  await scheduler.enqueueMany(tasks());
}

function deferAll(): Act<unknown> {
  const requests = scheduler.held.all().map(({ claim: { taskRunId, claimNo } }) => ({
    taskRunId,
    claimNo,
    claimedBy: scheduler.instanceId,
    delayMs: 3_600_000,
    reason: null,
    outside: false,
  }));
  return async (pool) => await pool.transaction(async (tx) => await deferTaskRuns(tx, requests));
}

/** One stops before a statement, the other acts until it is done or waits, the first goes on. */
async function meet(first: Act, before: string, second: Act): Promise<void> {
  const pause = one.pauseBefore(before);
  const stopped = first(one);
  await Promise.race([pause.reached, stopped]);
  const acting = second(other);
  await waitUntilBlockedOrDone(box.db.client, "second", acting);
  pause.resume();
  // 40P01 is the server's way to say that each waited for the other.
  await expect(Promise.all([stopped, acting])).resolves.toBeDefined();
  expect((await scheduler.checkInvariants()).violations).toEqual([]);
}

describe("a deferral", () => {
  const recorded = async () => await box.value("SELECT count(started_at)::int FROM signalbox.rate_slot");

  it("keeps the starts that count in its slots", async () => {
    await startedBefore(PERIOD_MS - 10_000);
    await deferAll()(one);

    expect(await recorded()).toBe(NAMES.length);
  });

  it("leaves the slots of starts alone that are a period ago: they are not its any more", async () => {
    await startedBefore(PERIOD_MS);
    await deferAll()(one);

    expect(await recorded()).toBe(0);
  });
});

describe("a deferral and the pass that gives its slot to another", () => {
  it.each(["leaveRateSlots", "takeRateSlots", "countResourceUse", "takeHolds", "COMMIT"])(
    "that one stops before %s",
    async (statement) => {
      await startedBefore(PERIOD_MS + 1);

      await meet(promote, statement, deferAll());

      expect(await box.value("SELECT count(*)::int FROM signalbox.ready")).toBe(NAMES.length);
    },
  );

  it.each(["deferTaskRuns", "enterWaiting", "releaseHolds", "discountSharedUse", "COMMIT"])(
    "it stops before %s",
    async (statement) => {
      await startedBefore(PERIOD_MS + 1);

      await meet(deferAll(), statement, promote);

      expect(await box.value("SELECT count(*)::int FROM signalbox.ready")).toBe(NAMES.length);
    },
  );

  it.each(["enterWaiting", "releaseHolds"])(
    "it stops before %s, and meanwhile its start counts no more",
    async (statement) => {
      await startedBefore(0);
      const pass: Act = async (pool) => {
        await scheduler.setRate("sms", { amount: NAMES.length, perMs: 1 });
        return await promote(pool);
      };

      await meet(deferAll(), statement, pass);

      expect(await box.value("SELECT count(*)::int FROM signalbox.ready")).toBe(NAMES.length);
    },
  );
});
