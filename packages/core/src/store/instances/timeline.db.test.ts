/** A new timeline is made by changing what is known: to the statements a real failover looks the same. */

import { afterAll, afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { openFixture } from "../../../test/fixture.ts";
import { leaveOpen } from "../../../test/stepped-pool.ts";
import { waitUntilBlocked } from "../../../test/wait-until.ts";
import { renewOnce } from "./renew.ts";
import { followTimeline } from "./timeline.ts";

const RAISED_BY = 2 ** 20;

const box = await openFixture(inject("adminUrl"));
beforeEach(async () => {
  await box.query("UPDATE signalbox.known_timeline SET timeline = signalbox.current_timeline()");
});
afterEach(box.clear);
afterAll(box.close);

/** What is known and what every instance's row says is of before: these many promotions have happened since. */
async function promoteStandbys(count = 1): Promise<void> {
  await box.query("UPDATE signalbox.known_timeline SET timeline = timeline - $1", [count]);
  await box.query("UPDATE signalbox.instance SET timeline = timeline - $1", [count]);
}
async function lastClaimNo(): Promise<number> {
  return Number(await box.value<string>("SELECT last_value FROM signalbox.claim_no"));
}
async function isKnown(): Promise<boolean> {
  return await box.value("SELECT timeline = signalbox.current_timeline() FROM signalbox.known_timeline");
}

describe("on a new timeline", () => {
  it("an instance claims nothing until it has renewed, and then by raised numbers", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueueMany([{ kind: "echo" }, { kind: "echo" }]);
    const before = await lastClaimNo();
    await promoteStandbys();

    expect(await scheduler.claim()).toEqual([]);
    expect(await scheduler.renew()).toBe(true);
    expect(await scheduler.claim()).toHaveLength(2);
    for (const { claim } of scheduler.held.all()) expect(claim.claimNo).toBeGreaterThan(before + RAISED_BY);
  });

  it("one instance that has followed lets no other claim with it", async () => {
    const first = await box.scheduler({ name: "first" });
    const second = await box.scheduler({ name: "second" });
    await first.enqueue({ kind: "echo" });
    await promoteStandbys();
    await first.renew();

    expect(await second.claim()).toEqual([]);
  });

  it("keeps what the standby had got of its claims, and the number of each", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue({ kind: "echo", input: 1 });
    await scheduler.claim();
    await promoteStandbys();

    await scheduler.renew();
    await scheduler.execute();
    await scheduler.settle();
    expect(await box.statusOf(taskRunId)).toBe("DONE");
  });

  it("refuses the result of a claim that was lost with the old primary, though its instance has it again", async () => {
    const scheduler = await box.scheduler();
    const { taskRunId } = await scheduler.enqueue({ kind: "echo", input: 1 });
    const numberBefore = await lastClaimNo();
    await scheduler.claim();
    await scheduler.execute();
    // As the standby saw it: available, the number not given out.
    await box.query(
      `UPDATE signalbox.task_run SET status = 'AVAILABLE', claimed_by = NULL, claimed_at = NULL, claim_no = NULL,
              row_version = row_version - 1 WHERE id = $1`,
      [taskRunId],
    );
    await box.query("INSERT INTO signalbox.ready (kind, priority, task_run_id) VALUES ('echo', 5, $1)", [
      taskRunId,
    ]);
    await box.query("DELETE FROM signalbox.claim_batch");
    await box.query("SELECT setval('signalbox.claim_no', $1)", [numberBefore]);
    await promoteStandbys();
    await scheduler.renew();

    expect(await scheduler.claim()).toEqual([taskRunId]);
    await scheduler.settle();
    expect(await box.statusOf(taskRunId)).toBe("RUNNING");
    expect(scheduler.events.map(({ type }) => type)).toContain("task_run.refused");
    await scheduler.execute();
    await scheduler.settle();
    expect(await box.statusOf(taskRunId)).toBe("DONE");
  });
});

describe("raising the numbers", () => {
  it("happens once when two come at once", async () => {
    await promoteStandbys();
    const before = await lastClaimNo();
    const first = await leaveOpen(box.pool("first"), followTimeline);
    const second = box.pool("second").transaction(followTimeline);
    await waitUntilBlocked(box.db.client, "second");
    await first.commit();

    expect(first.result.raised).toBe(true);
    expect((await second).raised).toBe(false);
    expect(await lastClaimNo()).toBeLessThan(before + 2 * RAISED_BY);
  });

  it("is done by the next one where the first one died before its commit", async () => {
    await promoteStandbys();
    const before = await lastClaimNo();
    const first = await leaveOpen(box.pool("first"), followTimeline);
    await first.rollBack();

    expect(await isKnown()).toBe(false);
    expect((await box.pool("next").transaction(followTimeline)).raised).toBe(true);
    expect(await isKnown()).toBe(true);
    expect(await lastClaimNo()).toBeGreaterThan(before + RAISED_BY);
  });

  it("counts timelines that nobody saw", async () => {
    await promoteStandbys(3);
    const before = await lastClaimNo();
    await box.pool("follower").transaction(followTimeline);

    expect(await lastClaimNo()).toBeGreaterThan(before + 3 * RAISED_BY);
  });

  it("happens too on a timeline that is smaller: a restored copy begins at 1", async () => {
    await promoteStandbys(-4);
    const before = await lastClaimNo();
    await box.pool("follower").transaction(followTimeline);

    expect(await lastClaimNo()).toBeGreaterThan(before + RAISED_BY);
  });

  it("does not happen while the timeline is the known one", async () => {
    const scheduler = await box.scheduler();
    const before = await lastClaimNo();
    await box.pool("renewer").transaction(async (tx) => await renewOnce(tx, scheduler.instanceId, 60_000));

    expect(await lastClaimNo()).toBe(before);
  });

  it("keeps a claim from happening while it is under way", async () => {
    const scheduler = await box.scheduler();
    await scheduler.enqueue({ kind: "echo" });
    await promoteStandbys();
    const raising = await leaveOpen(
      box.pool("renewer"),
      async (tx) => await renewOnce(tx, scheduler.instanceId, 60_000),
    );

    expect(await scheduler.claim()).toEqual([]);
    await raising.commit();
    expect(await scheduler.claim()).toHaveLength(1);
  });
});
