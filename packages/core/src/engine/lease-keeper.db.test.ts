import { setTimeout as wait } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, it } from "vitest";
import { closeDatabase } from "../../test/close-database.ts";
import type { InstanceId } from "../domain/ids.ts";
import { monotonicMs } from "../executors/monotonic.ts";
import { openPool, type Pool } from "../store/database.ts";
import { joinCluster } from "../store/instances/instance.ts";
import { createTestDatabase, type TestDatabase } from "../testing/test-database.ts";
import { keepLease, type LeaseKeeper } from "./lease-keeper.ts";
import { createLeaseRenewer, type LeaseRenewer } from "./lease-renewer.ts";

const LEASE_MS = 2_000;
const BEAT_MS = 200;

let database: TestDatabase;
let pool: Pool;
let instanceId: InstanceId;
let lease: LeaseKeeper;
let renewer: LeaseRenewer;
let renewals = 0;
let losses = 0;
let told: (number | "lost")[] = [];
let failures: unknown[] = [];

beforeAll(async () => {
  database = await createTestDatabase(inject("adminUrl"));
  pool = openPool({ url: database.url, size: 1, queryTimeoutMs: 5_000, applicationName: "test" });
  renewer = createLeaseRenewer({ url: database.url, leaseMs: LEASE_MS, beatMs: BEAT_MS });
  await warmUp();
});

/** To start the thread from the sources takes a busy machine longer than these leases last. */
async function warmUp(): Promise<void> {
  let renewed = false;
  const leaseMs = 60_000;
  const bootId = await pool.transaction(
    async (tx) => await joinCluster(tx, { name: "first", kinds: [], slots: 1, leaseMs, mark: null }),
  );
  const onRenewed = (): void => {
    renewed = true;
  };
  const options = { renewer, instanceId: bootId, leaseMs, beatMs: BEAT_MS, begunAtMs: monotonicMs() };
  const first = keepLease({
    ...options,
    onTimeline: () => {},
    onRenewed,
    onFailed: () => {},
    onLost: () => {},
    onOverdue: () => {},
    onOverdueFailed: () => {},
  });
  await until(() => renewed);
  first.stop();
}

afterAll(async () => {
  await renewer.end();
  await pool.close();
  await database.drop();
});
beforeEach(async () => {
  renewals = 0;
  losses = 0;
  told = [];
  failures = [];
  const begunAtMs = monotonicMs();
  instanceId = await pool.transaction(
    async (tx) =>
      await joinCluster(tx, {
        name: "inst-a",
        kinds: [],
        slots: 1,
        leaseMs: LEASE_MS,
        mark: null,
      }),
  );
  lease = keepLease({
    renewer,
    instanceId,
    leaseMs: LEASE_MS,
    beatMs: BEAT_MS,
    begunAtMs,
    onTimeline: (timeline) => {
      told.push(timeline);
    },
    onRenewed: () => {
      renewals += 1;
    },
    onFailed: (error) => failures.push(error),
    onOverdue: () => {},
    onOverdueFailed: () => {},
    onLost: () => {
      losses += 1;
      told.push("lost");
    },
  });
  await until(() => renewals > 0);
});
afterEach(() => lease.stop());

async function until(condition: () => boolean): Promise<void> {
  const giveUpAt = monotonicMs() + 20_000;
  while (!condition()) {
    if (monotonicMs() > giveUpAt) throw new Error("The condition did not come true within 20 s");
    await wait(5);
  }
}

async function leaseLeftMs(): Promise<number> {
  const { rows } = await database.client.query<{ ms: number }>(
    "SELECT (extract(epoch FROM expires_at - clock_timestamp()) * 1000)::float8 AS ms FROM signalbox.instance WHERE boot_id = $1",
    [instanceId],
  );
  return rows[0]?.ms ?? Number.NaN;
}

it("keeps the lease while the main loop is busy for longer than the lease", async () => {
  const busyUntilMs = monotonicMs() + 1.5 * LEASE_MS;
  while (monotonicMs() < busyUntilMs);

  // Asked before the loop has seen any message of the thread: what counts was written while it was busy.
  expect(lease.isTrusted()).toBe(true);
  expect(await leaseLeftMs()).toBeGreaterThan(0);
  const before = renewals;
  await until(() => renewals > before);
  expect(losses).toBe(0);
});

