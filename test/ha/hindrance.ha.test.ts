/** Somebody stands in the way, in a short round. More of each: test/long/hindrance.long.test.ts and test/long/caller.long.test.ts. */

import { it } from "vitest";
import { fillNotifyQueue, SMALL_NOTIFY_QUEUE } from "../trials/fill-notify-queue.ts";
import { leaveTransactionOpen } from "../trials/leave-transaction-open.ts";
import { lockTables, patientFor } from "../trials/lock-tables.ts";
import { openTrial } from "../trials/open-trial.ts";
import { endRound, shortSeed } from "../trials/short-round.ts";

const LEASE_MS = 4_000;

it("goes on while a table is locked, while NOTIFY has no room and while a caller leaves its transaction open", async () => {
  const rig = await openTrial({
    seed: shortSeed,
    serverSettings: SMALL_NOTIFY_QUEUE,
    ...patientFor(LEASE_MS),
  });
  const locked = await lockTables(rig, { tables: ["task_run"], forMs: 1.5 * LEASE_MS });
  // Not at once: what was sent inside of a transaction while there was room could not commit while there is none.
  const left = await leaveTransactionOpen(rig, { openMs: 1.5 * LEASE_MS, slices: 3 });
  const filled = await fillNotifyQueue(rig, { tasks: 20 });
  await endRound("hindrance", rig, [locked, left, filled]);
});
