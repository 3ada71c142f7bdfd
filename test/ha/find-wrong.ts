/** What must not be found in a trial whose faults are over. */

import type pg from "pg";
import { findLostTasks } from "./drain.ts";
import type { ToldError } from "./instance-messages.ts";
import { KEY_PREFIX } from "./load.ts";
import { findBrokenKeys, type KeyedTask } from "./load-keys.ts";
import { tellsOutage, tellsTooSlow } from "./outage.ts";
import type { Rig } from "./rig.ts";
import {
  type AcceptedClaim,
  type DoneTaskRun,
  findDecreasingFences,
  findDoubleEffects,
  findSharedNumbers,
  findUnfoundedDone,
} from "./trace.ts";
import { describeReport } from "./watch.ts";

/** Half of what a statement of these instances may take. */
const LONG_STANDSTILL_MS = 4_000;

export interface Leniency {
  readonly mayBeLost: ReadonlySet<string>;
  readonly tolerates: (told: ToldError) => boolean;
}

export async function findWrong(rig: Rig, { mayBeLost, tolerates }: Leniency): Promise<readonly string[]> {
  const { cluster, load, watch, scheduler, db } = rig;
  const trace = await rig.trace();
  const { rows } = await db.query<{ id: string }>("SELECT id FROM signalbox.task_run");
  // A database that is away fails a pass. Nothing else may: no deadlock, and no constraint that catches a mistake.
  const stoodStill = rig.standstill.longestMs() >= LONG_STANDSTILL_MS;
  const failed = cluster
    .told("loop.failed")
    .filter((event) => !tellsOutage(event) && !tolerates(event) && !(stoodStill && tellsTooSlow(event)));
  return [
    ...cluster.all.flatMap(({ unexpectedEnd }) => unexpectedEnd ?? []),
    ...load.problems
      // What a failover has lost can be neither canceled nor limited.
      .filter((problem) => mayBeLost.size === 0 || !/^(?:TASK|RUN)_NOT_FOUND/.test(problem))
      .map((problem) => `the load: ${problem}`),
    ...failed.map(({ loop, code, message }) => `a pass of the ${loop} failed: ${code} ${message}`),
    ...cluster.told("gate.failed").map(({ message }) => `a task run could not be judged: ${message}`),
    ...watch.violations.map((violation) => `during the faults: ${violation}`),
    ...describeReport(await scheduler.checkInvariants({ since: new Date(0) })),
    ...findLostTasks(load.acknowledged, new Set([...rows.map(({ id }) => id), ...mayBeLost])),
    ...findDoubleEffects(trace),
    ...findSharedNumbers(trace),
    ...findUnfoundedDone(await readDone(rig), trace),
    ...findDecreasingFences(await readAccepted(db), trace),
    ...findBrokenKeys(load.keys, await readKeyed(db), mayBeLost),
  ];
}

/** Whose result the database has taken from the one who had it. */
async function readAccepted(db: pg.Pool): Promise<readonly AcceptedClaim[]> {
  const { rows } = await db.query<Omit<AcceptedClaim, "claimNo"> & { claimNo: string }>(`
    SELECT t.id AS "taskRunId", t.claim_no AS "claimNo", array_agg(r.name) AS resources
      FROM signalbox.task_run AS t
      JOIN signalbox.task AS k ON k.id = t.task_id
     CROSS JOIN LATERAL jsonb_to_recordset(k.resources) AS r (name text, mode text)
     WHERE (t.status = 'DONE' OR t.outcome IN ('HANDLER_FAILED', 'PROCESS_EXITED')) AND r.mode = 'exclusive'
     GROUP BY t.id, t.claim_no`);
  return rows.map((row) => ({ ...row, claimNo: Number(row.claimNo) }));
}

async function readKeyed(db: pg.Pool): Promise<readonly KeyedTask[]> {
  const { rows } = await db.query<KeyedTask>(
    `SELECT k.title AS key, t.id AS "taskRunId"
       FROM signalbox.task AS k JOIN signalbox.task_run AS t ON t.task_id = k.id AND t.attempt = 1
      WHERE k.title LIKE $1`,
    [`${KEY_PREFIX}%`],
  );
  return rows;
}

async function readDone({ db, cluster }: Rig): Promise<readonly DoneTaskRun[]> {
  const { rows } = await db.query<{ taskRunId: string; claimNo: string; claimedBy: string }>(`
    SELECT id AS "taskRunId", claim_no AS "claimNo", claimed_by AS "claimedBy"
      FROM signalbox.task_run WHERE status = 'DONE'`);
  return rows.map(({ taskRunId, claimNo, claimedBy }) => ({
    taskRunId,
    claimNo: Number(claimNo),
    pid: cluster.ofBootId(claimedBy).pid,
  }));
}
