/** What the machine can do to one instance: a wrong clock, too little memory, no file descriptor left. A short round: test/ha/machine.ha.test.ts. */

import { it } from "vitest";
import { doHarm } from "../ha/nemesis.ts";
import { randomFrom } from "../ha/random.ts";
import { exhaustDescriptors, hasPrlimit, noneLeft } from "../trials/exhaust-descriptors.ts";
import { findFakeTime } from "../trials/fake-time.ts";
import { openTrial } from "../trials/open-trial.ts";
import { runOutOfMemory } from "../trials/run-out-of-memory.ts";
import { setClocksWrong } from "../trials/wrong-clocks.ts";
import { longPart, longSeed } from "./long-settings.ts";
import { conclude } from "./long-trial.ts";

it("is not disturbed by instances whose clocks are ten minutes off", async (test) => {
  const library = findFakeTime();
  if (library === null) return test.skip();
  const rig = await openTrial({ seed: longSeed });
  const random = randomFrom(longSeed).fork("clocks");
  await conclude(
    "Clocks of instances are of no account",
    rig,
    async () =>
      await setClocksWrong(rig, library, async () => ({
        faults: await doHarm(rig, random, 90_000 * longPart),
        paths: {},
      })),
  );
});

it("takes over what an instance ran that was out of memory", async () => {
  const rig = await openTrial({ seed: longSeed });
  await conclude(
    "An instance without memory is a crash like another",
    rig,
    async () => await runOutOfMemory(rig, { times: 2 }),
  );
});

it("recovers when an instance had no file descriptor left", async (test) => {
  if (!hasPrlimit()) return test.skip();
  const rig = await openTrial({ seed: longSeed, tolerates: noneLeft });
  await conclude(
    "An instance without a file descriptor comes back",
    rig,
    async () => await exhaustDescriptors(rig, { passes: 4 }),
  );
});
