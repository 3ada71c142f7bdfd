/** What the machine can do to one instance, in a short round. More of each: test/long/machine.long.test.ts. */

import { it } from "vitest";
import { exhaustDescriptors, hasPrlimit, noneLeft } from "../trials/exhaust-descriptors.ts";
import { findFakeTime } from "../trials/fake-time.ts";
import { openTrial } from "../trials/open-trial.ts";
import { runOutOfMemory } from "../trials/run-out-of-memory.ts";
import { endRound, shortSeed } from "../trials/short-round.ts";
import type { Shown } from "../trials/shown.ts";
import { setClocksWrong } from "../trials/wrong-clocks.ts";

it("goes on when an instance has no file descriptor left, one no memory, and the clocks of two are ten minutes off", async () => {
  const rig = await openTrial({ seed: shortSeed, tolerates: noneLeft });
  const shown: Shown[] = [];
  if (hasPrlimit()) shown.push(await exhaustDescriptors(rig, { passes: 1 }));
  const starve = async (): Promise<Shown> => await runOutOfMemory(rig, { times: 1 });
  const library = findFakeTime();
  shown.push(await (library === null ? starve() : setClocksWrong(rig, library, starve)));
  await endRound("machine", rig, shown);
});
