/** What a database can do to its clients beside going away. */

import pg from "pg";
import { afterEach, describe, expect, it } from "vitest";
import type { ToldError } from "../ha/instance-messages.ts";
import { doHarm, tried } from "../ha/nemesis.ts";
import { type OwnPostgres, startOwnPostgres } from "../ha/own-postgres.ts";
import { randomFrom } from "../ha/random.ts";
import { openRig, type Rig, type RigOptions } from "../ha/rig.ts";
import { requireTaken } from "../ha/sometimes.ts";
import { brokenLine } from "../ha/tolerated.ts";
import { until } from "../ha/until.ts";
import { longPart, longSeed } from "./long-settings.ts";
import { writeProof } from "./proof.ts";
import { slowness } from "./slowness.ts";

const WITHIN_MS = 60_000;

let postgres: OwnPostgres | null = null;
let rig: Rig | null = null;
let fromMs = 0;

afterEach(async () => {
  await rig?.close();
  await postgres?.remove();
  rig = null;
  postgres = null;
});

async function open(settings: Readonly<Record<string, string>> = {}, options: RigOptions = {}): Promise<Rig> {
  fromMs = performance.now();
  postgres = await startOwnPostgres(settings);
  rig = await openRig(postgres, randomFrom(longSeed), { slowness, ...options });
  return rig;
}
function secondsSince(): number {
  return (performance.now() - fromMs) / 1_000;
}

it("survives ten immediate stops within a minute", async () => {
  const station = await open();
  const { cluster, postgres: server } = station;
  const times = 10;
  for (let stops = 0; stops < times; stops += 1) {
    const begunAtMs = performance.now();
    await server.restart("immediate");
    // Evenly over the minute, whatever a recovery takes.
    await until("the next is due", () => performance.now() > begunAtMs + 6_000 * longPart, {
      withinMs: WITHIN_MS,
    });
  }
  const paths = { "failed passes": cluster.count("loop.failed") };
  const { summary } = await station.settleDown();
  requireTaken(paths);
  writeProof({
    title: "A crash loop of the database is survived",
    seed: longSeed,
    seconds: secondsSince(),
    faults: { "immediate stops": times },
    paths,
    notes: [summary],
  });
});

it("goes on when the server has no connection left, and keeps its leases", async () => {
  const tooMany = ({ code, message }: ToldError): boolean =>
    code === "53300" || brokenLine({ code, message });
  const station = await open({ max_connections: "40" }, { tolerates: tooMany });
  const { cluster, db, databaseUrl } = station;
  const guests = await fill(databaseUrl);
  const fencedBefore = cluster.count("instance.fenced");
  // Pools must come back for more, the lease's own connection is kept.
  await tried(
    db.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'signalbox instance-%'",
    ),
  );
  const more = await fill(databaseUrl);
  const refused = (): number => cluster.told("loop.failed").filter(({ code }) => code === "53300").length;
  await until("passes are refused", () => refused() >= 5, { withinMs: WITHIN_MS });
  const fenced = cluster.count("instance.fenced") - fencedBefore;
  await Promise.all([...guests, ...more].map(async (guest) => await guest.end()));
  const { summary } = await station.settleDown();

  expect(fenced).toBe(0);
  writeProof({
    title: "A server without a free connection costs no lease",
    seed: longSeed,
    seconds: secondsSince(),
    faults: { "connections taken away": guests.length + more.length },
    paths: { "passes refused with 53300": refused() },
    notes: [summary],
  });
});

/** Takes every connection that is left. */
async function fill(databaseUrl: string): Promise<readonly pg.Client[]> {
  const guests: pg.Client[] = [];
  for (;;) {
    const guest = new pg.Client({
      connectionString: databaseUrl,
      query_timeout: 10_000,
      application_name: "guest",
    });
    guest.on("error", () => {});
    try {
      await guest.connect();
      guests.push(guest);
    } catch {
      return guests;
    }
  }
}

describe("the default of the database's transactions", () => {
  it.each(["repeatable read", "serializable"])("is of no account: %s", async (level) => {
    const station = await open(
      {},
      {
        // No pass may fail with 40001: our transactions name their level.
        prepare: async (db) => {
          const { rows } = await db.query<{ name: string }>("SELECT current_database() AS name");
          await db.query(`ALTER DATABASE ${rows[0]?.name} SET default_transaction_isolation = '${level}'`);
        },
      },
    );
    const faults = await doHarm(station, randomFrom(longSeed).fork(level), 60_000 * longPart);
    const { summary } = await station.settleDown();

    writeProof({
      title: `Every promise holds where the default is ${level}`,
      seed: longSeed,
      seconds: secondsSince(),
      faults,
      paths: { rescued: station.cluster.count("task_run.rescued") },
      notes: [summary],
    });
  });

  it("is of no account: read only", async () => {
    const station = await open({}, { tolerates: ({ code }) => code === "25006" });
    const { cluster, db } = station;
    await db.query("ALTER SYSTEM SET default_transaction_read_only = on");
    await db.query("SELECT pg_reload_conf()");
    const settled = cluster.count("task_run.settled");
    const renewedFor = performance.now();
    await until(
      "work is done for longer than a lease",
      () => performance.now() > renewedFor + 5_000 && cluster.count("task_run.settled") > settled + 50,
      { withinMs: WITHIN_MS },
    );
    const fenced = cluster.count("instance.fenced");
    await db.query("ALTER SYSTEM RESET default_transaction_read_only");
    await db.query("SELECT pg_reload_conf()");
    const { summary } = await station.settleDown();

    expect(fenced).toBe(0);
    writeProof({
      title: "Work goes on where the default is read only",
      seed: longSeed,
      seconds: secondsSince(),
      faults: { "read-only default": 1 },
      paths: { "settled meanwhile": cluster.count("task_run.settled") - settled },
      notes: [summary],
    });
  });
});
