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
import type { TaskRunId } from "../domain/ids.ts";
import type { TaskRunDetail } from "../domain/task-run.ts";
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
  readClock,
  readOutsideJob,
  readOwner,
  readParking,
  readReady,
} from "../store/task-runs/explain.ts";
import { findTaskRun } from "../store/task-runs/find.ts";
import { readTaskRun } from "../store/task-runs/read.ts";

const NAMED_HOLDERS = 5;

export async function explainOnce(pool: Pool, id: string): Promise<Explanation> {
  // One snapshot: otherwise a blocker could end between two reads and be named after its end.
  return await pool.snapshot(async (tx) => {
    const found = await findTaskRun(tx, id);
    // Nearly always it waits: its gates are asked for before that is known.
    const [taskRun, gates] = await Promise.all([
      readTaskRun(tx, found.taskRunId),
      explainGates(tx, found.taskRunId),
    ]);
    if (taskRun === null) throw new SchedulerError("TASK_NOT_FOUND", { id });
    return await explainTaskRun(tx, taskRun, gates);
  }, `${BY_INDEX}; ${KEEP_PLANS}`);
}

async function explainTaskRun(
  tx: Transaction,
  taskRun: TaskRunDetail,
  gates: readonly GateReport[],
): Promise<Explanation> {
  const { taskRunId, taskId, runId, title, kind, attempt, status, blockedOn } = taskRun;
  // All of one snapshot: none needs the answer to another.
  const [parking, computedAt, stand] = await Promise.all([
    readParking(tx, taskRunId),
    readClock(tx),
    explainStand(tx, taskRun, gates),
  ]);
  return {
    taskRunId,
    taskId,
    runId,
    title,
    kind,
    attempt,
    status,
    since: sinceWhen(taskRun),
    computedAt,
    blockedOn,
    blockedSince: parking?.blockedSince ?? null,
    cancelRequestedAt: taskRun.cancelRequestedAt,
    cancelRequestedBy: taskRun.cancelRequestedBy,
    cancelReason: taskRun.cancelReason,
    outcome: taskRun.outcome,
    message: taskRun.error?.message ?? null,
    ...stand,
  };
}

type Stand = Pick<Explanation, "gates" | "unattended" | "claimableBy" | "claimedBy">;
const NOBODYS: Stand = { gates: [], unattended: null, claimableBy: [], claimedBy: null };

async function explainStand(
  tx: Transaction,
  taskRun: TaskRunDetail,
  gates: readonly GateReport[],
): Promise<Stand> {
  switch (taskRun.status) {
    case "PENDING":
      return explainPending(gates);
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

function explainPending(gates: readonly GateReport[]): Stand {
  if (gates.length > 0) return { ...NOBODYS, gates };
  return { ...NOBODYS, unattended: { code: "NOT_IN_WORK_SET", workSet: "waiting" } };
}

async function explainAvailable(tx: Transaction, { taskRunId, kind, queue }: TaskRunDetail): Promise<Stand> {
  const unattended = whyUnclaimable(await readReady(tx, taskRunId), queue);
  if (unattended !== null) return { ...NOBODYS, unattended };
  const claimableBy = await findClaimers(tx, kind);
  return { ...NOBODYS, claimableBy, unattended: whyUnclaimed(claimableBy, kind) };
}

async function explainRunning(
  tx: Transaction,
  { taskRunId, kind, claimedBy }: TaskRunDetail,
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

function sinceWhen({ finishedAt, claimedAt, availableAt, enqueuedAt }: TaskRunDetail): Date {
  return finishedAt ?? claimedAt ?? availableAt ?? enqueuedAt;
}

/** None where it does not wait. */
async function explainGates(tx: Transaction, taskRunId: TaskRunId): Promise<readonly GateReport[]> {
  const [candidate] = await loadCandidates(tx, [taskRunId]);
  if (candidate === undefined) return [];
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
