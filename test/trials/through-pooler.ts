/** PgBouncer in transaction mode: everything but LISTEN and migrations goes through it. */

import { expect, onTestFinished } from "vitest";
import type { ToldError } from "../ha/instance-messages.ts";
import {
  CUT_SESSIONS,
  doHarm,
  type Fault,
  FREEZE_LONG,
  FREEZE_UNTIL_RESCUED,
  KILL,
  RESTART_IMMEDIATE,
} from "../ha/nemesis.ts";
import { randomFrom } from "../ha/random.ts";
import type { Rig } from "../ha/rig.ts";
import { requireTaken } from "../ha/sometimes.ts";
import { brokenLine } from "../ha/tolerated.ts";
import { openTrial, type TrialOptions } from "./open-trial.ts";
import { findPgBouncer, type PgBouncer, startPgBouncer } from "./pg-bouncer.ts";
import type { Shown } from "./shown.ts";

export interface Pooled {
  readonly rig: Rig;
  readonly pooler: PgBouncer;
}

/** Null where there is no PgBouncer: it is said in one line, and the test is to be skipped. */
export async function openPooledTrial(options: TrialOptions): Promise<Pooled | null> {
  const program = findPgBouncer();
  if (program === null) {
    process.stdout.write("Skipped: PgBouncer is not installed (scripts/ci-tools.sh)\n");
    return null;
  }
  let pooler: PgBouncer | null = null;
  const rig = await openTrial({
    ...options,
    beside: async (postgres) => {
      const started = await startPgBouncer(program, postgres.url, postgres.dir);
      pooler = started;
      onTestFinished(async () => await started.stop());
      return {
        instancesUrl: (databaseUrl) => started.urlOf(databaseUrl),
        direct: true,
        tolerates: brokenPooler,
      };
    },
  });
  if (pooler === null) throw new Error("PgBouncer was not started");
  return { rig, pooler };
}

/** PgBouncer's own words for a server that is not there. */
function brokenPooler(told: ToldError): boolean {
  return (
    brokenLine(told) ||
    /server_login_retry|server conn crashed|closed the connection|query_wait/.test(told.message)
  );
}

/** One fault of each sort that must be, and others for so long. */
export async function harmThroughPooler(
  { rig, pooler }: Pooled,
  { seed, forMs }: { readonly seed: number; readonly forMs: number },
): Promise<Shown> {
  const restartPooler: Fault = ["PgBouncer killed", async () => await pooler.restart()];
  const faults = await doHarm(rig, randomFrom(seed).fork("pooler"), forMs, [
    {
      name: "instances",
      always: [FREEZE_UNTIL_RESCUED, KILL],
      sometimes: [KILL, FREEZE_LONG],
      restMs: { low: 300, high: 2_000 },
    },
    {
      name: "pooler",
      always: [restartPooler, CUT_SESSIONS],
      sometimes: [restartPooler, CUT_SESSIONS, RESTART_IMMEDIATE],
      restMs: { low: 1_500, high: 5_000 },
    },
  ]);
  const { cluster } = rig;
  const paths = {
    rescued: cluster.count("task_run.rescued"),
    refused: cluster.count("task_run.refused"),
    "lock missed": cluster.count("gate.lock_missed"),
  };
  requireTaken({ ...faults, ...paths });
  expect(cluster.count("task_run.settled")).toBeGreaterThan(0);
  return { faults, paths };
}
