/**
 * Random sequences of what callers and instances do, one step at a time, against an oracle of the rules. The long round
 * is `test/long/model.long.test.ts`. `SIGNALBOX_MODEL_SEED` repeats a round, `SIGNALBOX_MODEL_STEPS` one sequence.
 */

import { afterAll, inject, it } from "vitest";
import { show } from "../ha/sometimes.ts";
import { newCoverage } from "../model/coverage.ts";
import { checkSequences } from "../model/property.ts";
import { openRig } from "../model/rig.ts";
import { runSequence, STEP_NAMES } from "../model/run-sequence.ts";
import type { Step } from "../model/steps.ts";

const SEQUENCES = 8;
const seed = Number(process.env["SIGNALBOX_MODEL_SEED"] ?? Date.now() % 1_000_000_000);
const given = process.env["SIGNALBOX_MODEL_STEPS"];

const rig = await openRig(inject("adminUrl"));
afterAll(rig.close);

it(`does what the rules say, step by step (seed ${seed})`, async () => {
  const coverage = newCoverage(STEP_NAMES);

  if (given === undefined) await checkSequences(rig, { seed, sequences: SEQUENCES }, coverage);
  else await runSequence(rig, JSON.parse(given) as Step[], coverage);

  process.stdout.write(`${show({ ...coverage.steps, ...coverage.gates, ...coverage.paths })}\n`);
}, 180_000);
