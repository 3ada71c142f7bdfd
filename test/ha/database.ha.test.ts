/** What a database can do to its clients beside going away, in a short round. More of each: test/long/database.long.test.ts. */

import { it } from "vitest";
import { crashDatabase } from "../trials/crash-database.ts";
import { defaultIsolation, makeReadOnlyTheDefault, readOnly } from "../trials/default-transaction.ts";
import { openTrial } from "../trials/open-trial.ts";
import { endRound, shortSeed } from "../trials/short-round.ts";
import { FEW_CONNECTIONS, takeConnections, tooMany } from "../trials/take-connections.ts";

it("goes on through crashes, without a free connection and whatever is the default of transactions", async () => {
  const rig = await openTrial({
    seed: shortSeed,
    serverSettings: FEW_CONNECTIONS,
    prepare: defaultIsolation("serializable"),
    tolerates: (told) => tooMany(told) || readOnly(told),
  });
  const shown = [
    await takeConnections(rig),
    await makeReadOnlyTheDefault(rig, { forMs: 3_500, tasks: 20 }),
    // Last: whoever has just lost the connection of its lease must find another.
    await crashDatabase(rig, { times: 2, everyMs: 500 }),
  ];
  await endRound("database", rig, shown);
});
