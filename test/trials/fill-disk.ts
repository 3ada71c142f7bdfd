/**
 * The server's disk is full: at first for its tables, where every write that needs another page is refused, then for its log, where the
 * server itself goes down. With room again all of it goes on by itself.
 */

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { exclusive, type TaskSpec } from "@signalbox/core";
import pg from "pg";
import { expect, onTestFinished } from "vitest";
import type { ToldError, WorkInput } from "../ha/instance-messages.ts";
import { isOutage, whatDriverSaid } from "../ha/outage.ts";
import type { Rig } from "../ha/rig.ts";
import { requireTaken, show } from "../ha/sometimes.ts";
import { brokenLine } from "../ha/tolerated.ts";
import { until } from "../ha/until.ts";
import { someoneWhoRuns } from "../ha/what-became.ts";
import { openTrial, type TrialOptions } from "./open-trial.ts";
import type { Shown } from "./shown.ts";
import { openSmallDisk, type SmallDisk } from "./small-disk.ts";

const WITHIN_MS = 60_000;
const DISK_FULL = "53100";
/** Most of the slots are kept by those who end when they are told, so that the others last until the disk is full. */
const HELD = 12;
const BACKLOG = 150;
/** Of the server's log: the next one is a file of its own, and all of it is written at once. */
const SEGMENT_MB = 16;

export interface Crowded {
  readonly rig: Rig;
  readonly disk: SmallDisk;
}

/** Null where there is no small disk: it is said in one line, and the test is to be skipped. */
export async function openDiskTrial(options: TrialOptions): Promise<Crowded | null> {
  const disk = await openSmallDisk();
  if (disk.kind === "none") {
    process.stdout.write(`Skipped: a full disk needs a small file system (${disk.because})\n`);
    return null;
  }
  onTestFinished(async () => await disk.remove());
  const rig = await openTrial({
    ...options,
    serverSettings: {
      max_wal_size: `${3 * SEGMENT_MB}MB`,
      min_wal_size: `${2 * SEGMENT_MB}MB`,
      // A segment that is there already would need no room.
      wal_recycle: "off",
      wal_init_zero: "on",
    },
    dataPlace: join(disk.dir, "place"),
    tolerates: (told) => isFull(told) || brokenLine(told),
  });
  return { rig, disk };
}

function isFull({ code }: ToldError): boolean {
  return code === DISK_FULL;
}

export async function fillDisk(crowded: Crowded, { times }: { readonly times: number }): Promise<Shown> {
  const paths: Record<string, number> = {};
  for (let round = 0; round < times; round += 1) {
    const taken = { ...(await refuseWrites(crowded)), ...(await crashForItsLog(crowded)) };
    requireTaken(taken);
    for (const [path, count] of Object.entries(taken)) paths[path] = (paths[path] ?? 0) + count;
  }
  return { faults: { "disk full for tables": times, "disk full for the server's log": times }, paths };
}

async function refuseWrites(crowded: Crowded): Promise<Record<string, number>> {
  const { rig, disk } = crowded;
  const { scheduler, db } = rig;
  const refusals = countRefusals(rig);
  const endReading = await keepOldRows(rig);
  // The log has a new segment, with room for all that is refused.
  await db.query("SELECT pg_switch_wal()");
  await db.query("CHECKPOINT");
  const releaseFile = join(rig.postgres.dir, `release-${randomUUID()}`);
  const held = Array.from({ length: HELD }, (_, index) => gated(`held/${index}`, { ms: 1, releaseFile }));
  const waiting = Array.from({ length: BACKLOG }, (_, index) => gated(`disk/${index}`, { ms: 200 }));
  const filler: TaskSpec = { kind: "work", input: { ms: 1 }, runAt: new Date(Date.now() + 86_400_000) };
  const { taskRuns } = await scheduler.enqueueMany([filler, ...held, ...waiting]);
  const [later = "", ...ids] = taskRuns.map(({ taskRunId }): string => taskRunId);
  await someoneWhoRuns(rig, ids.slice(0, HELD));

  const refused: string[] = [];
  const untilRefused = async (what: string, isSo: () => boolean): Promise<boolean> =>
    await until(
      what,
      async () => {
        await disk.fill();
        await useUpRoom(db, later);
        const title = `when the disk was full, ${randomUUID()}`;
        const taskRunId = await enqueueOrRefused(rig, title);
        if (taskRunId === null) refused.push(title);
        else ids.push(taskRunId);
        if (isSo()) return true;
        if (refusals().settler > 0) await letSettle(crowded);
        return false;
      },
      { withinMs: WITHIN_MS, instead: () => `${refused.length} enqueues, ${show(refusals())} refused` },
    );
  await untilRefused(
    "an enqueue and a claim are refused",
    () => refused.length > 0 && refusals().claimer > 0,
  );
  await writeFile(releaseFile, "");
  await untilRefused("a settlement is refused", () => refusals().settler > 0);
  await disk.empty();
  await endReading();
  await scheduler.cancel(later);
  await until("what was acknowledged is done", async () => await areDone(db, ids), { withinMs: WITHIN_MS });
  const { rows } = await db.query("SELECT FROM signalbox.task WHERE title = ANY ($1)", [refused]);
  expect(rows).toHaveLength(0);
  return {
    "enqueues refused": refused.length,
    "claims refused": refusals().claimer,
    "settlements refused": refusals().settler,
  };
}

