/** Faults of every sort at random, several at once, under load, in rounds: each ends with a whole check of its history. */

import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { DYING } from "../ha/dying-harm.ts";
import {
  CUT_SESSIONS,
  doHarm,
  type Fault,
  type Faults,
  FREEZE_LONG,
  FREEZE_SHORTLY,
  FREEZE_UNTIL_RESCUED,
  KILL,
  type Lane,
  LOSE_A_CLAIM_ANSWER,
  RESTART_FAST,
  RESTART_IMMEDIATE,
} from "../ha/nemesis.ts";
import { type OwnPostgres, startOwnPostgres } from "../ha/own-postgres.ts";
import { randomFrom } from "../ha/random.ts";
import { openRig, type Rig } from "../ha/rig.ts";
import { requireTaken, show } from "../ha/sometimes.ts";
import { brokenLine } from "../ha/tolerated.ts";
import { CANCEL_STATEMENTS, CUT_ALL, CUT_LEASES, CUT_LISTENERS } from "./database-harm.ts";
import { FREEZE_PROMOTER, FREEZE_SEVERAL, LEAVE } from "./instance-harm.ts";
import { longSeconds, longSeed } from "./long-settings.ts";
import { writeProof } from "./proof.ts";
import {
  DEAF,
  HALF_OPEN,
  LOSE_CLAIM,
  LOSE_ENQUEUE,
  LOSE_SETTLEMENT,
  MUTE,
  RESET,
  SLOW,
} from "./wire-harm.ts";

const ROUND_SECONDS = 150;
const INSTANCES = 5;
/** Up to four of them are frozen, killed or cut off at the same time. */
const LATER_MS = 8_000;
/** Five hundred in the whole of the default time. */
const FAULTS_PER_SECOND = 500 / 600;

/** `points` are those that come for sure in this round. */
const lanesWith = (points: readonly Fault[]): readonly Lane[] => [
  {
    name: "instances",
    always: [FREEZE_UNTIL_RESCUED, KILL, LEAVE],
    sometimes: [KILL, LEAVE, FREEZE_SHORTLY, FREEZE_LONG, FREEZE_SEVERAL, FREEZE_PROMOTER],
    restMs: { low: 100, high: 800 },
  },
  ...["points", "other points"].map((name, lane) => ({
    name,
    always: points.filter((_, index) => index % 2 === lane),
    sometimes: DYING,
    restMs: { low: 100, high: 500 },
  })),
  {
    name: "sessions",
    always: [CUT_SESSIONS, CUT_ALL, CUT_LISTENERS, CUT_LEASES, CANCEL_STATEMENTS],
    sometimes: [CUT_SESSIONS, CUT_ALL, CUT_LISTENERS, CUT_LEASES, CANCEL_STATEMENTS],
    restMs: { low: 500, high: 2_500 },
  },
  {
    name: "server",
    always: [RESTART_FAST, RESTART_IMMEDIATE],
    sometimes: [RESTART_FAST, RESTART_IMMEDIATE],
    restMs: { low: 6_000, high: 15_000 },
  },
  {
    name: "wires",
    always: [HALF_OPEN, DEAF, MUTE, SLOW, RESET],
    sometimes: [HALF_OPEN, DEAF, MUTE, SLOW, RESET],
    restMs: { low: 300, high: 1_500 },
  },
  {
    name: "answers",
    always: [LOSE_A_CLAIM_ANSWER, LOSE_CLAIM, LOSE_SETTLEMENT, LOSE_ENQUEUE],
    sometimes: [LOSE_A_CLAIM_ANSWER, LOSE_CLAIM, LOSE_SETTLEMENT, LOSE_ENQUEUE],
    restMs: { low: 300, high: 2_000 },
  },
];

const ONCE: Lane = { name: "once more", always: [], sometimes: [], restMs: { low: 0, high: 0 } };

let postgres: OwnPostgres;
let rig: Rig | null = null;

