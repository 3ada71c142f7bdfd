/** Answers "why is it not running?" with the gates that decide it, and the names of what blocks. */

import { Admission } from "../domain/admission.ts";
import { SchedulerError } from "../domain/errors.ts";
import {
  type Blocker,
  type ExplainedCause,
  type Explanation,
  type GateReport,
  judge,
  namedIn,
} from "../domain/explanation.ts";
import type { Candidate } from "../domain/gates/gate.ts";
import { asTaskRunId, isUuid, type TaskRunId } from "../domain/ids.ts";
import { whyUnclaimable, whyUnclaimed, whyUnpolled } from "../domain/unattended.ts";
import { limitScopeAt, parkingOf, type WaitingCause } from "../domain/waiting-cause.ts";
import type { Pool, Transaction } from "../store/database.ts";
import { loadPromotionSnapshot } from "../store/promotion-snapshot.ts";
import { BY_INDEX, KEEP_PLANS } from "../store/session.ts";
import { loadCandidates } from "../store/task-runs/candidates.ts";
import {
  findClaimers,
  holdersOf,
  loadBlockers,
  newestOf,
  placeAtGate,
  placeAtResource,
  readOutsideJob,
  readOwner,
  readReady,
} from "../store/task-runs/explain.ts";
import { type ExplainedTaskRun, readExplained } from "../store/task-runs/explained.ts";
import { findTaskRun } from "../store/task-runs/find.ts";

const NAMED_HOLDERS = 5;

export async function explainOnce(pool: Pool, given: string): Promise<Explanation> {
  // One snapshot: otherwise a blocker could end between two reads and be named after its end.
  return await pool.snapshot(async (tx) => {
    const id = isUuid(given) ? given : (await findTaskRun(tx, given)).taskRunId;
    // Nearly always it waits, and the id is the task run's own: what its gates look at goes with the question who it is.
    const [taskRun, [named]] = await Promise.all([
      readExplained(tx, id),
      loadCandidates(tx, [asTaskRunId(id)]),
    ]);
    if (taskRun === null) throw new SchedulerError("TASK_NOT_FOUND", { id: given });
    const isOwnId = taskRun.taskRunId === id;
    const candidate = isOwnId ? named : (await loadCandidates(tx, [taskRun.taskRunId]))[0];
    const { queue: _, ...said } = taskRun;
    return { ...said, ...(await explainStand(tx, taskRun, candidate)) };
  }, `${BY_INDEX}; ${KEEP_PLANS}`);
}

type Stand = Pick<Explanation, "gates" | "unattended" | "claimableBy" | "claimedBy">;
const NOBODYS: Stand = { gates: [], unattended: null, claimableBy: [], claimedBy: null };

async function explainStand(
  tx: Transaction,
  taskRun: ExplainedTaskRun,
  candidate: Candidate | undefined,
): Promise<Stand> {
  switch (taskRun.status) {
    case "PENDING":
      return await explainPending(tx, candidate);
    case "AVAILABLE":
      return await explainAvailable(tx, taskRun);
    case "RUNNING":
      return await explainRunning(tx, taskRun);
    case "DONE":
    case "FAILED":
    case "CANCELED":
      return NOBODYS;
  }
}

async function explainPending(tx: Transaction, candidate: Candidate | undefined): Promise<Stand> {
  if (candidate !== undefined) return { ...NOBODYS, gates: await explainGates(tx, candidate) };
  return { ...NOBODYS, unattended: { code: "NOT_IN_WORK_SET", workSet: "waiting" } };
}

async function explainAvailable(
  tx: Transaction,
  { taskRunId, kind, queue }: ExplainedTaskRun,
): Promise<Stand> {
  const unattended = whyUnclaimable(await readReady(tx, taskRunId), queue);
  if (unattended !== null) return { ...NOBODYS, unattended };
  const claimableBy = await findClaimers(tx, kind);
  return { ...NOBODYS, claimableBy, unattended: whyUnclaimed(claimableBy, kind) };
}

