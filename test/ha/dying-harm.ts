/** Kills instances at exact points: of every act that writes, when it was sent, before its commit and after it. */

import { setTimeout as wait } from "node:timers/promises";
import type { Instance } from "./instance.ts";
import { type KillPoint, killPoints } from "./kill-points.ts";
import type { Fault } from "./nemesis.ts";
import { isOutage, whatDriverSaid } from "./outage.ts";
import { busy, PROVOCATIONS, type Provocation } from "./provoke.ts";
import type { Random } from "./random.ts";
import type { Rig } from "./rig.ts";
import { brokenLine } from "./tolerated.ts";
import { until } from "./until.ts";

/** Who has not come to the point by then is kept from it by something else. */
const DIES_WITHIN_MS = 6_000;
/** It has to start before. */
const FRESH_DIES_WITHIN_MS = 12_000;
const TRIES = 4;
const FREE_WITHIN_MS = 60_000;
/** Those who were told to die there as well have heard that they need not. */
const HEARD_WITHIN_MS = 100;

/** One fault per point. */
export const DYING: readonly Fault[] = killPoints().map(
  (killPoint): Fault => [
    killPoint.point.name,
    async (rig, random) => {
      for (let tries = 0; tries < TRIES; tries += 1) if (await killOne(rig, random, killPoint)) return true;
      return false;
    },
  ],
);

/** Who has been told where to die: nobody else tells them meanwhile. */
const armed = new WeakSet<Instance>();

async function killOne(rig: Rig, random: Random, { act, point }: KillPoint): Promise<boolean> {
  const provocation = act === null ? busy("one") : PROVOCATIONS[act];
  if (provocation.who === "a fresh one") return await killFresh(rig, random, { provocation, point });
  const free = await until("somebody is free to die", () => findFree(rig), { withinMs: FREE_WITHIN_MS });
  const one = provocation.who === "one" ? random.pick(free) : null;
  const told = one === null ? free : [one];
  const disarm = arm(told, point);
  const provoked = provoke(rig, random, provocation, one);
  const first = Promise.race(told.map(async (instance) => await instance.gone()));
  await Promise.race([first, wait(DIES_WITHIN_MS, undefined, { ref: false })]);
  disarm();
  await wait(HEARD_WITHIN_MS);
  await provoked;
  await wait(random.between(0, 300));
  const died = told.filter(({ diedAt }) => diedAt === point.name);
  const left = provocation.leaves === true ? told.filter((instance) => !died.includes(instance)) : [];
  // Who was told to leave goes in any case.
  for (const instance of left) await instance.kill();
  for (const _ of [...died, ...left]) await rig.cluster.add();
  return died.length > 0;
}

/** Another lane may have told everybody. */
function findFree({ cluster }: Rig): readonly Instance[] | null {
  const free = cluster.running.filter((instance) => !armed.has(instance));
  return free.length === 0 ? null : free;
}

/** Answers what calls it off. */
function arm(told: readonly Instance[], point: KillPoint["point"]): () => void {
  for (const instance of told) {
    armed.add(instance);
    instance.dieAt(point);
  }
  return () => {
    for (const instance of told) {
      instance.dieAt(null);
      armed.delete(instance);
    }
  };
}

async function killFresh(
  rig: Rig,
  random: Random,
  { provocation, point }: { readonly provocation: Provocation; readonly point: KillPoint["point"] },
): Promise<boolean> {
  const fresh = await rig.cluster.begin({ dies: point });
  const provoked = provoke(rig, random, provocation, fresh);
  await Promise.race([fresh.gone(), wait(FRESH_DIES_WITHIN_MS, undefined, { ref: false })]);
  await fresh.kill();
  await fresh.gone();
  await provoked;
  return fresh.diedAt === point.name;
}

/** What it cannot do while the database is away it need not: the next try will. */
async function provoke(rig: Rig, random: Random, { by }: Provocation, one: Instance | null): Promise<void> {
  try {
    await by(rig, random, one);
  } catch (error) {
    if (!isOutage(error) && !isMiss(error)) throw error;
  }
}

/** Something took too long, or the line was cut. */
function isMiss(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.message.startsWith("Not within") || brokenLine(whatDriverSaid(error));
}
