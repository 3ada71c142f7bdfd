/** What the short rounds of `npm test` share: a seed, and a line of what was seen. The long ones have `test/long/long-settings.ts`. */

import type { Rig } from "../ha/rig.ts";
import { show } from "../ha/sometimes.ts";
import type { Shown } from "./shown.ts";

export const shortSeed: number = Number(process.env["SIGNALBOX_HA_SEED"] ?? Date.now() % 1_000_000);

/** The faults are over: everything must hold. */
export async function endRound(name: string, rig: Rig, shown: readonly Shown[]): Promise<void> {
  const { summary } = await rig.settleDown();
  const seen = shown.map(({ faults, paths }) => show({ ...faults, ...paths }));
  process.stdout.write(`HA ${name} (seed ${shortSeed}): ${[...seen, summary].join("; ")}\n`);
}
