/**
 * Faults at random, two or three at once, under load. SIGNALBOX_HA_SEED repeats a trial's choices (what falls
 * between them is the machine's), SIGNALBOX_HA_SECONDS makes it longer.
 */

import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { DYING } from "./dying-harm.ts";
import { doHarm, LANES, type Lane } from "./nemesis.ts";
import { type OwnPostgres, startOwnPostgres } from "./own-postgres.ts";
import { randomFrom } from "./random.ts";
import { openRig, type Rig } from "./rig.ts";
import { missedIn, requireTaken, type Sometimes, show } from "./sometimes.ts";
import { until } from "./until.ts";

const seed = Number(process.env["SIGNALBOX_HA_SEED"] ?? Date.now() % 1_000_000);
const seconds = Number(process.env["SIGNALBOX_HA_SECONDS"] ?? 25);
const SETTLES_DOWN_WITHIN_MS = 180_000;
const MEETS_ALL_WITHIN_MS = 60_000;
/** Some of the points: all of them take the long mix. */
const POINTS: Lane = {
  name: "points",
  always: [],
  sometimes: DYING,
  restMs: { low: 1_000, high: 2_500 },
};

let postgres: OwnPostgres;
let rig: Rig | null = null;

beforeAll(async () => {
  postgres = await startOwnPostgres();
});
afterEach(async () => await rig?.close());
afterAll(async () => await postgres?.remove());

it(
  "keeps every promise through a random mix of faults",
  async () => {
    process.stdout.write(`HA mix: seed ${seed}, ${seconds} s\n`);
    const random = randomFrom(seed);
    rig = await openRig(postgres, random);

    const faults = await doHarm(rig, random.fork("nemesis"), seconds * 1_000, [...LANES, POINTS]);
    const { cluster } = rig;
    const taken = {
      rescued: cluster.count("task_run.rescued"),
      refused: cluster.count("task_run.refused"),
      "handed back": cluster.count("task_run.handed_back"),
      "lock missed": cluster.count("gate.lock_missed"),
      fenced: cluster.count("instance.fenced"),
      "failed passes": cluster.count("loop.failed"),
    };
    const { load, watch } = rig;
    const met = (): Sometimes => {
      // In so short a time nobody may have been held up by the rate or by what people changed.
      const { PAUSED: _, RATE_LIMIT: __, WINDOW: ___, ...waited } = watch.waited;
      return { ...load.answered, ...waited };
    };
    // A busy machine does little in that time: the load goes on until it was answered and held up everywhere.
    await until("the load has met every gate", () => missedIn(met()).length === 0, {
      withinMs: MEETS_ALL_WITHIN_MS,
      instead: () => show(met()),
    });
    const { summary, taskRuns } = await rig.settleDown();

    process.stdout.write(`HA mix (seed ${seed}): ${show(faults)}; ${summary}\n`);
    requireTaken(taken);
    expect(taskRuns).toBeGreaterThan(seconds);
  },
  seconds * 1_000 + SETTLES_DOWN_WITHIN_MS,
);
