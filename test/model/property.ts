/** Draws sequences until one fails, makes it smaller, and tells how to run it again. */

import fc from "fast-check";
import { type Coverage, newCoverage } from "./coverage.ts";
import { sequence } from "./draw.ts";
import { makeSmaller } from "./make-smaller.ts";
import type { Rig } from "./rig.ts";
import { runSequence, STEP_NAMES } from "./run-sequence.ts";
import type { Step } from "./steps.ts";

/** A failure is made smaller for so long; after that the smallest until then is told. */
const SMALLER_MS = 60_000;

export interface Round {
  readonly seed: number;
  readonly sequences: number;
}

export async function checkSequences(
  rig: Rig,
  { seed, sequences }: Round,
  coverage: Coverage,
): Promise<void> {
  for (const steps of fc.sample(sequence, { seed, numRuns: sequences })) {
    const error = await failureOf(rig, steps, coverage);
    if (error !== null) throw await told(rig, seed, steps, error);
  }
}

async function failureOf(rig: Rig, steps: readonly Step[], coverage: Coverage): Promise<Error | null> {
  try {
    await runSequence(rig, steps, coverage);
    return null;
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
}

/** The failure of the smallest sequence that fails too, with how to repeat it. */
async function told(rig: Rig, seed: number, failing: readonly Step[], first: Error): Promise<Error> {
  const giveUpAt = performance.now() + SMALLER_MS;
  let error = first;
  const steps = await makeSmaller(failing, async (smaller) => {
    if (performance.now() > giveUpAt) return false;
    const again = await failureOf(rig, smaller, newCoverage(STEP_NAMES));
    error = again ?? error;
    return again !== null;
  });
  error.message = `${error.message}\n\n${howToRepeat(seed, steps)}`;
  return error;
}

function howToRepeat(seed: number, steps: readonly Step[]): string {
  const command = "npx vitest run --project db test/db/model.db.test.ts";
  return [
    `Seed ${seed}; made smaller to ${steps.length} steps. Again:`,
    `SIGNALBOX_MODEL_STEPS='${JSON.stringify(steps)}' ${command}`,
  ].join("\n");
}
