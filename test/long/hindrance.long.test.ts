/** A database that is there, and in which somebody stands in the way. */

import pg from "pg";
import { afterEach, expect, it } from "vitest";
import type { ToldError } from "../ha/instance-messages.ts";
import { type OwnPostgres, startOwnPostgres } from "../ha/own-postgres.ts";
import { randomFrom } from "../ha/random.ts";
import { openRig, type Rig, type RigOptions } from "../ha/rig.ts";
import { requireTaken } from "../ha/sometimes.ts";
import { until } from "../ha/until.ts";
import { longSeed } from "./long-settings.ts";
import { writeProof } from "./proof.ts";
import { slowness } from "./slowness.ts";

const WITHIN_MS = 60_000;

let postgres: OwnPostgres | null = null;
let rig: Rig | null = null;
let guest: pg.Client | null = null;
let fromMs = 0;

afterEach(async () => {
  await guest?.end();
  await rig?.close();
  await postgres?.remove();
  guest = null;
  rig = null;
  postgres = null;
});

async function open(settings: Readonly<Record<string, string>>, options: RigOptions): Promise<Rig> {
  fromMs = performance.now();
  postgres = await startOwnPostgres(settings);
  rig = await openRig(postgres, randomFrom(longSeed), { slowness, ...options });
  guest = new pg.Client({ connectionString: rig.databaseUrl, application_name: "guest" });
  guest.on("error", () => {});
  await guest.connect();
  return rig;
}
function secondsSince(): number {
  return (performance.now() - fromMs) / 1_000;
}
async function settledMore(station: Rig, more: number): Promise<void> {
  const before = station.cluster.count("task_run.settled");
  await until("work goes on", () => station.cluster.count("task_run.settled") >= before + more, {
    withinMs: WITHIN_MS,
  });
}

it("keeps its leases while somebody locks a table for longer than a lease, and goes on afterwards", async () => {
  // What a statement says that waited for too long, and the driver when the server says nothing.
  const waited = ({ code, message }: ToldError): boolean =>
    ["55P03", "57014", "25P03"].includes(code ?? "") || /timeout/i.test(message);
  // Long enough for a busy machine: whoever is fenced here is so because of the lock.
  const leaseMs = 10_000;
  const station = await open(
    {},
    { instance: { settings: { leaseMs } }, tolerates: waited, laterMs: 3 * leaseMs },
  );
  const { cluster } = station;
  const tables = ["task_run", "waiting", "claim_batch"];
  const fencedBefore = cluster.count("instance.fenced");
  const failedBefore = cluster.count("loop.failed");
  for (const table of tables) {
    await settledMore(station, 5);
    await guest?.query("BEGIN");
    await guest?.query(`LOCK TABLE signalbox.${table} IN ACCESS EXCLUSIVE MODE`);
    const untilMs = performance.now() + 1.5 * leaseMs;
    await until("the lock is held for long enough", () => performance.now() > untilMs, {
      withinMs: WITHIN_MS,
    });
    await guest?.query("COMMIT");
  }
  await settledMore(station, 5);
  const fenced = cluster.count("instance.fenced") - fencedBefore;
  const paths = { "failed passes": cluster.count("loop.failed") - failedBefore };
  const { summary } = await station.settleDown();

  expect(fenced).toBe(0);
  requireTaken(paths);
  writeProof({
    title: "A table that somebody locks costs no lease",
    seed: longSeed,
    seconds: secondsSince(),
    faults: { "tables locked for a lease and a half": tables.length },
    paths,
    notes: [summary],
  });
});

it("goes on by polling when the queue of NOTIFY is full, and no transaction fails because of a hint", async () => {
  const station = await open({ max_notify_queue_pages: "64" }, {});
  const { cluster, scheduler, db } = station;
  // Who listens and does not come to the end of its transaction keeps all that is sent from then on.
  await guest?.query("LISTEN nobody; BEGIN; SELECT 1");
  const full = async (): Promise<boolean> => {
    const payload = "x".repeat(7_000);
    try {
      await db.query("SELECT pg_notify('flood', $1 || n) FROM generate_series(1, 100) AS n", [payload]);
      return false;
    } catch (error) {
      return error instanceof pg.DatabaseError && error.code === "54000";
    }
  };
  await until("there is no room for another one", full, { withinMs: WITHIN_MS });

  const inside = await db.connect();
  try {
    await inside.query("BEGIN");
    const spec = { kind: "work", input: { ms: 1 }, priority: 0 };
    const { taskRunId } = await scheduler.enqueue(spec, { transaction: inside });
    await inside.query("COMMIT");
    const ended = async (): Promise<boolean> => (await scheduler.get(taskRunId)).status === "DONE";
    await until("what came with a transaction of a caller is done", ended, { withinMs: WITHIN_MS });
  } finally {
    inside.release();
  }
  await settledMore(station, 50);
  expect(await full()).toBe(true);
  await guest?.query("COMMIT");
  const paths = { settled: cluster.count("task_run.settled") };
  const { summary } = await station.settleDown();

  expect(cluster.count("loop.failed")).toBe(0);
  writeProof({
    title: "A full queue of NOTIFY stops nobody",
    seed: longSeed,
    seconds: secondsSince(),
    faults: { "queue filled": 1 },
    paths,
    notes: [summary],
  });
});
