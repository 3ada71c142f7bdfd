/** Answers how much is open where, and which instances there are. */

import { requireWithin } from "../domain/filter.ts";
import { requireOptions } from "../domain/require-shape.ts";
import type { Pool } from "../store/database.ts";
import { readOverview } from "../store/instances/overview.ts";
import { OVERVIEW_OPTIONS } from "./argument-shapes.ts";
import { lookByIndex } from "./bounded-pool.ts";
import type { Scheduler } from "./scheduler-face.ts";

const MOST_COUNTED = 10_000_000;

export function overviewReader(pool: Pool): Pick<Scheduler, "overview"> {
  return {
    overview: async (options) => {
      requireOptions("INVALID_ARGUMENT", options, OVERVIEW_OPTIONS);
      const countUpTo = options?.countUpTo ?? MOST_COUNTED;
      requireWithin("countUpTo", countUpTo, 1, MOST_COUNTED);
      return await lookByIndex(pool, async (tx) => await readOverview(tx, countUpTo));
    },
  };
}
