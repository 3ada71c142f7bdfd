/** A caller enqueues in its own transaction and leaves it open for ten minutes: nobody waits for it, and nothing of it is forgotten. */

import { exclusive } from "@signalbox/core";
import pg from "pg";
import { afterEach, expect, it } from "vitest";
import { INSTANCE_SETTINGS, type WorkInput } from "../ha/instance-messages.ts";
import { type OwnPostgres, startOwnPostgres } from "../ha/own-postgres.ts";
import { randomFrom } from "../ha/random.ts";
import { openRig, type Rig } from "../ha/rig.ts";
import { until } from "../ha/until.ts";
import { longPart, longSeed } from "./long-settings.ts";
import { writeProof } from "./proof.ts";
import { slowness } from "./slowness.ts";

const WITHIN_MS = 60_000;
const OPEN_MS = Math.max(20_000, 600_000 * longPart);
/** In each of these something must be done. */
const SLICES = 10;

let postgres: OwnPostgres | null = null;
let rig: Rig | null = null;

afterEach(async () => {
  await rig?.close();
  await postgres?.remove();
});

it("sees what a caller enqueued when its transaction commits at last, and does not wait for it before", async () => {
  const fromMs = performance.now();
  postgres = await startOwnPostgres();
  rig = await openRig(postgres, randomFrom(longSeed), { slowness });
  const { scheduler, cluster, db, databaseUrl } = rig;
  const caller = new pg.Client({ connectionString: databaseUrl, query_timeout: 30_000 });
  await caller.connect();
  const input: WorkInput = { ms: 5 };
  try {
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
    for (let slice = 0; slice < SLICES; slice += 1) {
      const before = cluster.count("task_run.settled");
      const endsAtMs = performance.now() + OPEN_MS / SLICES;
      await until("the slice is over", () => performance.now() >= endsAtMs, { withinMs: OPEN_MS });
      done.push(cluster.count("task_run.settled") - before);
    }
    await caller.query("COMMIT");
    const committedAtMs = performance.now();
    const ids = taskRuns.map(({ taskRunId }) => taskRunId);
    await until(
      "all of the caller's are done",
      async () => {
        const { rows } = await db.query<{ open: number }>(
          "SELECT count(*)::integer AS open FROM signalbox.task_run WHERE id = ANY ($1::uuid[]) AND status <> 'DONE'",
          [ids],
        );
        return rows[0]?.open === 0;
      },
      { withinMs: WITHIN_MS },
    );
    const seenMs = Math.round(performance.now() - committedAtMs);
    const { summary } = await rig.settleDown();

    expect(Math.min(...done)).toBeGreaterThan(0);
    // A poll, and what they stand in line behind.
    expect(seenMs).toBeLessThan(10 * INSTANCE_SETTINGS.pollIntervalMs);
    writeProof({
      title: "A caller's transaction that is left open holds nobody up",
      seed: longSeed,
      seconds: (performance.now() - fromMs) / 1_000,
      faults: { "transactions left open": 1 },
      paths: { "enqueued in it and done": ids.length },
      notes: [
        `open for ${Math.round(OPEN_MS / 1_000)} s; settled in each tenth of it: ${done.join(", ")}; all of it done ${seenMs} ms after its commit`,
        summary,
      ],
    });
  } finally {
    await caller.end();
  }
});
