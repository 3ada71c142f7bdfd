/**
 * One instance in a process of its own, of compiled code, that leaves when it is told to by SIGTERM as a service does.
 * Its URL comes by a message: arguments and environment can be seen.
 */

import { setTimeout as wait } from "node:timers/promises";
import { createScheduler, defineTask, letGo } from "@signalbox/core";

process.once("disconnect", () => process.exit());
process.once("message", (message) => void start(message));
process.send({ kind: "loaded" });

async function start({ name, databaseUrl }) {
  const scheduler = createScheduler({
    name,
    databaseUrl,
    leaseMs: 3_000,
    beatMs: 500,
    graceMs: 500,
    pollIntervalMs: 500,
    slots: 6,
    poolSize: 5,
    drainMs: 300,
    obeyMs: 200,
    tasks: [
      defineTask({ kind: "work", run: async ({ ms }, { signal }) => await wait(ms, null, { signal }) }),
      defineTask({ kind: "stubborn", run: async ({ ms }) => await wait(ms) }),
      defineTask({
        kind: "outside",
        run: ({ ms }) => letGo({ handle: Date.now() + ms, pollInMs: 50, deadlineInMs: 60_000 }),
        poll: async (endsAt) =>
          Date.now() < endsAt ? { kind: "running", pollInMs: 50 } : { kind: "succeeded" },
      }),
    ],
  });
  // As often as it is told: the second time it is leaving already.
  process.on("SIGTERM", () => {
    scheduler.stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
  await scheduler.start();
  process.send({ kind: "started" });
}
