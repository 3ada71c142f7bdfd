/**
 * One trial: a database, three instances, a load, somebody who looks on, and at the end everything that must
 * be true once the faults are over.
 */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createScheduler, type Scheduler } from "@signalbox/core";
import pg from "pg";
import { openPool } from "../../packages/core/src/store/database.ts";
import { type Cluster, createCluster } from "./cluster.ts";
import { drain } from "./drain.ts";
import { findWrong, type Leniency } from "./find-wrong.ts";
import type { InstanceOptions } from "./instance.ts";
import { INSTANCE_SETTINGS, type ToldError } from "./instance-messages.ts";
import { type Load, startLoad } from "./load.ts";
import { whatDriverSaid } from "./outage.ts";
import type { OwnPostgres } from "./own-postgres.ts";
import type { Random } from "./random.ts";
import { slowness } from "./slowness.ts";
import { type StandstillWatch, watchStandstill } from "./standstill.ts";
import { parseTrace, type TraceLine } from "./trace.ts";
import { proveEveryLoopTurns } from "./turning.ts";
import { startWatch, type Watch } from "./watch.ts";
import { openWire, type Wire } from "./wire.ts";

export interface Rig {
  readonly postgres: OwnPostgres;
  readonly databaseUrl: string;
  /** The client's side: no instance. */
  readonly scheduler: Scheduler;
  readonly clientWire: Wire;
  readonly db: pg.Pool;
  readonly cluster: Cluster;
  readonly load: Load;
  readonly watch: Watch;
  readonly standstill: StandstillWatch;
  trace(): Promise<readonly TraceLine[]>;
  /**
   * The faults are over: everything drains, and nothing is found that must not be. Answers what happened. What is named
   * in `mayBeLost` was answered as enqueued by a primary whose standby had not got it.
   */
  settleDown(options?: { readonly mayBeLost?: ReadonlySet<string> }): Promise<Ended>;
  /** Ends every process. Safe at any time, and to repeat. */
  close(): Promise<void>;
}

export interface RigOptions {
  /** Default: 3. */
  readonly instances?: number;
  /** How every instance differs from the usual. */
  readonly instance?: InstanceOptions;
  /** Passes, calls and looks that may fail in this trial beside those that met no database. */
  readonly tolerates?: (told: ToldError) => boolean;
  /** Where instances connect, when it is not straight to the database. */
  readonly instancesUrl?: (databaseUrl: string) => string;
  /**
   * How much later than usual a dead instance's work may be found while faults happen: where several of few instances are
   * down at once, those who are left are few. Default: 0.
   */
  readonly laterMs?: number;
  /** LISTEN goes straight to the database, whatever `instancesUrl` says. */
  readonly direct?: boolean;
  /** Before the load begins. */
  readonly prepare?: (db: pg.Pool, databaseUrl: string) => Promise<void>;
}

interface Ended {
  readonly taskRuns: number;
  readonly drainMs: number;
  readonly summary: string;
}

const INSTANCES = 3;
/** Some ten times what it takes: a lease, a grace, the retries and what is in line behind them. */
const DRAIN_WITHIN_MS = 90_000;
/** Several polls of every instance. */
const STANDS_STILL_MS = 6 * INSTANCE_SETTINGS.pollIntervalMs;

let rigs = 0;

export async function openRig(postgres: OwnPostgres, random: Random, options: RigOptions = {}): Promise<Rig> {
  rigs += 1;
  const name = `trial_${rigs}`;
  const databaseUrl = await createDatabase(postgres.url, name);
  const traceFile = join(postgres.dir, `${name}.jsonl`);
  const clientWire = await openWire(databaseUrl);
  const client = { databaseUrl, ...INSTANCE_SETTINGS, name: "client" };
  const scheduler = createScheduler({ ...client, databaseUrl: clientWire.url, poolSize: 3 });
  const looker = createScheduler({ ...client, poolSize: 1 });
  const looks = openPool({ url: databaseUrl, size: 1, queryTimeoutMs: 10_000, applicationName: "watch" });
  const db = new pg.Pool({ connectionString: databaseUrl, max: 3, query_timeout: 30_000 });
  // A connection that breaks is told by a rejected query; without listeners it would end the tests.
  db.on("error", () => {}).on("connect", (connection) => connection.on("error", () => {}));
  const cluster = createCluster({ ...placeOf(databaseUrl, options), traceFile });
  const standstill = watchStandstill(postgres.dir);
  let load: Load | null = null;
  let watch: Watch | null = null;
  const closeAll = async (): Promise<void> => {
    // First: nothing may outlive the test, whatever fails after this.
    await cluster.end();
    await load?.stop();
    await watch?.stop();
    await standstill.stop();
    await Promise.all([scheduler.stop(), looker.stop(), looks.close(), db.end()]);
    await clientWire.close();
  };
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    closing ??= closeAll();
    await closing;
  };
  try {
    await scheduler.migrate();
    await options.prepare?.(db, databaseUrl);
    const count = options.instances ?? INSTANCES;
    await Promise.all(Array.from({ length: count }, async () => await cluster.add()));
    const tolerates = toldTo(options.tolerates);
    load = startLoad({ scheduler, db, random: random.fork("load"), tolerates });
    const { laterMs = 0 } = options;
    watch = startWatch({ db, pool: looks, scheduler: looker, cluster, tolerates, laterMs });
    const rig: Rig = {
      postgres,
      databaseUrl,
      scheduler,
      clientWire,
      db,
      cluster,
      load,
      watch,
      standstill,
      trace: async () => parseTrace(await readFile(traceFile, "utf8")),
      settleDown: async ({ mayBeLost = new Set<string>() } = {}) =>
        await settleDown(rig, { mayBeLost, tolerates: options.tolerates ?? (() => false) }),
      close,
    };
    return rig;
  } catch (error) {
    await close();
    throw error;
  }
}

