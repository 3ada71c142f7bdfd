/** A failover that loses the last transactions, with claims and results among them. */

import type { WorkInput, WorkKind } from "./instance-messages.ts";
import type { ReplicatedPostgres } from "./replicated-postgres.ts";
import type { Rig } from "./rig.ts";
import { until } from "./until.ts";

const WITHIN_MS = 60_000;
/** A sequence is written to the WAL 32 numbers ahead: only with more of them the standby falls behind. */
const WRITTEN_AHEAD = 32;
const CLAIMS_IN_THE_LAG = 8;
const RAISED_BY = 2 ** 20;

export interface FailedOver {
  /** What the standby had not got. */
  readonly mayBeLost: ReadonlySet<string>;
  readonly ms: number;
  /** Claim numbers that were given out while the standby got nothing. */
  readonly lag: number;
  readonly raisedTo: number;
}

/** Resolves once every instance has seen the new timeline and claims there. */
export async function failOverWithLag(rig: Rig, postgres: ReplicatedPostgres): Promise<FailedOver> {
  const { cluster, load, scheduler } = rig;
  // The standby knows of these, and not that they are claimed: they run twice, and the first result must be refused.
  const kind: WorkKind = "stubborn";
  const input: WorkInput = { ms: 6_000 };
  const runAt = new Date(Date.now() + 2_000);
  const specs = Array.from({ length: 6 }, () => ({ kind, input, runAt, priority: 0 }));
  const { taskRuns } = await scheduler.enqueueMany(specs);
  const acknowledgedBefore = load.acknowledged.length;
  const knownThere = await lastClaimNo(rig);
  await postgres.caughtUp();
  await postgres.cutReplication();
  const claimNoBefore = await lastClaimNo(rig);
  await rig.db.query("SELECT nextval('signalbox.claim_no') FROM generate_series(1, $1)", [WRITTEN_AHEAD]);
  await until(
    "enough is claimed that the standby does not know of",
    async () =>
      (await lastClaimNo(rig)) > claimNoBefore + WRITTEN_AHEAD + CLAIMS_IN_THE_LAG &&
      (await someRun(
        rig,
        taskRuns.map(({ taskRunId }) => taskRunId),
      )),
    { withinMs: WITHIN_MS },
  );
  const claimNo = await lastClaimNo(rig);
  const seenBefore = new Map(cluster.running.map((each) => [each, each.count("timeline.changed")]));

  const { ms } = await postgres.failOver();
  // Whoever was asked last may have been answered by the old one.
  const mayBeLost = new Set(load.acknowledged.slice(acknowledgedBefore));
  await until(
    "every instance sees the new timeline",
    () => cluster.running.every((each) => each.count("timeline.changed") > (seenBefore.get(each) ?? 0)),
    { withinMs: WITHIN_MS },
  );
  await until("somebody claims", async () => (await lastClaimNo(rig)) > claimNo + CLAIMS_IN_THE_LAG, {
    withinMs: WITHIN_MS,
  });
  const raisedTo = await lastClaimNo(rig);
  if (raisedTo < knownThere + RAISED_BY) {
    throw new Error(`The numbers went on at ${raisedTo} after ${claimNo} on the old primary`);
  }
  return { mayBeLost, ms, lag: claimNo - claimNoBefore - WRITTEN_AHEAD, raisedTo };
}

async function lastClaimNo({ db }: Rig): Promise<number> {
  return await until(
    "the database answers",
    async () =>
      await db.query<{ no: string }>("SELECT last_value AS no FROM signalbox.claim_no").then(
        ({ rows }) => Number(rows[0]?.no),
        () => null,
      ),
    { withinMs: WITHIN_MS },
  );
}

async function someRun({ db }: Rig, taskRunIds: readonly string[]): Promise<boolean> {
  const { rowCount } = await db.query(
    "SELECT FROM signalbox.task_run WHERE id = ANY ($1::uuid[]) AND status = 'RUNNING'",
    [taskRunIds],
  );
  return rowCount !== null && rowCount > 0;
}
