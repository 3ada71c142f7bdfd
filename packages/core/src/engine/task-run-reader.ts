/** Answers which task runs there are, of all tasks or of one. */

import { DEFAULT_PAGE, LARGEST_PAGE, requireWithin, resolveListFilter } from "../domain/filter.ts";
import { requireId, requireOptions } from "../domain/require-shape.ts";
import type { Pool } from "../store/database.ts";
import { listAttempts } from "../store/task-runs/attempts.ts";
import { findTaskRun } from "../store/task-runs/find.ts";
import { listTaskRuns } from "../store/task-runs/read.ts";
import { ATTEMPT_OPTIONS } from "./argument-shapes.ts";
import { lookByIndex } from "./bounded-pool.ts";
import type { Scheduler } from "./scheduler-face.ts";

/** As many as a column of the database can count. */
const LAST_ATTEMPT = 2_147_483_647;

export function taskRunReader(pool: Pool): Pick<Scheduler, "list" | "listAttempts"> {
  return {
    list: async (given) => {
      const filter = resolveListFilter(given ?? {});
      return await pool.snapshot(async (tx) => await listTaskRuns(tx, filter));
    },
    listAttempts: async (id, filter) => {
      requireId("id", id);
      requireOptions("INVALID_ARGUMENT", filter, ATTEMPT_OPTIONS);
      const limit = filter?.limit ?? DEFAULT_PAGE;
      const before = filter?.before ?? null;
      requireWithin("limit", limit, 1, LARGEST_PAGE);
      if (before !== null) requireWithin("before", before, 1, LAST_ATTEMPT);
      const { taskId } = await findTaskRun(pool, id);
      return await lookByIndex(pool, async (tx) => await listAttempts(tx, taskId, { before, limit }));
    },
  };
}
