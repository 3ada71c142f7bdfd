/** A caller enqueues in its own transaction and leaves it open: nobody waits for it, and nothing of it is forgotten. */

import { exclusive } from "@signalbox/core";
import pg from "pg";
import { expect, onTestFinished } from "vitest";
import { INSTANCE_SETTINGS, type WorkInput } from "../ha/instance-messages.ts";
import type { Rig } from "../ha/rig.ts";
import { until } from "../ha/until.ts";
import type { Shown } from "./shown.ts";

const WITHIN_MS = 60_000;

export async function leaveTransactionOpen(
  { scheduler, cluster, db, databaseUrl }: Rig,
  /** In each slice of the time something must be done. */
  { openMs, slices }: { readonly openMs: number; readonly slices: number },
): Promise<Shown> {
  const caller = new pg.Client({ connectionString: databaseUrl, query_timeout: 30_000 });
  onTestFinished(async () => await caller.end());
  await caller.connect();
  const input: WorkInput = { ms: 5 };
  await caller.query("BEGIN");
  const { taskRuns } = await scheduler.enqueueMany(
    [
      ...Array.from({ length: 10 }, () => ({ kind: "work", input, priority: 0 })),
      { kind: "work", input, priority: 0, resources: [exclusive("only the caller's")] },
      { kind: "work", input, priority: 0, resources: [exclusive("orders")] },
      { kind: "work", input, priority: 0, runAt: new Date(Date.now() + 1_000) },
    ],
    { transaction: caller },
  );
  const done: number[] = [];
  for (let slice = 0; slice < slices; slice += 1) {
    const before = cluster.count("task_run.settled");
    const endsAtMs = performance.now() + openMs / slices;
    await until("the slice is over", () => performance.now() >= endsAtMs, { withinMs: openMs });
    done.push(cluster.count("task_run.settled") - before);
  }
  await caller.query("COMMIT");
  const committedAtMs = performance.now();
  const ids = taskRuns.map(({ taskRunId }) => taskRunId);
  await until(
    "all of the caller's are done",
    async () => {
      const { rows } = await db.query<{ done: number }>(
        "SELECT count(*)::integer AS done FROM signalbox.task_run WHERE id = ANY ($1::uuid[]) AND status = 'DONE'",
        [ids],
      );
      return rows[0]?.done === ids.length;
    },
    { withinMs: WITHIN_MS },
  );
  const seenMs = Math.round(performance.now() - committedAtMs);

  expect(Math.min(...done)).toBeGreaterThan(0);
  // A poll, and what they stand in line behind.
  expect(seenMs).toBeLessThan(10 * INSTANCE_SETTINGS.pollIntervalMs);
  return {
    faults: { "transactions left open": 1 },
    paths: { "enqueued in it and done": ids.length },
    notes: [
      `open for ${Math.round(openMs / 1_000)} s; settled in each of ${slices} parts of it: ${done.join(", ")}; all of it done ${seenMs} ms after its commit`,
    ],
  };
}
