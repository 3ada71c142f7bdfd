/** Answers what runs there are and how they are doing. */

import { SchedulerError } from "../domain/errors.ts";
import { resolveRunFilter } from "../domain/filter.ts";
import { isUuid, type RunId } from "../domain/ids.ts";
import { requireId } from "../domain/require-shape.ts";
import type { RunDetail } from "../domain/run.ts";
import type { Pool } from "../store/database.ts";
import { listRuns, readRun } from "../store/runs/read.ts";
import type { Scheduler } from "./scheduler-face.ts";

export function runReader(pool: Pool): Pick<Scheduler, "getRun" | "listRuns"> {
  return {
    getRun: async (runId) => {
      requireId("runId", runId);
      const run = isUuid(runId) ? await readRunOnce(pool, runId) : null;
      if (run === null) throw new SchedulerError("RUN_NOT_FOUND", { runId });
      return run;
    },
    listRuns: async (given) => {
      const filter = resolveRunFilter(given ?? {});
      return await pool.snapshot(async (tx) => await listRuns(tx, filter));
    },
  };
}

/** Null: there is no such run. */
export async function readRunOnce(pool: Pool, runId: RunId): Promise<RunDetail | null> {
  return await pool.snapshot(async (tx) => await readRun(tx, runId));
}
