/** Faults of instances: frozen together, frozen with the gate lock, told to leave. */

import { setTimeout as wait } from "node:timers/promises";
import { INSTANCE_SETTINGS, type WorkInput } from "../ha/instance-messages.ts";
import { type Fault, pickRunning, tried } from "../ha/nemesis.ts";
import type { Random } from "../ha/random.ts";
import { takeLock } from "../ha/take-lock.ts";

const { leaseMs, graceMs } = INSTANCE_SETTINGS;
const LEAVES_WITHIN_MS = 10_000;

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

/** As when a service is replaced: what it runs ends, or begins anew elsewhere. */
export const LEAVE: Fault = [
  "told to leave",
  async (rig, random) => {
    const instance = await pickRunning(rig, random);
    instance.leave();
    await Promise.race([instance.gone(), wait(LEAVES_WITHIN_MS, undefined, { ref: false })]);
    await instance.kill();
    await rig.cluster.add();
  },
];
