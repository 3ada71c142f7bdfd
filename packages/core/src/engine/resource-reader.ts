/** Answers who has a resource and who waits for it. */

import { SchedulerError } from "../domain/errors.ts";
import { DEFAULT_PAGE, resolveResourceFilter } from "../domain/filter.ts";
import { requireName } from "../domain/task-spec.ts";
import type { Pool } from "../store/database.ts";
import { listResources, readResource } from "../store/resources/read.ts";
import { lookByIndex } from "./bounded-pool.ts";
import type { Scheduler } from "./scheduler-face.ts";

export function resourceReader(pool: Pool): Pick<Scheduler, "listResources" | "getResource"> {
  return {
    listResources: async (given) => {
      const { search = "", limit = DEFAULT_PAGE, after = "" } = resolveResourceFilter(given ?? {});
      return await lookByIndex(pool, async (tx) => await listResources(tx, { search, limit, after }));
    },
    getResource: async (name) => {
      requireName(name, (problem) => {
        throw new SchedulerError("INVALID_ARGUMENT", { at: "resource", problem });
      });
      return await lookByIndex(pool, async (tx) => await readResource(tx, name));
    },
  };
}
