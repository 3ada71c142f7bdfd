/** PgBouncer in transaction mode: everything but LISTEN and migrations goes through it. */

import { afterEach, expect, it } from "vitest";
import {
  CUT_SESSIONS,
  doHarm,
  type Fault,
  FREEZE_LONG,
  FREEZE_UNTIL_RESCUED,
  KILL,
  RESTART_IMMEDIATE,
} from "../ha/nemesis.ts";
import { type OwnPostgres, startOwnPostgres } from "../ha/own-postgres.ts";
import { randomFrom } from "../ha/random.ts";
import { openRig, type Rig } from "../ha/rig.ts";
import { requireTaken } from "../ha/sometimes.ts";
import { brokenLine } from "../ha/tolerated.ts";
import { longPart, longSeed } from "./long-settings.ts";
import { findPgBouncer, type PgBouncer, startPgBouncer } from "./pg-bouncer.ts";
import { writeProof } from "./proof.ts";
import { slowness } from "./slowness.ts";

let postgres: OwnPostgres | null = null;
let bouncer: PgBouncer | null = null;
let rig: Rig | null = null;

afterEach(async () => {
  await rig?.close();
  await bouncer?.stop();
  await postgres?.remove();
});

it("keeps every promise through PgBouncer in transaction mode", async (test) => {
  const program = findPgBouncer();
  if (program === null) {
    process.stdout.write("Skipped: PgBouncer is not installed (scripts/ci-tools.sh)\n");
    return test.skip();
  }
  const fromMs = performance.now();
  postgres = await startOwnPostgres();
  const pooler = await startPgBouncer(program, postgres.url, postgres.dir);
  bouncer = pooler;
  rig = await openRig(postgres, randomFrom(longSeed), {
    instancesUrl: (databaseUrl) => pooler.urlOf(databaseUrl),
    direct: true,
    slowness,
    // PgBouncer's own words for a server that is not there.
    tolerates: (told) =>
      brokenLine(told) ||
      /server_login_retry|server conn crashed|closed the connection|query_wait/.test(told.message),
  });
  const restartPooler: Fault = ["PgBouncer killed", async () => await pooler.restart()];
  const faults = await doHarm(rig, randomFrom(longSeed).fork("pooler"), 120_000 * longPart, [
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
  const paths = {
    rescued: rig.cluster.count("task_run.rescued"),
    refused: rig.cluster.count("task_run.refused"),
    "lock missed": rig.cluster.count("gate.lock_missed"),
  };
  const { summary } = await rig.settleDown();

  requireTaken({ ...faults, ...paths });
  expect(rig.cluster.count("task_run.settled")).toBeGreaterThan(0);
  writeProof({
    title: "Every promise holds through PgBouncer in transaction mode",
    seed: longSeed,
    seconds: (performance.now() - fromMs) / 1_000,
    faults,
    paths,
    notes: [summary],
  });
});
