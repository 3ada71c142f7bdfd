/**
 * A renewal and what happens at the same moment. The row of an instance is written by its renewals and by
 * whoever gives it up for dead, and by nobody else: only those two wait for each other.
 */

import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { type Act, cancel, promote, renewFor, rescue, SUCCESS, settleAll } from "../../test/acts.ts";
import { echo, openFixture } from "../../test/fixture.ts";
import { leaveOpen } from "../../test/stepped-pool.ts";
import { waitUntil, waitUntilBlocked } from "../../test/wait-until.ts";
import { exclusive } from "../domain/resource.ts";
import { monotonicMs } from "../executors/monotonic.ts";
import type { ManualScheduler } from "../testing/manual-scheduler.ts";
import { newLeaseBuffer, openLeaseMemory } from "./lease-memory.ts";
import type { LeaseMessage, LeaseOrder, LeaseThreadData, ThreadRuns } from "./lease-thread.ts";
import { rescueOnce } from "./rescuer.ts";
import { startThread } from "./start-thread.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

const LIVE = [{ state: "LIVE" }];
const leaseOf = async ({ instanceId }: ManualScheduler) => {
  const [row] = await box.query<{ state: string; leftMs: number }>(
    `SELECT state, (extract(epoch FROM expires_at - clock_timestamp()) * 1000)::float8 AS "leftMs"
       FROM signalbox.instance WHERE boot_id = $1`,
    [instanceId],
  );
  return row;
};
const leaseIsOver = async (scheduler: ManualScheduler): Promise<boolean> =>
  ((await leaseOf(scheduler))?.leftMs ?? Number.NaN) < 0;

/** An instance with something RUNNING, and one that waits for what it holds. */
async function working() {
  const scheduler = await box.scheduler();
  const resources = [exclusive("orders")];
  const running = await scheduler.enqueue(echo.task(1, { resources }));
  await scheduler.promote();
  await scheduler.claim();
  const waiting = await scheduler.enqueue(echo.task(2, { resources }));
  return { scheduler, running, waiting };
}

describe("a renewal does not wait for, nor hold up,", () => {
  it.each<[string, (on: Awaited<ReturnType<typeof working>>) => Act, string]>([
    ["a promotion", () => promote, "PENDING"],
    ["a settlement", ({ scheduler }) => settleAll(scheduler, SUCCESS), "PENDING"],
    ["a cancel of what runs", ({ running }) => cancel(running.taskId), "PENDING"],
    ["a cancel of what waits", ({ waiting }) => cancel(waiting.taskId), "CANCELED"],
  ])("%s at the same moment", async (_, actOf, statusOfWaiting) => {
    const on = await working();
    const renewal = renewFor(on.scheduler.instanceId, 120_000);
    const [renewing, acting] = [box.pool("renewer"), box.pool("actor")];

    // The act is done but for its commit, and the renewal goes through.
    const halfDone = acting.pauseBefore("COMMIT");
    const act = actOf(on)(acting);
    await halfDone.reached;
    expect(await renewal(renewing)).toMatchObject(LIVE);
    halfDone.resume();
    await act;
    // The other way round. What the act does a second time changes nothing.
    const sent = renewing.pauseBefore("COMMIT");
    const renewed = renewal(renewing);
    await sent.reached;
    await actOf(on)(acting);
    sent.resume();

    expect(await renewed).toMatchObject(LIVE);
    expect((await leaseOf(on.scheduler))?.leftMs).toBeGreaterThan(100_000);
    expect(await box.statusOf(on.waiting.taskRunId)).toBe(statusOfWaiting);
    expect((await on.scheduler.checkInvariants()).violations).toEqual([]);
  });
});

