/** Clocks that lie: the database's jumps, and those of instances go too fast or too slow. */

import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createScheduler, exclusive, type Scheduler } from "@signalbox/core";
import { afterEach, expect, it } from "vitest";
import { type Cluster, createCluster } from "../ha/cluster.ts";
import type { Instance } from "../ha/instance.ts";
import { INSTANCE_SETTINGS, type WorkInput } from "../ha/instance-messages.ts";
import { type OwnPostgres, startOwnPostgres } from "../ha/own-postgres.ts";
import { randomFrom } from "../ha/random.ts";
import { openRig, type Rig } from "../ha/rig.ts";
import { requireTaken } from "../ha/sometimes.ts";
import { brokenLine } from "../ha/tolerated.ts";
import { findDoubleEffects, findSharedNumbers, parseTrace } from "../ha/trace.ts";
import { until } from "../ha/until.ts";
import { findFakeTime } from "../trials/fake-time.ts";
import { longSeed, partOf } from "./long-settings.ts";
import { writeProof } from "./proof.ts";

const WITHIN_MS = 60_000;
/** What compares no times: these hold whatever the clock did. */
const TIMELESS = new Set(["S3", "S5", "S21", "S25"]);

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

function own<Thing>(thing: Thing, close: (thing: Thing) => Promise<unknown>): Thing {
  closing.push(async () => await close(thing));
  return thing;
}

it("gives up before others take over, with a clock that goes a tenth too fast or too slow", async (test) => {
  const library = findFakeTime();
  if (library === null) return test.skip();
  const fromMs = performance.now();
  const postgres = own(await startOwnPostgres(), async (it) => await it.remove());
  const rig: Rig = own(
    await openRig(postgres, randomFrom(longSeed), { tolerates: brokenLine }),
    async (it) => await it.close(),
  );
  const { cluster } = rig;
  const drifting = async (rate: string): Promise<Instance> =>
    await cluster.add({ env: { LD_PRELOAD: library, FAKETIME: `+0 ${rate}`, FAKETIME_NO_CACHE: "1" } });
  const [slow, fast] = [await drifting("x0.9"), await drifting("x1.1")];
  const before = [await lookAtClock(rig, slow), await lookAtClock(rig, fast)] as const;

  const rounds = partOf(10);
  for (let round = 0; round < rounds; round += 1) {
    for (const instance of [slow, fast]) await cutOff(cluster, instance);
  }
  const paths = {
    "fenced before others took over": slow.count("instance.fenced") + fast.count("instance.fenced"),
    "claimed by those that drift": slow.count("task_run.claimed") + fast.count("task_run.claimed"),
    rescued: cluster.count("task_run.rescued"),
  };
  const after = [await lookAtClock(rig, slow), await lookAtClock(rig, fast)] as const;
  const rates = [rateOf(before[0], after[0]), rateOf(before[1], after[1])] as const;
  const { summary } = await rig.settleDown();

  // What they wrote down shows that their clocks really drift.
  expect(rates[0]).toBeLessThan(0.95);
  expect(rates[1]).toBeGreaterThan(1.05);
  requireTaken(paths);
  writeProof({
    title: "An instance whose clock drifts by a tenth gives up before others take over",
    seed: longSeed,
    seconds: (performance.now() - fromMs) / 1_000,
    faults: { "cut off from the database": 2 * rounds, "clocks that drift": 2 },
    paths,
    notes: [`their clocks went by ${rates.map((rate) => rate.toFixed(2)).join(" and ")}`, summary],
  });
});

interface Look {
  readonly writtenMs: number;
  readonly atMs: number;
}

/** The next time that this instance writes down, and when that was by the machine's clock. */
async function lookAtClock(rig: Rig, { name, pid }: Instance): Promise<Look> {
  const written = async (): Promise<readonly number[]> =>
    (await rig.trace()).filter((line) => line.pid === pid).map(({ us }) => us / 1_000);
  const known = (await written()).length;
  return await until(
    `${name} writes`,
    async () => {
      const writtenMs = (await written()).at(known);
      return writtenMs === undefined ? null : { writtenMs, atMs: performance.now() };
    },
    { withinMs: WITHIN_MS, everyMs: 10 },
  );
}

function rateOf(before: Look, after: Look): number {
  return (after.writtenMs - before.writtenMs) / (after.atMs - before.atMs);
}

/** Until others have noticed; it must have given up by then. */
async function cutOff(cluster: Cluster, instance: Instance): Promise<void> {
  const { bootId } = instance;
  if (bootId === null) throw new Error(`${instance.name} has no lease`);
  const wire = cluster.wireOf(instance);
  const fenced = (): boolean =>
    instance.told("instance.fenced").some(({ instanceId }) => instanceId === bootId);
  wire.hush("to the database", "to the instance");
  await until(
    `somebody finds ${instance.name} lost`,
    () => cluster.told("instance.lost").some(({ lostInstanceId }) => lostInstanceId === bootId),
    { withinMs: WITHIN_MS, everyMs: 10 },
  );
  expect(fenced(), `${instance.name} had given up`).toBe(true);
  wire.heal();
  wire.cut();
  await until(`${instance.name} is back`, () => instance.bootId !== null && instance.bootId !== bootId, {
    withinMs: WITHIN_MS,
  });
}

