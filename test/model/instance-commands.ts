/** Instances come, fall silent, die, drain and leave. */

import { expect } from "vitest";
import { leaveCluster, markDraining } from "../../packages/core/src/store/instances/instance.ts";
import { renewOnce } from "../../packages/core/src/store/instances/renew.ts";
import { isLive } from "./model.ts";
import { joinRig, LEASE_MS } from "./rig.ts";
import { type Command, pick, pickInstance } from "./scene.ts";

/** With three slots each the fair share stays at its smallest. */
const MOST_INSTANCES = 3;

export const join: Command<"join"> = async ({ rig, model }, { kinds, slots }) => {
  if (model.instances.filter(isLive).length >= MOST_INSTANCES) return false;
  const name = `instance ${model.instances.length}`;
  const { instanceId } = await joinRig(rig, { name, kinds, slots });
  const news = { state: "LIVE" as const, expired: false, gone: false, held: new Map(), undone: new Map() };
  model.instances.push({ instanceId, name, kinds, slots, ...news });
  return true;
};

/** It forgets everything that it holds, and writes nothing. */
export const crash: Command<"crash"> = async (scene, { instance }) => {
  const chosen = pickInstance(scene, instance);
  if (chosen === null) return false;
  chosen.known.gone = true;
  chosen.known.held.clear();
  return true;
};

/** Its lease runs out: dead, or silent for as long. In the second case it goes on and does not know. */
export const expire: Command<"expire"> = async ({ rig, model }, { instance }) => {
  const known = pick(
    // Those that have crashed first.
    model.instances
      .filter(({ state, expired }) => state !== "DEAD" && !expired)
      .toSorted((a, b) => Number(b.gone) - Number(a.gone)),
    model.instances.some(({ gone, expired }) => gone && !expired) ? 0 : instance,
  );
  if (known === null) return false;
  await rig.query(
    "UPDATE signalbox.instance SET expires_at = clock_timestamp() - interval '1 ms' WHERE boot_id = $1",
    [known.instanceId],
  );
  known.expired = true;
  return true;
};

export const renew: Command<"renew"> = async (scene, { instance: which }) => {
  const chosen = pickInstance(scene, which);
  if (chosen === null) return false;
  const { known, instance } = chosen;
  const renewed = await scene.rig.pool.transaction(
    async (tx) => await renewOnce(tx, instance.instanceId, LEASE_MS),
  );
  const expected = known.state !== "DEAD" && !known.expired ? known.state : null;
  expect(renewed?.state ?? null, `renewal of ${known.name}`).toBe(expected);
  return true;
};

export const drain: Command<"drain"> = async (scene, { instance: which }) => {
  const chosen = pickInstance(scene, which);
  if (chosen === null) return false;
  const { known, instance } = chosen;
  // Also one that drains: somebody may have asked it to, and now it leaves by itself.
  expect(await scene.rig.pool.transaction(async (tx) => await markDraining(tx, instance.instanceId))).toBe(
    known.state !== "DEAD",
  );
  if (known.state === "LIVE") known.state = "DRAINING";
  return true;
};

export const leave: Command<"leave"> = async (scene, { instance: which }) => {
  const chosen = pickInstance(scene, which);
  if (chosen === null) return false;
  await scene.rig.pool.transaction(async (tx) => await leaveCluster(tx, chosen.instance.instanceId));
  chosen.known.state = "DEAD";
  return true;
};
