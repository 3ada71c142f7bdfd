/** Faults of instances: killed at an exact point, frozen together, frozen with the gate lock. */

import { setTimeout as wait } from "node:timers/promises";
import { type DyingPoint, INSTANCE_SETTINGS, type WorkInput } from "../ha/instance-messages.ts";
import { type Fault, pickRunning, tried } from "../ha/nemesis.ts";
import type { Random } from "../ha/random.ts";
import type { Rig } from "../ha/rig.ts";
import { takeLock } from "../ha/take-lock.ts";

const { leaseMs, graceMs } = INSTANCE_SETTINGS;
/** An instance that has not come to the point by then is one that something else keeps from it. */
const DIES_WITHIN_MS = 8_000;

/** Pieces of our statements by which they are known on their way. One that changes is found by its count of 0. */
const STATEMENTS = {
  "the claim": "nextval('signalbox.claim_no')",
  "the settlement": "g (id, claim_no, claimed_by, status, outcome)",
  "the promotion": "DELETE FROM signalbox.waiting",
  "the gate lock": "pg_try_advisory_xact_lock",
  "the reconciliation": "DELETE FROM signalbox.claim_batch AS b\n       WHERE b.instance_id",
  "the search for the lost": "SET state = 'DEAD'\n       WHERE state IN",
} as const;

const POINTS: readonly (readonly [string, DyingPoint])[] = [
  ...Object.entries(STATEMENTS).flatMap(([name, text]) =>
    (["sent", "before commit", "after commit"] as const).map(
      (at) =>
        [
          `killed ${at === "sent" ? "after sending" : at.replace("commit", "the commit of")} ${name}`,
          { at, text },
        ] as const,
    ),
  ),
  ["killed at the start of an execution", { at: "start" }],
  ["killed after an effect", { at: "effect" }],
];

/** One fault per point. */
export const DYING: readonly Fault[] = POINTS.map(
  ([name, point]): Fault => [
    name,
    async (rig, random) => {
      await keepBusy(rig);
      const came = await (await pickRunning(rig, random)).dieAt(point, DIES_WITHIN_MS);
      await wait(random.between(0, 500));
      await rig.cluster.add();
      return came;
    },
  ],
);

/** Something for every loop to come by. */
async function keepBusy(rig: Rig): Promise<void> {
  const input: WorkInput = { ms: 30 };
  const specs = Array.from({ length: 12 }, (_, index) => ({
    kind: "work",
    input,
    priority: 0,
    ...(index % 2 === 0 && { runAt: new Date(Date.now() + 100 * index) }),
  }));
  await tried(rig.scheduler.enqueueMany(specs));
}

export const FREEZE_SEVERAL: Fault = [
  "several frozen at once",
  async (rig, random) => {
    const all = [...rig.cluster.running];
    // Somebody must be left, beside what the other lanes do meanwhile.
    if (all.length < 4) return false;
    const frozen = [takeOne(all, random), takeOne(all, random)];
    for (const instance of frozen) instance.freeze();
    await wait(random.between(leaseMs / 2, leaseMs + graceMs + 1_000));
    for (const instance of frozen) instance.wake();
    return true;
  },
];

function takeOne<Item>(items: Item[], random: Random): Item {
  const item = random.pick(items);
  items.splice(items.indexOf(item), 1);
  return item;
}

/** It has the gate lock and waits for a row that we have; then it stands still, and we let go. */
export const FREEZE_PROMOTER: Fault = [
  "promoter frozen with the gate lock",
  async (rig) => {
    const input: WorkInput = { ms: 10 };
    const runAt = new Date(Date.now() + 1_000);
    const enqueued = await tried(rig.scheduler.enqueue({ kind: "work", input, runAt, priority: 0 }));
    if (enqueued === null) return false;
    const row = `SELECT FROM signalbox.task_run WHERE id = '${enqueued.taskRunId}' FOR UPDATE`;
    const lock = await takeLock(rig, row, 5_000).catch(() => null);
    const instance = await lock?.waiter().catch(() => null);
    instance?.freeze();
    await lock?.release().catch(() => {});
    if (!instance) return false;
    await wait(2_500);
    instance.wake();
    return true;
  },
];