async function explainRunning(
  tx: Transaction,
  { taskRunId, kind, claimedBy }: ExplainedTaskRun,
): Promise<Stand> {
  if (claimedBy === null)
    return { ...NOBODYS, unattended: whyUnpolled(await readOutsideJob(tx, taskRunId), kind) };
  const owner = await readOwner(tx, claimedBy);
  if (owner === null) return { ...NOBODYS, unattended: { code: "LEASE_OVER", leaseUntil: null } };
  const { isLost, ...named } = owner;
  const { leaseUntil } = named;
  return {
    ...NOBODYS,
    claimedBy: named,
    unattended: isLost ? { code: "LEASE_OVER", leaseUntil } : null,
  };
}

async function explainGates(tx: Transaction, candidate: Candidate): Promise<readonly GateReport[]> {
  const verdicts = judge(candidate, new Admission(await loadPromotionSnapshot(tx, [candidate])));
  const causes = verdicts.flatMap((verdict) => verdict.causes);
  const [blockers, places] = await Promise.all([blockersOf(tx, causes), placesOf(tx, candidate, causes)]);
  const explain = (cause: WaitingCause): ExplainedCause => ({
    cause,
    blockers: blockers.get(cause) ?? [],
    position: places.get(cause)?.position ?? null,
    lineLength: places.get(cause)?.lineLength ?? null,
    earliestAt: earliestAt(cause),
  });
  return verdicts.map((verdict) => ({ ...verdict, causes: verdict.causes.map(explain) }));
}

async function blockersOf(
  tx: Transaction,
  causes: readonly WaitingCause[],
): Promise<ReadonlyMap<WaitingCause, readonly Blocker[]>> {
  const named = await Promise.all(causes.map(async (cause) => [cause, await namedBy(tx, cause)] as const));
  const known = await loadBlockers(
    tx,
    named.flatMap(([, taskRunIds]) => taskRunIds),
  );
  return new Map(
    named.map(([cause, taskRunIds]) => [cause, taskRunIds.flatMap((id) => known.get(id) ?? [])]),
  );
}

/** Who stands in the way: some of those that hold a limit, the task for which something is kept, or whom the cause names. */
async function namedBy(tx: Transaction, cause: WaitingCause): Promise<readonly TaskRunId[]> {
  const scope = limitScopeAt(parkingOf(cause));
  if (scope !== null) return await holdersOf(tx, scope, NAMED_HOLDERS);
  if (cause.code !== "RESOURCE_BUSY" || cause.reservedFor === null) return namedIn([cause]);
  const newest = await newestOf(tx, [cause.reservedFor]);
  return [...newest.values()];
}

/** Never guessed: only where time alone opens the gate. */
function earliestAt(cause: WaitingCause): Date | null {
  if (cause.code === "RUN_AT") return cause.runAt;
  if (cause.code === "WINDOW") return cause.opensAt;
  return cause.code === "RATE_LIMIT" ? cause.freeAt : null;
}

interface Place {
  readonly position: number;
  readonly lineLength: number;
}

async function placesOf(
  tx: Transaction,
  candidate: Candidate,
  causes: readonly WaitingCause[],
): Promise<ReadonlyMap<WaitingCause, Place | null>> {
  return new Map(
    await Promise.all(causes.map(async (cause) => [cause, await placeOf(tx, candidate, cause)] as const)),
  );
}

async function placeOf(tx: Transaction, candidate: Candidate, cause: WaitingCause): Promise<Place | null> {
  if (cause.code === "RESOURCE_BUSY") return await placeAtResource(tx, cause.resource, candidate);
  const hasLine =
    limitScopeAt(parkingOf(cause)) !== null || cause.code === "RATE_LIMIT" || cause.code === "FAIR_SHARE";
  return hasLine ? await placeAtGate(tx, parkingOf(cause), candidate) : null;
}
