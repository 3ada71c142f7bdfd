/** The model test for minutes: as many sequences as fit, and every step, gate and path among them. */

import { afterAll, inject, it } from "vitest";
import { missedIn, requireTaken } from "../ha/sometimes.ts";
import { newCoverage } from "../model/coverage.ts";
import { checkSequences } from "../model/property.ts";
import { openRig } from "../model/rig.ts";
import { STEP_NAMES } from "../model/run-sequence.ts";
import { longSeed, partOf } from "./long-settings.ts";
import { writeProof } from "./proof.ts";

const SECONDS = partOf(300);
const MOST_SECONDS = 4 * SECONDS;
const SEQUENCES_A_ROUND = 10;
/** The steps that harm instances; the others are what callers and instances do all day. */
const FAULTS = ["crash", "expire", "leave", "loseClaim"];

const rig = await openRig(inject("adminUrl"));
afterAll(rig.close);

it("does what the rules say, step by step, in sequence after sequence", async () => {
  const fromMs = performance.now();
  const coverage = newCoverage(STEP_NAMES);
  const { steps, gates, paths } = coverage;
  const isMissed = (): boolean => missedIn({ ...steps, ...gates, ...paths }).length > 0;
  const seconds = (): number => (performance.now() - fromMs) / 1_000;
  let rounds = 0;
  // On a busy machine few sequences fit, and the rarest paths are not among them yet.
  for (; seconds() < SECONDS || (isMissed() && seconds() < MOST_SECONDS); rounds += 1) {
    const seed = longSeed + rounds;
    process.stdout.write(`Model: round ${rounds + 1}, seed ${seed}\n`);
    await checkSequences(rig, { seed, sequences: SEQUENCES_A_ROUND }, coverage);
  }
  const faults = Object.fromEntries(FAULTS.map((name) => [name, steps[name] ?? 0]));
  const taken = Object.values(steps).reduce((sum, times) => sum + times, 0);

  requireTaken({ ...steps, ...gates, ...paths });
  writeProof({
    title: "Random sequences of steps do what an oracle of the rules says",
    seed: longSeed,
    seconds: seconds(),
    faults,
    paths: { ...gates, ...paths },
    notes: [
      `${rounds * SEQUENCES_A_ROUND} sequences, ${taken} steps; the whole database compared after each`,
    ],
  });
});
