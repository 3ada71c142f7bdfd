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
    const taskRun = await readTaskRun(tx, found.taskRunId);
    if (taskRun === null) throw new SchedulerError("TASK_NOT_FOUND", { id });
    return await explainTaskRun(tx, taskRun);
  }, `${BY_INDEX}; ${KEEP_PLANS}`);
}

async function explainTaskRun(tx: Transaction, taskRun: TaskRunDetail): Promise<Explanation> {
  const { taskRunId, taskId, runId, title, kind, attempt, status, blockedOn } = taskRun;
  // All of one snapshot: none needs the answer to another.
  const [parking, computedAt, stand] = await Promise.all([
    readParking(tx, taskRunId),
    readClock(tx),
    explainStand(tx, taskRun),
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

async function explainStand(tx: Transaction, taskRun: TaskRunDetail): Promise<Stand> {
  switch (taskRun.status) {
    case "PENDING":
      return await explainPending(tx, taskRun);
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

async function explainPending(tx: Transaction, { taskRunId }: TaskRunDetail): Promise<Stand> {
  const gates = await explainGates(tx, taskRunId);
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

async function explainGates(tx: Transaction, taskRunId: TaskRunId): Promise<readonly GateReport[]> {
  const [candidate] = await loadCandidates(tx, [taskRunId]);
  if (candidate === undefined) return [];
  const view = new Admission(await loadPromotionSnapshot(tx, [candidate]));
  const verdicts = judge(candidate, view);
  const blockers = await blockersOf(
    tx,
    verdicts.flatMap(({ causes }) => causes),
  );
  const reports: GateReport[] = [];
  for (const { code, state, causes } of verdicts) {
    const explained: ExplainedCause[] = [];
    for (const cause of causes) explained.push(await explainCause(tx, candidate, cause, blockers));
    reports.push({ code, state, causes: explained });
  }
  return reports;
}

type BlockersOf = ReadonlyMap<WaitingCause, readonly Blocker[]>;

async function blockersOf(tx: Transaction, causes: readonly WaitingCause[]): Promise<BlockersOf> {
  const reserved = causes.flatMap((cause) =>
    cause.code === "RESOURCE_BUSY" && cause.reservedFor !== null ? [cause.reservedFor] : [],
  );
  const newest = await newestOf(tx, reserved);
  const ids = new Map<WaitingCause, readonly TaskRunId[]>();
  for (const cause of causes) {
    const scope = limitScopeAt(parkingOf(cause));
    if (scope !== null) ids.set(cause, await holdersOf(tx, scope, NAMED_HOLDERS));
    else if (cause.code === "RESOURCE_BUSY" && cause.reservedFor !== null) {
      const kept = newest.get(cause.reservedFor);
      ids.set(cause, kept === undefined ? [] : [kept]);
    } else ids.set(cause, namedIn([cause]));
  }
  const known = await loadBlockers(tx, [...ids.values()].flat());
  return new Map(
    [...ids].map(([cause, named]) => [cause, named.flatMap((taskRunId) => known.get(taskRunId) ?? [])]),
  );
}

async function explainCause(
  tx: Transaction,
  candidate: Candidate,
  cause: WaitingCause,
  blockers: BlockersOf,
): Promise<ExplainedCause> {
  const place = await placeOf(tx, candidate, cause);
  return {
    cause,
    blockers: blockers.get(cause) ?? [],
    position: place?.position ?? null,
    lineLength: place?.lineLength ?? null,
    earliestAt: earliestAt(cause),
  };
}

/** Never guessed: only where time alone opens the gate. */
function earliestAt(cause: WaitingCause): Date | null {
  if (cause.code === "RUN_AT") return cause.runAt;
  if (cause.code === "WINDOW") return cause.opensAt;
  return cause.code === "RATE_LIMIT" ? cause.freeAt : null;
}

async function placeOf(
  tx: Transaction,
  candidate: Candidate,
  cause: WaitingCause,
): Promise<{ readonly position: number; readonly lineLength: number } | null> {
  if (cause.code === "RESOURCE_BUSY") return await placeAtResource(tx, cause.resource, candidate);
  const hasLine =
    limitScopeAt(parkingOf(cause)) !== null || cause.code === "RATE_LIMIT" || cause.code === "FAIR_SHARE";
  return hasLine ? await placeAtGate(tx, parkingOf(cause), candidate) : null;
}
