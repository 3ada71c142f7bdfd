/** Answers which instances there are, and what one of them holds. */

import { SchedulerError } from "../domain/errors.ts";
import { asStored, isUuid } from "../domain/ids.ts";
import { requireId } from "../domain/require-shape.ts";
import type { Pool } from "../store/database.ts";
import { listInstances, readInstance } from "../store/instances/read.ts";
import { lookByIndex } from "./bounded-pool.ts";
import type { Scheduler } from "./scheduler-face.ts";

const MOST_HELD = 200;

export function instanceReader(pool: Pool): Pick<Scheduler, "listInstances" | "getInstance"> {
  return {
    listInstances: async () => await lookByIndex(pool, listInstances),
    getInstance: async (instanceId) => {
      requireId("instanceId", instanceId);
      const found = isUuid(instanceId)
        ? await lookByIndex(pool, async (tx) => await readInstance(tx, asStored(instanceId), MOST_HELD))
        : null;
      if (found === null) throw new SchedulerError("INSTANCE_NOT_FOUND", { instanceId });
      return found;
    },
  };
}
