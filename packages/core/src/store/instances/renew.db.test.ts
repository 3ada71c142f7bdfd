import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { openFixture } from "../../../test/fixture.ts";
import { waitUntilBlocked } from "../../../test/wait-until.ts";
import { asInstanceId, type InstanceId } from "../../domain/ids.ts";
import { joinCluster, leaveCluster, markDraining, markLost } from "./instance.ts";
import { renewLease } from "./renew.ts";

const box = await openFixture(inject("adminUrl"));
afterEach(box.clear);
afterAll(box.close);

async function join(leaseMs = 60_000): Promise<InstanceId> {
  return await box
    .pool("joiner")
    .transaction(
      async (tx) => await joinCluster(tx, { name: "worker", kinds: [], slots: 1, leaseMs, mark: null }),
    );
}
async function renew(instanceId: InstanceId): Promise<readonly { state: string }[]> {
  return await box.pool("renewer").transaction(async (tx) => await tx.query(renewLease(instanceId, 120_000)));
}
async function leaseLeftMs(instanceId: InstanceId): Promise<number> {
  return await box.value(
    "SELECT (extract(epoch FROM expires_at - clock_timestamp()) * 1000)::float8 FROM signalbox.instance WHERE boot_id = $1",
    [instanceId],
  );
}

describe("a renewal", () => {
  it("prolongs the lease from now on, by the database's clock", async () => {
    const instanceId = await join();

    expect(await renew(instanceId)).toMatchObject([{ state: "LIVE" }]);
    expect(await leaseLeftMs(instanceId)).toBeGreaterThan(100_000);
  });

  it("goes on while the instance drains", async () => {
    const instanceId = await join();
    expect(await box.pool("drainer").transaction(async (tx) => await markDraining(tx, instanceId))).toBe(
      true,
    );

    expect(await renew(instanceId)).toMatchObject([{ state: "DRAINING" }]);
  });

  it("is refused under another boot id, and touches nobody else's lease", async () => {
    const instanceId = await join();

    expect(await renew(asInstanceId("00000000-0000-4000-8000-000000000000"))).toEqual([]);
    expect(await leaseLeftMs(instanceId)).toBeLessThan(61_000);
  });

  it("is refused to one who is DEAD, though the time of its lease is not over", async () => {
    const instanceId = await join();
    await box.query("UPDATE signalbox.instance SET state = 'DEAD'");

    expect(await renew(instanceId)).toEqual([]);
  });

  it("is refused to one who is DEAD and wants to drain: that does not bring it back", async () => {
    const instanceId = await join();
    await box.query("UPDATE signalbox.instance SET state = 'DEAD'");

    expect(await box.pool("drainer").transaction(async (tx) => await markDraining(tx, instanceId))).toBe(
      false,
    );

    expect(await renew(instanceId)).toEqual([]);
  });

  it("is refused when the lease has run out, though nobody has marked it yet", async () => {
    const instanceId = await join(-1);

    expect(await renew(instanceId)).toEqual([]);
  });

  it("that waited while it was found dead is refused", async () => {
    const instanceId = await join(-1);
    await box.query("UPDATE signalbox.instance SET expires_at = clock_timestamp() + interval '1 hour'");
    const rescuing = box.pool("rescuer");
    const pause = rescuing.pauseBefore("COMMIT");
    // A grace of minus two hours: its lease is over, as this rescuer sees it.
    const lost = rescuing.transaction(async (tx) => await markLost(tx, -7_200_000));
    await pause.reached;

    const renewal = renew(instanceId);
    await waitUntilBlocked(box.db.client, "renewer");
    pause.resume();

    expect(await lost).toMatchObject([{ instanceId }]);
    expect(await renewal).toEqual([]);
  });
});

describe("an instance", () => {
  it("gets a new boot id with every start", async () => {
    expect(await join()).not.toBe(await join());
  });

  it("that leaves is DEAD at once and cannot come back", async () => {
    const instanceId = await join();
    await box.pool("leaver").transaction(async (tx) => await leaveCluster(tx, instanceId));

    expect(await renew(instanceId)).toEqual([]);
    expect(await box.pool("drainer").transaction(async (tx) => await markDraining(tx, instanceId))).toBe(
      false,
    );
    expect(await box.value("SELECT state FROM signalbox.instance")).toBe("DEAD");
  });
});