it("tells on which timeline the lease is lost before it says so: a pool that stayed behind must not join there again", async () => {
  const { rows } = await database.client.query<{ timeline: number }>(
    "SELECT signalbox.current_timeline() AS timeline",
  );
  await database.client.query("UPDATE signalbox.instance SET state = 'DEAD' WHERE boot_id = $1", [
    instanceId,
  ]);
  await until(() => losses > 0);

  expect(told.at(-2)).toBe(rows[0]?.timeline);
  expect(told.filter((each) => each !== "lost").length).toBeGreaterThan(renewals);
});

it("gives the lease up when others have marked the instance DEAD", async () => {
  await database.client.query("UPDATE signalbox.instance SET state = 'DEAD' WHERE boot_id = $1", [
    instanceId,
  ]);

  await until(() => losses > 0);

  expect(lease.isTrusted()).toBe(false);
  expect(losses).toBe(1);
});

it("gives the lease up before it ends in the database, when no renewal comes through", async () => {
  // The renewal waits for this lock, as it would for a network that swallows packets.
  await database.client.query("BEGIN");
  await database.client.query("SELECT FROM signalbox.instance WHERE boot_id = $1 FOR UPDATE", [instanceId]);

  await until(() => losses > 0);

  expect(lease.isTrusted()).toBe(false);
  expect(await leaseLeftMs()).toBeGreaterThan(0);
  await database.client.query("ROLLBACK");
});

it("tells each beat that failed, with the code of its error", async () => {
  const connections = await closeDatabase(inject("adminUrl"), database.url);
  await database.client.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'signalbox lease'`,
  );

  await until(() => failures.length > 0);

  expect(failures[0]).toBeInstanceOf(Error);
  expect(failures[0]).toHaveProperty("code", "55000");
  await connections.reopen();
});

it("lets the next life be renewed by the same thread, and the one before by nobody", async () => {
  const lives: { readonly instanceId: InstanceId; readonly lease: LeaseKeeper; renewed: number }[] = [];
  const begin = async (): Promise<void> => {
    const begunAtMs = monotonicMs();
    const bootId = await pool.transaction(
      async (tx) =>
        await joinCluster(tx, {
          name: "inst-b",
          kinds: [],
          slots: 1,
          leaseMs: LEASE_MS,
          mark: null,
        }),
    );
    const options = { leaseMs: LEASE_MS, beatMs: BEAT_MS, begunAtMs, renewer };
    const index = lives.length;
    const onRenewed = (): void => {
      const life = lives[index];
      if (life !== undefined) life.renewed += 1;
    };
    const keeper = keepLease({
      ...options,
      instanceId: bootId,
      onTimeline: () => {},
      onRenewed,
      onFailed: () => {},
      onLost: () => {},
      onOverdue: () => {},
      onOverdueFailed: () => {},
    });
    lives.push({ instanceId: bootId, lease: keeper, renewed: 0 });
  };
  await begin();
  await until(() => (lives[0]?.renewed ?? 0) > 0);
  lives[0]?.lease.stop();
  await begin();
  await until(() => (lives[1]?.renewed ?? 0) > 0);
  const before = lives[0]?.renewed;
  const beatOfFirst = await beatAt(lives[0]?.instanceId);
  const renewedSoFar = lives[1]?.renewed ?? 0;
  await until(() => (lives[1]?.renewed ?? 0) > renewedSoFar + 2);

  expect(lives[0]?.renewed).toBe(before);
  expect(await beatAt(lives[0]?.instanceId)).toBe(beatOfFirst);
  lives[1]?.lease.stop();
});

async function beatAt(bootId: InstanceId | undefined): Promise<string | undefined> {
  const { rows } = await database.client.query<{ at: string }>(
    "SELECT beat_at::text AS at FROM signalbox.instance WHERE boot_id = $1",
    [bootId],
  );
  return rows[0]?.at;
}
