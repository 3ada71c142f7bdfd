/** A PostgreSQL of its own and a rig on it, for one test: both go when it has finished, however that was. */

import { onTestFinished } from "vitest";
import { type OwnPostgres, startOwnPostgres } from "../ha/own-postgres.ts";
import { randomFrom } from "../ha/random.ts";
import { openRig, type Rig, type RigOptions } from "../ha/rig.ts";

export interface TrialOptions extends RigOptions {
  readonly seed: number;
  /** Of the server. */
  readonly serverSettings?: Readonly<Record<string, string>>;
  /** For the server's data. Default: a folder of its own. */
  readonly dataPlace?: string;
  /** What stands between the instances and the server. Its stop comes before the server's. */
  readonly beside?: (postgres: OwnPostgres) => Promise<RigOptions>;
}

export async function openTrial({
  seed,
  serverSettings,
  dataPlace,
  beside,
  ...options
}: TrialOptions): Promise<Rig> {
  const postgres = await startOwnPostgres(serverSettings, dataPlace);
  onTestFinished(async () => await postgres.remove());
  const more = await beside?.(postgres);
  const rig = await openRig(postgres, randomFrom(seed), { ...options, ...more });
  onTestFinished(async () => await rig.close());
  return rig;
}