beforeAll(async () => {
  postgres = await startOwnPostgres();
});
afterEach(async () => await rig?.close());
afterAll(async () => await postgres?.remove());

it("keeps every promise through hundreds of faults at random", async () => {
  const rounds = Math.max(1, Math.round(longSeconds / ROUND_SECONDS));
  const roundMs = (longSeconds * 1_000) / rounds;
  const fromMs = performance.now();
  const faults: Record<string, number> = Object.fromEntries(
    lanesWith([]).flatMap(({ always, sometimes }) => [...always, ...sometimes].map(([name]) => [name, 0])),
  );
  const paths: Record<string, number> = {};
  const notes: string[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const seed = longSeed + round - 1;
    process.stdout.write(`Chaos: round ${round} of ${rounds}, seed ${seed}, ${roundMs / 1_000} s\n`);
    // Each round has its part of the points, so that all of them have all.
    const points = DYING.filter((_, index) => index % rounds === round - 1);
    const trial = await oneRound(seed, roundMs, points);
    add(faults, trial.faults);
    add(paths, trial.paths);
    notes.push(`round ${round}, seed ${seed}: ${trial.summary}`);
    process.stdout.write(`${notes.at(-1)}\n${show(trial.faults)}\n${show(trial.paths)}\n`);
  }
  const total = Object.values(faults).reduce((sum, count) => sum + count, 0);

  requireTaken({ ...faults, ...paths });
  expect(total).toBeGreaterThanOrEqual(Math.floor(longSeconds * FAULTS_PER_SECOND));
  writeProof({
    title: "Every promise holds through faults of every sort at random",
    seed: longSeed,
    seconds: (performance.now() - fromMs) / 1_000,
    faults,
    paths,
    notes,
  });
});

async function oneRound(
  seed: number,
  roundMs: number,
  points: readonly Fault[],
): Promise<{ readonly faults: Faults; readonly paths: Record<string, number>; readonly summary: string }> {
  const random = randomFrom(seed);
  rig = await openRig(postgres, random, {
    instances: INSTANCES,
    laterMs: LATER_MS,
    instance: { settings: { queryTimeoutMs: 2_000 } },
    tolerates: brokenLine,
  });
  const { cluster, load, watch } = rig;
  const faults = await doHarm(rig, random.fork("nemesis"), roundMs, lanesWith(points));
  // What the other faults kept from happening comes when they are over.
  const missed = points.filter(([name]) => (faults[name] ?? 0) === 0);
  add(faults, await doHarm(rig, random.fork("missed"), 0, [{ ...ONCE, always: missed }]));
  const paths = {
    rescued: cluster.count("task_run.rescued"),
    refused: cluster.count("task_run.refused"),
    "handed back": cluster.count("task_run.handed_back"),
    "lock missed": cluster.count("gate.lock_missed"),
    fenced: cluster.count("instance.fenced"),
    "failed passes": cluster.count("loop.failed"),
    deferred: cluster.count("task_run.deferred"),
    "let go": cluster.count("task_run.let_go"),
    polled: cluster.count("task_run.polled"),
    resumed: cluster.count("task_run.resumed"),
    "taken for stuck": cluster.count("task_run.stuck"),
    "ended by the lease's thread": cluster.count("task_run.overdue"),
    "queue timeouts": cluster.count("task_run.queue_timed_out"),
    "late versions refused": cluster.count("task_run.out_of_order"),
    demoted: cluster.count("task_run.demoted"),
    pruned: cluster.count("retention.pruned"),
    left: cluster.count("instance.left"),
    "unknown calls": load.unknown,
  };
  const { summary } = await rig.settleDown();
  await rig.close();
  const seen = {
    "looks of the watch": watch.looks,
    ...prefixed("load: ", { ...load.answered, ...load.changed }),
    ...prefixed("somebody waited at ", watch.waited),
  };
  return { faults, paths: { ...paths, ...seen }, summary };
}

function prefixed(prefix: string, counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [`${prefix}${name}`, count]));
}

function add(sum: Record<string, number>, more: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + count;
}
