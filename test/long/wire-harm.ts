/** Faults of the network between one instance, or the client, and the database. */

import { setTimeout as wait } from "node:timers/promises";
import { INSTANCE_SETTINGS } from "../ha/instance-messages.ts";
import { type Fault, pickRunning } from "../ha/nemesis.ts";
import type { Direction, SentStatement, Wire } from "../ha/wire.ts";

const { leaseMs } = INSTANCE_SETTINGS;
const LOST_WITHIN_MS = 10_000;

function hush(name: string, ...directions: readonly Direction[]): Fault {
  return [
    name,
    async (rig, random) => {
      const wire = rig.cluster.wireOf(await pickRunning(rig, random));
      wire.hush(...directions);
      await wait(random.between(200, 1.5 * leaseMs));
      wire.heal();
    },
  ];
}

export const HALF_OPEN: Fault = hush("connections half-open", "to the database", "to the instance");
export const DEAF: Fault = hush("answers kept back", "to the instance");
export const MUTE: Fault = hush("statements kept back", "to the database");

export const SLOW: Fault = [
  "network slow",
  async (rig, random) => {
    const wire = rig.cluster.wireOf(await pickRunning(rig, random));
    wire.slowDown(random.between(20, 250));
    await wait(random.between(1_000, 3_000));
    wire.heal();
  },
];

export const RESET: Fault = [
  "connections reset",
  async (rig, random) => rig.cluster.wireOf(await pickRunning(rig, random)).cut(),
];

/** Pieces of the statements, as in `instance-harm.ts`. */
export const LOSE_CLAIM: Fault = [
  "answer to the COMMIT of a claim lost",
  async (rig, random) =>
    await lose(rig.cluster.wireOf(await pickRunning(rig, random)), {
      // An idle instance claims by the one, a busy one by the other.
      name: random.pick(["claimTaskRuns", "claimFew"]),
      text: "nextval('signalbox.claim_no')",
    }),
];

export const LOSE_SETTLEMENT: Fault = [
  "answer to the COMMIT of a settlement lost",
  async (rig, random) =>
    await lose(rig.cluster.wireOf(await pickRunning(rig, random)), {
      name: "settleTaskRuns",
      text: "g (id, claim_no, claimed_by, status, outcome)",
    }),
];

export const LOSE_ENQUEUE: Fault = [
  "answer to the COMMIT of an enqueue lost",
  async (rig) => await lose(rig.clientWire, { name: "insertTasks", text: "INSERT INTO signalbox.task\n" }),
];

async function lose(wire: Wire, statement: SentStatement): Promise<boolean> {
  const ambush = wire.loseAnswer(statement);
  const callOff = setTimeout(ambush.callOff, LOST_WITHIN_MS);
  const lost = await ambush.lost;
  clearTimeout(callOff);
  return lost;
}
