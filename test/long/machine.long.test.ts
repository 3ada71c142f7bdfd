/** What the machine can do to one instance: a wrong clock, too little memory, no file descriptor left. */

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import type { Instance } from "../ha/instance.ts";
import type { ToldError, WorkInput } from "../ha/instance-messages.ts";
import { doHarm } from "../ha/nemesis.ts";
import { type OwnPostgres, startOwnPostgres } from "../ha/own-postgres.ts";
import { randomFrom } from "../ha/random.ts";
import { openRig, type Rig } from "../ha/rig.ts";
import { requireTaken } from "../ha/sometimes.ts";
import { brokenLine } from "../ha/tolerated.ts";
import { until } from "../ha/until.ts";
import { longPart, longSeed } from "./long-settings.ts";
import { writeProof } from "./proof.ts";
import { slowness } from "./slowness.ts";

const WITHIN_MS = 60_000;
const TEN_MINUTES_MS = 600_000;

let postgres: OwnPostgres;
let rig: Rig | null = null;
let fromMs = 0;

beforeAll(async () => {
  postgres = await startOwnPostgres();
});
afterEach(async () => {
  await rig?.close();
  rig = null;
});
afterAll(async () => await postgres?.remove());

async function open(tolerates: (told: ToldError) => boolean = () => false): Promise<Rig> {
  fromMs = performance.now();
  rig = await openRig(postgres, randomFrom(longSeed), { tolerates, slowness });
  return rig;
}
function secondsSince(): number {
  return (performance.now() - fromMs) / 1_000;
}

it("is not disturbed by instances whose clocks are ten minutes off", async (test) => {
  const library = ["/usr/lib/*/faketime/libfaketime.so.1", "/usr/lib/faketime/libfaketime.so.1"]
    .flatMap((pattern) => globOf(pattern))
    .at(0);
  if (library === undefined) {
    process.stdout.write(
      "Skipped: a wrong clock needs libfaketime, which is not installed (scripts/ci-tools.sh)\n",
    );
    return test.skip();
  }
  const station = await open();
  const { cluster } = station;
  const off = await Promise.all(
    ["+600s", "-600s"].map(
      async (faketime) =>
        await cluster.add({
          env: {
            LD_PRELOAD: library,
            FAKETIME: faketime,
            FAKETIME_DONT_FAKE_MONOTONIC: "1",
            FAKETIME_NO_CACHE: "1",
          },
        }),
    ),
  );
  const [ahead, behind] = off.map(({ clockAtStart }) => (clockAtStart ?? Date.now()) - Date.now());
  const faults = await doHarm(station, randomFrom(longSeed).fork("clocks"), 90_000 * longPart);
  const paths = {
    "claimed by those who are off": off.reduce((sum, each) => sum + each.count("task_run.claimed"), 0),
    "settled by those who are off": off.reduce((sum, each) => sum + each.count("task_run.settled"), 0),
    rescued: cluster.count("task_run.rescued"),
  };
  const { summary } = await station.settleDown();

  expect(ahead).toBeGreaterThan(TEN_MINUTES_MS - 60_000);
  expect(behind).toBeLessThan(60_000 - TEN_MINUTES_MS);
  requireTaken(paths);
  writeProof({
    title: "Clocks of instances are of no account",
    seed: longSeed,
    seconds: secondsSince(),
    faults: { ...faults, "clocks ten minutes off": 2 },
    paths,
    notes: [summary],
  });
});

/** Node 20 has no `glob` in `fs`: one star, for the name of the machine's architecture. */
function globOf(pattern: string): readonly string[] {
  if (!pattern.includes("*")) return existsSync(pattern) ? [pattern] : [];
  const [before = "", after = ""] = pattern.split("*");
  return readdirSync(before)
    .map((name) => `${before}${name}${after}`)
    .filter((path) => existsSync(path));
}

it("takes over what an instance ran that was out of memory", async () => {
  const station = await open();
  const { cluster, scheduler } = station;
  const deaths: Instance[] = [];
  const input: WorkInput = { ms: 50 };
  while (deaths.length < 2) {
    const small = await cluster.add({ nodeOptions: ["--max-old-space-size=48"] });
    small.expectEnd();
    await until(
      "the small one has eaten too much",
      async () => {
        if (small.state === "ended") return true;
        await scheduler.enqueueMany(
          Array.from({ length: 2 }, () => ({ kind: "hungry", input, priority: 0 })),
        );
        return false;
      },
      { withinMs: WITHIN_MS, everyMs: 1_000 },
    );
    deaths.push(small);
  }
  const { summary } = await station.settleDown();
  requireTaken({ rescued: cluster.count("task_run.rescued") });
  writeProof({
    title: "An instance without memory is a crash like another",
    seed: longSeed,
    seconds: secondsSince(),
    faults: { "out of memory": deaths.length },
    paths: { rescued: cluster.count("task_run.rescued") },
    notes: [summary],
  });
});

it("recovers when an instance had no file descriptor left", async (test) => {
  if (!hasPrlimit()) {
    process.stdout.write("Skipped: exhausting file descriptors needs prlimit, which is not installed\n");
    return test.skip();
  }
  const noneLeft = (told: ToldError): boolean =>
    /EMFILE|ERR_WORKER/.test(`${told.code} ${told.message}`) || brokenLine(told);
  const station = await open(noneLeft);
  const { cluster } = station;
  const [poor] = cluster.running;
  if (poor === undefined) throw new Error("Nobody is there");
  const failedBefore = poor.count("loop.failed");
  limitFiles(poor, readdirSync(`/proc/${poor.pid}/fd`).length - 3);
  cluster.wireOf(poor).cut();
  const told = (): number =>
    poor.told("loop.failed").filter(({ code, message }) => /EMFILE/.test(`${code} ${message}`)).length;
  await until("its passes fail", () => told() > 3 || poor.state === "ended", {
    withinMs: WITHIN_MS,
    instead: () => `${poor.count("loop.failed") - failedBefore} failed passes`,
  });
  const ended = poor.unexpectedEnd;
  if (poor.state !== "ended") limitFiles(poor, 1_024);
  const { summary } = await station.settleDown();

  expect(ended).toBeNull();
  writeProof({
    title: "An instance without a file descriptor comes back",
    seed: longSeed,
    seconds: secondsSince(),
    faults: { "file descriptors exhausted": 1 },
    paths: { "passes failed with EMFILE": told() },
    notes: [summary],
  });
});

function hasPrlimit(): boolean {
  try {
    execFileSync("prlimit", ["--version"], { stdio: "pipe" });
    return true;
  } catch {
    return false;
  }
}

function limitFiles({ pid }: Instance, count: number): void {
  execFileSync("prlimit", [`--pid=${pid}`, `--nofile=${count}:`], { stdio: "pipe" });
}