/** Where all slots wait for settlements that are refused, nobody claims: room for these, and then the disk is filled again. */
async function letSettle({ rig: { cluster }, disk }: Crowded): Promise<void> {
  const before = cluster.count("task_run.settled");
  await disk.empty();
  await until("something is settled again", () => cluster.count("task_run.settled") > before, {
    withinMs: WITHIN_MS,
  });
}

function countRefusals({ cluster }: Rig): () => { readonly claimer: number; readonly settler: number } {
  const refusedPasses = (loop: string): number =>
    cluster.told("loop.failed").filter((told) => told.loop === loop && isFull(told)).length;
  const before = { claimer: refusedPasses("claimer"), settler: refusedPasses("settler") };
  return () => ({
    claimer: refusedPasses("claimer") - before.claimer,
    settler: refusedPasses("settler") - before.settler,
  });
}

/**
 * New versions of a row that nobody works on, until no page of its table has room for another of its size. Some at a
 * time: where the disk has got room again they would go on until the log has none.
 */
async function useUpRoom(db: pg.Pool, taskRunId: string): Promise<void> {
  try {
    for (let version = 0; version < 200; version += 1)
      await db.query("UPDATE signalbox.task_run SET priority = priority WHERE id = $1", [taskRunId]);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && error.code === DISK_FULL)) throw error;
  }
}

/** With a resource of its own it has been written twice before it is claimed. */
function gated(resource: string, input: WorkInput): TaskSpec {
  return { kind: "work", input, priority: 0, resources: [exclusive(resource)] };
}

/** Whoever may still look at old rows keeps the room that they take. Answers how to end that. */
async function keepOldRows({ databaseUrl }: Rig): Promise<() => Promise<void>> {
  const reader = new pg.Client({ connectionString: databaseUrl, query_timeout: 10_000 });
  reader.on("error", () => {});
  onTestFinished(async () => await reader.end());
  await reader.connect();
  await reader.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
  await reader.query("SELECT 1");
  return async () => void (await reader.query("COMMIT"));
}

async function enqueueOrRefused({ scheduler }: Rig, title: string): Promise<string | null> {
  try {
    const { taskRunId } = await scheduler.enqueue({ kind: "work", input: { ms: 5 }, title });
    return taskRunId;
  } catch (error) {
    if (error instanceof Error && isFull(whatDriverSaid(error))) return null;
    throw error;
  }
}

async function areDone(db: pg.Pool, taskRunIds: readonly string[]): Promise<boolean> {
  const { rowCount } = await db.query(
    "SELECT FROM signalbox.task_run WHERE id = ANY ($1::uuid[]) AND status = 'DONE'",
    [taskRunIds],
  );
  return rowCount === taskRunIds.length;
}

async function crashForItsLog({ rig, disk }: Crowded): Promise<Record<string, number>> {
  const { cluster, db, postgres } = rig;
  const { rows } = await db.query<{ dir: string }>("SELECT current_setting('data_directory') AS dir");
  const pidFile = join(rows[0]?.dir ?? "", "postmaster.pid");
  const failedBefore = cluster.count("loop.failed");
  await until(
    "the server goes down for want of a segment of its log",
    async () => {
      await disk.fill();
      return await crashes(db);
    },
    { withinMs: WITHIN_MS, everyMs: 1 },
  );
  await until("passes fail", () => cluster.count("loop.failed") > failedBefore, { withinMs: WITHIN_MS });
  await disk.empty();
  const isUp = async (): Promise<boolean> =>
    await db.query("SELECT 1").then(
      () => true,
      () => false,
    );
  await until("the server answers, or has given up", async () => (await isUp()) || !existsSync(pidFile), {
    withinMs: WITHIN_MS,
  });
  // One that could not even recover is started by whoever looks after servers. Nobody looks after the instances.
  if (!(await isUp())) await postgres.restart("fast");
  return { "server crashed": 1, "passes that met no server": cluster.count("loop.failed") - failedBefore };
}

/** A megabyte more of the log. The session in which the server goes down may hear its last word, the others hear nothing. */
async function crashes(db: pg.Pool): Promise<boolean> {
  try {
    await db.query("SELECT pg_logical_emit_message(false, 'fill', repeat('x', 1000000))");
    return false;
  } catch (error) {
    if (isOutage(error)) return true;
    if (error instanceof pg.DatabaseError && error.severity === "PANIC") return true;
    throw error;
  }
}