it("goes on when the clock of the database jumps back ten minutes, and forward by more than an hour", async (test) => {
  const library = findFakeTime();
  if (library === null) return test.skip();
  const fromMs = performance.now();
  const dir = own(mkdtempSync(join(tmpdir(), "signalbox-clock-")), async (it) =>
    rmSync(it, { recursive: true }),
  );
  // As root the server runs as another user, who must be able to read it.
  chmodSync(dir, 0o755);
  const clockFile = join(dir, "clock");
  writeFileSync(clockFile, "+0");
  const postgres = own(await startWithClock(library, clockFile), async (it) => await it.remove());
  const databaseUrl = postgres.url;
  const scheduler = own(createScheduler({ databaseUrl, poolSize: 3 }), async (it) => await it.stop());
  await scheduler.migrate();
  const jump = async (seconds: number): Promise<void> => {
    writeFileSync(clockFile, `${seconds < 0 ? "" : "+"}${seconds}`);
    const { computedAt } = await scheduler.overview();
    expect(Math.abs(computedAt.getTime() - Date.now() - 1_000 * seconds)).toBeLessThan(60_000);
  };
  const traceFile = join(dir, "trace.jsonl");
  const cluster = own(createCluster({ databaseUrl, traceFile }), async (it) => await it.end());
  await Promise.all([cluster.add(), cluster.add(), cluster.add()]);
  const everybodyRenews = async (): Promise<void> => {
    const before = new Map(cluster.running.map((each) => [each, each.count("lease.renewed")]));
    await until(
      "everybody renews",
      () => [...before].every(([each, count]) => each.count("lease.renewed") >= count + 2),
      { withinMs: WITHIN_MS },
    );
  };
  const tasks = [...(await enqueue(scheduler, 30))];
  await everybodyRenews();

  await jump(-600);
  await everybodyRenews();
  const fencedWhenBack = cluster.count("instance.fenced");
  tasks.push(...(await enqueue(scheduler, 30)));
  const [victim] = cluster.running;
  await until("it runs something", () => (victim?.count("task_run.claimed") ?? 0) > 0, {
    withinMs: WITHIN_MS,
  });
  await victim?.kill();
  await until("its loss is found", () => cluster.count("instance.lost") > 0, { withinMs: WITHIN_MS });
  await untilDone(scheduler, tasks);

  // No lease outlives this: others may take over before anybody has noticed, and only the claim number keeps them apart.
  const joined = cluster.count("instance.joined");
  tasks.push(...(await enqueue(scheduler, 30)));
  await jump(3_600);
  await until("all that live have joined anew", () => cluster.count("instance.joined") >= joined + 2, {
    withinMs: WITHIN_MS,
  });
  tasks.push(...(await enqueue(scheduler, 30)));
  await untilDone(scheduler, tasks);

  const { violations } = await scheduler.checkInvariants({ since: new Date(0) });
  const trace = parseTrace(readFileSync(traceFile, "utf8"));
  expect(fencedWhenBack, "a clock that goes back ends no lease").toBe(0);
  expect(violations.filter(({ property }) => TIMELESS.has(property))).toEqual([]);
  expect([...findDoubleEffects(trace), ...findSharedNumbers(trace)]).toEqual([]);
  const paths = {
    fenced: cluster.count("instance.fenced"),
    "found lost": cluster.count("instance.lost"),
    "joined anew": cluster.count("instance.joined") - 3,
  };
  requireTaken(paths);
  writeProof({
    title: "Work goes on when the clock of the database jumps",
    seed: longSeed,
    seconds: (performance.now() - fromMs) / 1_000,
    faults: { "jumps of the clock": 2, kills: 1 },
    paths,
    notes: [
      `${tasks.length} tasks, all DONE; rescued ${cluster.count("task_run.rescued")}, refused ${cluster.count("task_run.refused")}`,
    ],
  });
});

/** Only the server: what this process starts after it has the machine's clock. */
async function startWithClock(library: string, clockFile: string): Promise<OwnPostgres> {
  const fake = {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: clockFile,
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
    FAKETIME_NO_CACHE: "1",
  };
  Object.assign(process.env, fake);
  try {
    return await startOwnPostgres();
  } finally {
    for (const name of Object.keys(fake)) Reflect.deleteProperty(process.env, name);
  }
}

async function enqueue(scheduler: Scheduler, count: number): Promise<readonly string[]> {
  const input: WorkInput = { ms: 200 };
  const { taskRuns } = await scheduler.enqueueMany(
    Array.from({ length: count }, (_, index) => ({
      kind: "work",
      input,
      resources: [exclusive(`place ${index % 10}`)],
      retry: { attempts: 3, backoff: { firstMs: 0 } },
    })),
  );
  return taskRuns.map(({ taskId }) => taskId);
}

async function untilDone(scheduler: Scheduler, taskIds: readonly string[]): Promise<void> {
  const left = new Set(taskIds);
  await until(
    "all are done",
    async () => {
      for (const taskId of left) {
        if ((await scheduler.get(taskId)).status !== "DONE") return false;
        left.delete(taskId);
      }
      return true;
    },
    { withinMs: 2 * WITHIN_MS, everyMs: INSTANCE_SETTINGS.beatMs, instead: () => `${left.size} are left` },
  );
}