/** Where instances connect, and how they differ from the usual. */
function placeOf(
  databaseUrl: string,
  { instancesUrl, instance, direct }: RigOptions,
): { readonly databaseUrl: string; readonly options: InstanceOptions } {
  const settings = { ...instance?.settings, ...(direct === true && { directUrl: databaseUrl }) };
  return { databaseUrl: instancesUrl?.(databaseUrl) ?? databaseUrl, options: { ...instance, settings } };
}

/** The same question about an error that was thrown. */
function toldTo(tolerates: RigOptions["tolerates"]): (error: unknown) => boolean {
  return (error) => {
    if (tolerates === undefined || !(error instanceof Error)) return false;
    return tolerates(whatDriverSaid(error));
  };
}

async function settleDown(rig: Rig, leniency: Leniency): Promise<Ended> {
  await proveEveryLoopTurns(rig, rig.cluster.running);
  await rig.load.stop();
  const from = performance.now();
  const slower = slowness();
  await drain(rig.db, {
    withinMs: DRAIN_WITHIN_MS * slower,
    standsStillMs: STANDS_STILL_MS * slower,
  }).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${describeLast(rig)}`, { cause: error });
  });
  const drainMs = Math.round(performance.now() - from);
  await rig.watch.stop();
  const wrong = await findWrong(rig, leniency);
  if (wrong.length > 0) {
    const said = await rig.postgres.complaints();
    throw new Error(
      [`${wrong.length} found:`, ...wrong.slice(0, 20), "The server's log:", ...said].join("\n"),
    );
  }
  return await summarise(rig, drainMs);
}

/** What may have kept it from draining. */
function describeLast({ cluster, watch }: Rig): string {
  const instances = cluster.all
    .filter(({ state }) => state !== "ended")
    .map((each) => {
      const failed = each.told("loop.failed").slice(-3);
      return `${each.name} ${each.state} as ${each.bootId}: ${failed.map(({ loop, code, message }) => `${loop} ${code} ${message}`).join("; ")}`;
    });
  return [...instances, ...watch.violations.slice(0, 10)].join("\n");
}

async function summarise({ db, cluster, load, watch, standstill }: Rig, drainMs: number): Promise<Ended> {
  const { rows } = await db.query<{ outcome: string; count: number }>(`
    SELECT outcome, count(*)::integer AS count FROM signalbox.task_run GROUP BY outcome ORDER BY count DESC`);
  const taskRuns = rows.reduce((sum, { count }) => sum + count, 0);
  const failures = new Map<string, number>();
  for (const { loop } of cluster.told("loop.failed")) failures.set(loop, (failures.get(loop) ?? 0) + 1);
  const parts = [
    `${taskRuns} task runs (${rows.map(({ outcome, count }) => `${outcome} ${count}`).join(", ")})`,
    `${load.acknowledged.length} acknowledged, ${load.unknown} calls unknown`,
    `rescued ${cluster.count("task_run.rescued")}, refused ${cluster.count("task_run.refused")}`,
    `${load.keys.size} keys, ${load.changed["key again"]} asked for again`,
    `handed back ${cluster.count("task_run.handed_back")}, aborted ${cluster.count("task_run.aborted")}`,
    `new timelines seen ${cluster.count("timeline.changed")}`,
    `fenced ${cluster.count("instance.fenced")}, lock missed ${cluster.count("gate.lock_missed")}`,
    `failed passes: ${[...failures].map(([loop, count]) => `${loop} ${count}`).join(", ") || "none"}`,
    `${watch.looks} looks, ${watch.compared} rows compared with their owners`,
    `drained in ${drainMs} ms, the machine stood still for ${standstill.longestMs()} ms at most`,
  ];
  return { taskRuns, drainMs, summary: parts.join("; ") };
}

async function createDatabase(adminUrl: string, name: string): Promise<string> {
  const admin = new pg.Client({ connectionString: adminUrl, query_timeout: 30_000 });
  await admin.connect();
  try {
    await admin.query(`CREATE DATABASE ${name}`);
  } finally {
    await admin.end();
  }
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return url.href;
}
