/** Asks instances to drain, whichever process asks and whichever runs them. */

import { resolveAsked } from "../domain/asked.ts";
import { SchedulerError } from "../domain/errors.ts";
import { type InstanceId, isUuid } from "../domain/ids.ts";
import { requireId } from "../domain/require-shape.ts";
import type { Pool, Transaction } from "../store/database.ts";
import { endDrain, isInstance, requestDrain } from "../store/instances/drain.ts";
import type { Scheduler } from "./scheduler-face.ts";
import type { Wakeups } from "./wakeups.ts";

export function drainer(pool: Pool, wakeups: Wakeups): Pick<Scheduler, "drainInstance" | "callInstanceBack"> {
  const change = async (
    instanceId: InstanceId,
    work: (tx: Transaction) => Promise<boolean>,
  ): Promise<boolean> => {
    const changed = await pool.transaction(async (tx) => {
      if (await work(tx)) return true;
      if (await isInstance(tx, instanceId)) return false;
      throw new SchedulerError("INSTANCE_NOT_FOUND", { instanceId });
    });
    // What only it could run waits for others now, or may go again.
    if (changed) wakeups.send("signalbox_gate");
    return changed;
  };
  return {
    drainInstance: async (instanceId, request) => {
      requireInstanceId(instanceId);
      const asked = resolveAsked(request);
      return await change(instanceId, async (tx) => await requestDrain(tx, instanceId, asked));
    },
    callInstanceBack: async (instanceId) => {
      requireInstanceId(instanceId);
      return await change(instanceId, async (tx) => await endDrain(tx, instanceId));
    },
  };
}

function requireInstanceId(instanceId: InstanceId): void {
  requireId("instanceId", instanceId);
  if (!isUuid(instanceId)) throw new SchedulerError("INSTANCE_NOT_FOUND", { instanceId });
}
