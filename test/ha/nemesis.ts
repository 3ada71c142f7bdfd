/**
 * Does harm at random, by a seed: to one instance at a time, and at the same time to the database. At least two
 * instances are always there to go on.
 */

import { setTimeout as wait } from "node:timers/promises";
import type { Instance } from "./instance.ts";
import { INSTANCE_SETTINGS, type WorkInput } from "./instance-messages.ts";
import { isOutage } from "./outage.ts";
import type { Random } from "./random.ts";
import type { Rig } from "./rig.ts";
import { loseAClaimAnswer } from "./turning.ts";
import { until } from "./until.ts";
import { whoRuns } from "./what-became.ts";

/** How often each fault was done. */
export type Faults = Record<string, number>;

/** A name, and the harm. Where it answers `false` it did not come to it, and does not count. */
export type Fault = readonly [string, (rig: Rig, random: Random) => Promise<void | boolean>];

const WITHIN_MS = 60_000;
const { leaseMs, graceMs } = INSTANCE_SETTINGS;

/** The faults of a lane come one after the other, those of two lanes at the same time. */
export async function doHarm(
  rig: Rig,
  random: Random,
  forMs: number,
  lanes: readonly Lane[] = LANES,
): Promise<Faults> {
  const faults: Faults = {};
  const untilMs = performance.now() + forMs;
  const does = async ([name, harm]: Fault, chances: Random): Promise<void> => {
    if ((await harm(rig, chances)) === false) return;
    faults[name] = (faults[name] ?? 0) + 1;
  };
  const goOn = async (lane: Lane): Promise<void> => {
    const chances = random.fork(lane.name);
    // Before chance has its way: without these a trial would prove nothing about what it is there for.
    for (const fault of lane.always) await does(fault, chances);
    while (performance.now() < untilMs) {
      await does(chances.pick(lane.sometimes), chances);
      await wait(chances.between(lane.restMs.low, lane.restMs.high));
    }
  };
  await Promise.all(lanes.map(goOn));
  return faults;
}

export const KILL: Fault = [
  "kill -9",
  async (rig, random) => {
    await (await pickRunning(rig, random)).kill();
    await wait(random.between(0, 1_000));
    await rig.cluster.add();
  },
];

export const FREEZE_SHORTLY: Fault = ["freeze within the lease", freeze(200, leaseMs / 2)];
export const FREEZE_LONG: Fault = [
  "freeze beyond the lease",
  freeze(leaseMs + graceMs + 300, leaseMs + graceMs + 1_500),
];

function freeze(lowMs: number, highMs: number): Fault[1] {
  return async (rig, random) => {
    const instance = await pickRunning(rig, random);
    instance.freeze();
    await wait(random.between(lowMs, highMs));
    instance.wake();
  };
}

/** Frozen in the middle of what does not stop, and woken when that is somebody else's: its result must be refused. */
export const FREEZE_UNTIL_RESCUED: Fault = [
  "freeze until rescued",
  async (rig) => {
    const isRefused = (): boolean => rig.cluster.count("task_run.refused") > 0;
    let outcome: string | null = null;
    // The other faults go on meanwhile: it may end before we come to freeze it, or be killed before it is refused.
    while (outcome !== "LEASE_LOST" || !isRefused()) {
      const input: WorkInput = { ms: leaseMs };
      const taskRunId = await asSoonAs("something is enqueued", async () => {
        const enqueued = await rig.scheduler.enqueue({ kind: "stubborn", input, priority: 0 });
        return enqueued.taskRunId;
      });
      const endOf = async (): Promise<string | null> => (await rig.scheduler.get(taskRunId)).outcome;
      const seen = await asSoonAs(
        "somebody runs it, or it has ended",
        async () => (await whoRuns(rig, [taskRunId])) ?? (await endOf()),
      );
      if (typeof seen === "string") continue;
      const { instance } = seen;
      instance.freeze();
      outcome = await asSoonAs("it ends", endOf);
      instance.wake();
      if (outcome !== "LEASE_LOST") continue;
      await until("its result is refused", () => isRefused() || instance.state === "ended", {
        withinMs: WITHIN_MS,
      });
    }
  },
];

export const LOSE_A_CLAIM_ANSWER: Fault = [
  "lose the answer to a claim",
  async (rig, random) => await loseAClaimAnswer(rig, await pickRunning(rig, random)),
];

export const RESTART_FAST: Fault = [
  "PostgreSQL fast",
  async (rig, random) =>
    void (await rig.postgres.restart("fast", async () => await wait(random.between(0, 800)))),
];

export const RESTART_IMMEDIATE: Fault = [
  "PostgreSQL immediate",
  async (rig, random) =>
    void (await rig.postgres.restart("immediate", async () => await wait(random.between(0, 800)))),
];

export const CUT_SESSIONS: Fault = [
  "sessions cut off",
  async (rig, random) => {
    const share = random.next();
    await tried(
      rig.db.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'signalbox%' AND random() < $1",
        [share],
      ),
    );
  },
];

export interface Lane {
  readonly name: string;
  readonly always: readonly Fault[];
  readonly sometimes: readonly Fault[];
  readonly restMs: { readonly low: number; readonly high: number };
}

export const LANES: readonly Lane[] = [
  {
    name: "instances",
    always: [FREEZE_UNTIL_RESCUED, KILL],
    sometimes: [KILL, KILL, FREEZE_SHORTLY, FREEZE_LONG],
    restMs: { low: 100, high: 1_200 },
  },
  {
    name: "database",
    always: [CUT_SESSIONS],
    sometimes: [RESTART_FAST, RESTART_IMMEDIATE, CUT_SESSIONS, CUT_SESSIONS],
    restMs: { low: 1_000, high: 3_500 },
  },
  {
    name: "claims",
    always: [LOSE_A_CLAIM_ANSWER],
    sometimes: [LOSE_A_CLAIM_ANSWER],
    restMs: { low: 3_000, high: 6_000 },
  },
];

/** The other lanes may have everybody frozen just now. */
export async function pickRunning({ cluster }: Rig, random: Random): Promise<Instance> {
  await until("somebody is up", () => cluster.running.length > 0, { withinMs: WITHIN_MS });
  return random.pick(cluster.running);
}

/** As soon as the database is there, and there is something to see. */
async function asSoonAs<Seen>(what: string, look: () => Promise<Seen | null>): Promise<Seen> {
  return await until(what, async () => await tried(look()), { withinMs: WITHIN_MS });
}

/** Null where the database was not there. */
export async function tried<Answer>(work: Promise<Answer>): Promise<Answer | null> {
  try {
    return await work;
  } catch (error) {
    if (isOutage(error)) return null;
    throw error;
  }
}