describe("a renewal and a rescue at the same moment", () => {
  it("rescue first: the renewal that waited for it is refused, and what ran is tried again", async () => {
    const { scheduler, running } = await working();
    const rescuing = box.pool("rescuer");
    const pause = rescuing.pauseBefore("COMMIT");

    // A grace of minus two minutes: the lease is over as the rescuer sees it, and good as the renewal does.
    const rescued = rescueOnce({ pool: rescuing, graceMs: -120_000, batchSize: 10, emit: () => {} });
    await pause.reached;
    const renewal = renewFor(scheduler.instanceId)(box.pool("renewer"));
    await waitUntilBlocked(box.db.client, "renewer");
    pause.resume();

    expect(await rescued).toBe(1);
    expect(await renewal).toEqual([]);
    expect(await leaseOf(scheduler)).toMatchObject({ state: "DEAD" });
    expect(await box.statusOf(running.taskRunId)).toBe("FAILED");
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });

  it("renewal first: the rescue that waited for it leaves the instance and what it runs alone", async () => {
    const { scheduler, running } = await working();
    const renewing = box.pool("renewer");
    const pause = renewing.pauseBefore("COMMIT");

    // Shorter than a transaction may stand still.
    await renewFor(scheduler.instanceId, 700)(box.pool("renewer before"));
    const renewal = renewFor(scheduler.instanceId)(renewing);
    await pause.reached;
    await waitUntil("the old lease has run out", async () => await leaseIsOver(scheduler));
    const rescued = rescue(box.pool("rescuer"));
    await waitUntilBlocked(box.db.client, "rescuer");
    pause.resume();

    expect(await renewal).toMatchObject(LIVE);
    expect(await rescued).toBe(0);
    expect(await leaseOf(scheduler)).toMatchObject({ state: "LIVE" });
    expect(await box.statusOf(running.taskRunId)).toBe("RUNNING");
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });
});

describe("a renewal that waited", () => {
  it("counts from before it was sent, as the database does: nobody trusts a lease for longer than it lasts", async () => {
    const { instanceId } = (await working()).scheduler;
    const memory = newLeaseBuffer(0);
    const holding = await leaveOpen(
      box.pool("holder"),
      async (tx) =>
        await tx.query({
          name: "lock",
          text: "SELECT FROM signalbox.instance WHERE boot_id = $1 FOR UPDATE",
          values: [instanceId],
        }),
    );
    const data: LeaseThreadData = { url: box.db.url, leaseMs: 60_000, beatMs: 60_000 };
    const thread = startThread("lease-thread", data);
    thread.postMessage({ instanceId, memory } satisfies LeaseOrder);
    try {
      const told = new Promise<LeaseMessage>((resolve) =>
        thread.on("message", (message: LeaseMessage | ThreadRuns) => {
          if (message.kind !== "runs") resolve(message);
        }),
      );
      await waitUntilBlocked(box.db.client, "signalbox lease");
      const blockedAtMs = monotonicMs();
      await holding.commit();

      expect(await told).toMatchObject({ kind: "renewed", instanceId });
      expect(openLeaseMemory(memory).renewedAtMs()).toBeGreaterThan(0);
      expect(openLeaseMemory(memory).renewedAtMs()).toBeLessThan(blockedAtMs);
    } finally {
      await thread.terminate();
    }
  });
});

describe("two renewals of one instance at the same moment", () => {
  it("wait for each other, and the lease is the longer one", async () => {
    const { scheduler } = await working();
    const [one, other] = [box.pool("first"), box.pool("second")];
    const pause = one.pauseBefore("COMMIT");

    const first = renewFor(scheduler.instanceId, 100_000)(one);
    await pause.reached;
    const second = renewFor(scheduler.instanceId, 200_000)(other);
    await waitUntilBlocked(box.db.client, "second");
    pause.resume();

    expect([await first, await second]).toMatchObject([LIVE, LIVE]);
    expect((await leaseOf(scheduler))?.leftMs).toBeGreaterThan(150_000);
    expect((await scheduler.checkInvariants()).violations).toEqual([]);
  });
});
