/** The server's disk is full, again and again. A short round: test/ha/disk.ha.test.ts. */

import { it } from "vitest";
import { fillDisk, openDiskTrial } from "../trials/fill-disk.ts";
import { longSeed, partOf } from "./long-settings.ts";
import { conclude } from "./long-trial.ts";

it("goes on by itself whenever a full disk has room again, with nothing lost that was acknowledged", async (test) => {
  const crowded = await openDiskTrial({ seed: longSeed });
  if (crowded === null) return test.skip();

  await conclude(
    "A full disk is survived",
    crowded.rig,
    async () => await fillDisk(crowded, { times: partOf(5) }),
  );
});
