/** What a database can do to its clients beside going away. A short round: test/ha/database.ha.test.ts. */

import { describe, it } from "vitest";
import { doHarm } from "../ha/nemesis.ts";
import { randomFrom } from "../ha/random.ts";
import { crashDatabase } from "../trials/crash-database.ts";
import { defaultIsolation, makeReadOnlyTheDefault, readOnly } from "../trials/default-transaction.ts";
import { openTrial } from "../trials/open-trial.ts";
import { FEW_CONNECTIONS, takeConnections, tooMany } from "../trials/take-connections.ts";
import { longPart, longSeed } from "./long-settings.ts";
import { conclude } from "./long-trial.ts";

it("survives ten immediate stops within a minute", async () => {
  const rig = await openTrial({ seed: longSeed });
  await conclude(
    "A crash loop of the database is survived",
    rig,
    async () => await crashDatabase(rig, { times: 10, everyMs: 6_000 * longPart }),
  );
});

it("goes on when the server has no connection left, and keeps its leases", async () => {
  const rig = await openTrial({
    seed: longSeed,
    serverSettings: FEW_CONNECTIONS,
    tolerates: tooMany,
  });
  await conclude(
    "A server without a free connection costs no lease",
    rig,
    async () => await takeConnections(rig),
  );
});

describe("the default of the database's transactions", () => {
  it.each(["repeatable read", "serializable"] as const)("is of no account: %s", async (level) => {
    const rig = await openTrial({ seed: longSeed, prepare: defaultIsolation(level) });
    await conclude(`Every promise holds where the default is ${level}`, rig, async () => {
      const faults = await doHarm(rig, randomFrom(longSeed).fork(level), 60_000 * longPart);
      return { faults, paths: { rescued: rig.cluster.count("task_run.rescued") } };
    });
  });

  it("is of no account: read only", async () => {
    const rig = await openTrial({ seed: longSeed, tolerates: readOnly });
    await conclude(
      "Work goes on where the default is read only",
      rig,
      async () => await makeReadOnlyTheDefault(rig, { forMs: 5_000, tasks: 50 }),
    );
  });
});
