/** The server's disk is full, once for its tables and once for its log. More: test/long/disk.long.test.ts. */

import { it } from "vitest";
import { fillDisk, openDiskTrial } from "../trials/fill-disk.ts";
import { endRound, shortSeed } from "../trials/short-round.ts";

it("goes on by itself when a full disk has room again, with nothing lost that was acknowledged", async (test) => {
  const crowded = await openDiskTrial({ seed: shortSeed });
  if (crowded === null) return test.skip();

  const shown = await fillDisk(crowded, { times: 1 });
  await endRound("full disk", crowded.rig, [shown]);
});
