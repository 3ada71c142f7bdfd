/** A database that is there, and in which somebody stands in the way. A short round: test/ha/hindrance.ha.test.ts. */

import { it } from "vitest";
import { fillNotifyQueue, SMALL_NOTIFY_QUEUE } from "../trials/fill-notify-queue.ts";
import { lockTables, patientFor } from "../trials/lock-tables.ts";
import { openTrial } from "../trials/open-trial.ts";
import { longSeed } from "./long-settings.ts";
import { conclude } from "./long-trial.ts";

it("keeps its leases while somebody locks a table for longer than a lease, and goes on afterwards", async () => {
  // Long enough for a busy machine: whoever is fenced here is so because of the lock.
  const leaseMs = 10_000;
  const rig = await openTrial({ seed: longSeed, ...patientFor(leaseMs) });
  const tables = ["task_run", "waiting", "claim_batch"];
  await conclude(
    "A table that somebody locks costs no lease",
    rig,
    async () => await lockTables(rig, { tables, forMs: 1.5 * leaseMs }),
  );
});

it("goes on by polling when the queue of NOTIFY is full, and no transaction fails because of a hint", async () => {
  const rig = await openTrial({ seed: longSeed, serverSettings: SMALL_NOTIFY_QUEUE });
  await conclude(
    "A full queue of NOTIFY stops nobody",
    rig,
    async () => await fillNotifyQueue(rig, { tasks: 50 }),
  );
});
