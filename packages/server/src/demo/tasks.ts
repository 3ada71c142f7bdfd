/** The kinds of work the demo knows. They only take time, but they take it as real tasks do: they stop when told. */

import { setTimeout as delay } from "node:timers/promises";
import { defineTask, type ExecutionContext } from "@signalbox/core";
import { z } from "zod";

const work = z
  .strictObject({
    /** How long it takes. Default: 2. */
    seconds: z.number().min(0).max(600).exactOptional(),
    /** Its first attempt fails half-way, the next one succeeds. */
    failFirst: z.boolean().exactOptional(),
  })
  .nullable();

type Work = z.infer<typeof work>;

export const applyMigration = defineTask({ kind: "apply-migration", schema: work, run: doWork });
export const backfill = defineTask({ kind: "backfill", schema: work, run: doWork });
export const report = defineTask({ kind: "report", schema: work, run: doWork });

export const DEMO_TASKS = [applyMigration, backfill, report] as const;

async function doWork(
  input: Work,
  { attempt, signal }: ExecutionContext,
): Promise<{ readonly seconds: number }> {
  const seconds = input?.seconds ?? 2;
  const fails = input?.failFirst === true && attempt === 1;
  await delay((fails ? seconds / 2 : seconds) * 1_000, undefined, { signal });
  if (fails) throw new Error("deadlock detected");
  return { seconds };
}
