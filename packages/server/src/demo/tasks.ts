/** The kinds of work the demo knows. They only take time, but as real tasks do: they print as they go, and stop when told. */

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

/** What a kind prints, evenly from its start to its end: a text as a line, bytes as they are. */
type Script = readonly (string | Uint8Array)[];

const MIGRATION: Script = [
  "connected, waiting for the lock of the table",
  "ALTER TABLE orders ADD COLUMN total numeric",
  "checking the new column",
  green("migration applied"),
];
const REPORT: Script = ["reading 12,480 rows", "adding them up", green("report written")];
const BATCHES = 10;
const BACKFILL: Script = [
  `filling order totals in ${BATCHES} batches`,
  // The next one takes its place, as in the progress line of a terminal.
  ...Array.from({ length: BATCHES }, (_, done) =>
    Buffer.from(`batch ${done + 1} of ${BATCHES}${done + 1 === BATCHES ? "\n" : "\r"}`),
  ),
  green("all totals filled"),
];

export const applyMigration = defineTask({ kind: "apply-migration", schema: work, run: playing(MIGRATION) });
export const backfill = defineTask({ kind: "backfill", schema: work, run: playing(BACKFILL) });
export const report = defineTask({ kind: "report", schema: work, run: playing(REPORT) });

export const DEMO_TASKS = [applyMigration, backfill, report] as const;

function playing(script: Script) {
  return async (
    input: Work,
    { attempt, signal, log }: ExecutionContext,
  ): Promise<{ readonly seconds: number }> => {
    const seconds = input?.seconds ?? 2;
    const fails = input?.failFirst === true && attempt === 1;
    const played = fails ? script.slice(0, script.length / 2) : script;
    const endsAt = performance.now() + (fails ? seconds / 2 : seconds) * 1_000;
    for (const [index, content] of played.entries()) {
      log(content);
      const left = played.length - 1 - index;
      // By the end, not by equal rests: timers are late, and that would add up.
      if (left > 0) await delay(Math.max(0, (endsAt - performance.now()) / left), undefined, { signal });
    }
    if (!fails) return { seconds };
    log(Buffer.from("\n\u001b[31mERROR: deadlock detected\u001b[0m\n"));
    throw new Error("deadlock detected");
  };
}

function green(text: string): string {
  return `\u001b[32m${text}\u001b[0m`;
}
