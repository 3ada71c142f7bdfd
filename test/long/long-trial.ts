/** A trial at its whole length: what it has shown is written down when everything has held. */

import type { Rig } from "../ha/rig.ts";
import type { Shown } from "../trials/shown.ts";
import { longSeed } from "./long-settings.ts";
import { writeProof } from "./proof.ts";

/** The faults are over: everything must hold. */
export async function conclude(title: string, rig: Rig, trial: () => Promise<Shown>): Promise<void> {
  const fromMs = performance.now();
  const { faults, paths, notes = [] } = await trial();
  const { summary } = await rig.settleDown();
  writeProof({
    title,
    seed: longSeed,
    seconds: (performance.now() - fromMs) / 1_000,
    faults,
    paths,
    notes: [...notes, summary],
  });
}
