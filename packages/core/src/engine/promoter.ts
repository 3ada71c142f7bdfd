/** Admits pending task runs: lock, read a bounded snapshot, decide, write. Any instance may, at any time. */

import type { Promotion } from "../domain/admission.ts";
import type { TaskRunId } from "../domain/ids.ts";
import { asRunId } from "../domain/ids.ts";
import { type PromotionPlan, planPromotions } from "../domain/promotion.ts";
import { type Parking, parkingOf } from "../domain/waiting-cause.ts";
import {
  sortWakes,
  type WakeKey,
  type WokenGates,
  wakeResource,
  wakeRun,
  wakeVersion,
} from "../domain/wake.ts";
import type { Pool, Transaction } from "../store/database.ts";
import { tryGateLock } from "../store/holds/gate-lock.ts";
import { LINE_DEPTH, loadResources } from "../store/holds/resources.ts";
import { takeHolds } from "../store/holds/take.ts";
import { takeWakes, wakeGates } from "../store/holds/wake.ts";
import { loadRuns } from "../store/runs/slots.ts";
import {
  findAfter,
  findNewAndDue,
  findParkedAtResources,
  findParkedAtRuns,
  findParkedAtVersions,
  loadCandidates,
  type ParkedFront,
  type SweptBite,
  type WaitingCandidate,
} from "../store/task-runs/candidates.ts";
import { readClock } from "../store/task-runs/explain.ts";
import {
  joinLines,
  leaveLines,
  msUntilNextRunAt,
  parkTaskRuns,
  promoteTaskRuns,
} from "../store/task-runs/promote.ts";

export interface PromoteRequest {
  readonly pool: Pool;
  readonly batchSize: number;
  /** Also looks at the next waiting task runs after this one: the slow sweep, the net under lost wakes. */
  readonly sweepAfter?: TaskRunId | null;
}

export type PromotionPass =
  | { readonly kind: "lock_missed" }
  | {
      readonly kind: "passed";
      readonly promoted: readonly TaskRunId[];
      readonly failed: ReadonlyMap<TaskRunId, unknown>;
      /** There was more to look at than one pass takes. */
      readonly more: boolean;
      readonly nextRunAtMs: number | null;
      /** Where the next sweep goes on; null: it has come to the end. */
      readonly sweptTo: TaskRunId | null;
    };

const NOTHING_SWEPT: SweptBite = { taskRunIds: [], sweptTo: null };

export async function promoteOnce(request: PromoteRequest): Promise<PromotionPass> {
  return await request.pool.transaction(async (tx) => {
    if (!(await tryGateLock(tx))) return { kind: "lock_missed" };
    return await decide(tx, request);
  });
}

async function decide(tx: Transaction, { batchSize, sweepAfter }: PromoteRequest): Promise<PromotionPass> {
  const wakes = await takeWakes(tx, batchSize);
  const fresh = await findNewAndDue(tx, batchSize);
  const fronts = await findFronts(tx, sortWakes(wakes), batchSize);
  const swept = sweepAfter === undefined ? NOTHING_SWEPT : await findAfter(tx, sweepAfter, batchSize);
  const ids = new Set([...fresh, ...fronts.flatMap(({ taskRunIds }) => taskRunIds), ...swept.taskRunIds]);
  const candidates = await loadCandidates(tx, [...ids]);
  const plan = planPromotions({
    now: await readClock(tx),
    candidates,
    resources: await loadResources(
      tx,
      distinct(candidates.flatMap(({ resources }) => resources.map(({ name }) => name))),
    ),
    runs: await loadRuns(tx, distinct(candidates.flatMap(({ runId }) => runId ?? [])), candidates.length),
  });
  const { promoted, freed } = await write(tx, plan, candidates);
  const again = fronts.filter((front) => mayGoOn(front, plan)).map(({ key }) => key);
  await wakeGates(tx, again);
  return {
    kind: "passed",
    promoted,
    failed: plan.failed,
    more: again.length > 0 || freed || wakes.length >= batchSize || fresh.length >= batchSize,
    nextRunAtMs: await msUntilNextRunAt(tx),
    sweptTo: swept.sweptTo,
  };
}

interface WokenFront extends Omit<ParkedFront, "key"> {
  readonly key: WakeKey;
}

async function findFronts(
  tx: Transaction,
  woken: WokenGates,
  batchSize: number,
): Promise<readonly WokenFront[]> {
  const versions = await findParkedAtVersions(tx, woken.versions, LINE_DEPTH);
  const runs = await findParkedAtRuns(tx, woken.runs, batchSize);
  const resources = await findParkedAtResources(tx, woken.resources, LINE_DEPTH);
  return [
    ...versions.map((front) => ({ ...front, key: wakeVersion(front.key) })),
    ...runs.map((front) => ({ ...front, key: wakeRun(asRunId(front.key)) })),
    ...resources.map((front) => ({ ...front, key: wakeResource(front.key) })),
  ];
}

/** The last one that was looked at has left this gate: whoever stands behind it may pass too. */
function mayGoOn({ key, taskRunIds, goesOn }: WokenFront, plan: PromotionPlan): boolean {
  const last = taskRunIds.at(-1);
  if (!goesOn || last === undefined) return false;
  const cause = plan.waiting.get(last);
  if (cause === undefined) return !tookAlone(key, last, plan);
  return key !== keyOf(parkingOf(cause));
}

function keyOf({ blockedOn, blockedKey }: Parking): WakeKey | null {
  switch (blockedOn) {
    case "RESOURCE_BUSY":
      return wakeResource(blockedKey);
    case "VERSION_ORDER":
      return wakeVersion(blockedKey);
    case "RUN_LIMIT":
      return wakeRun(asRunId(blockedKey));
    case "RUN_AT":
      return null;
  }
}

/** Whoever has the resource alone keeps out all who stand behind. */
function tookAlone(key: WakeKey, taskRunId: TaskRunId, plan: PromotionPlan): boolean {
  const promotion = plan.promote.find((each) => each.taskRunId === taskRunId);
  return promotion?.resourceSlots.some(({ name, slot }) => slot === 0 && wakeResource(name) === key) === true;
}

async function write(
  tx: Transaction,
  plan: PromotionPlan,
  candidates: readonly WaitingCandidate[],
): Promise<{ readonly promoted: readonly TaskRunId[]; readonly freed: boolean }> {
  const admitted = await promoteTaskRuns(
    tx,
    plan.promote.map(({ taskRunId }) => taskRunId),
  );
  const leftLines = await park(tx, plan, candidates);
  await takeHolds(
    tx,
    plan.promote.filter(({ taskRunId }) => admitted.has(taskRunId)),
  );
  // Canceled since we read them: whoever was parked because of what they would have held may go after all.
  const canceled = plan.promote.filter(({ taskRunId }) => !admitted.has(taskRunId));
  await wakeGates(tx, canceled.flatMap(gatesOf));
  return { promoted: [...admitted], freed: leftLines || canceled.length > 0 };
}

function gatesOf({ runSlot, resourceSlots }: Promotion): readonly WakeKey[] {
  const resources = resourceSlots.map(({ name }) => wakeResource(name));
  return runSlot === null ? resources : [wakeRun(runSlot.runId), ...resources];
}

/** Answers whether somebody left a line without being admitted: then those behind are to be looked at. */
async function park(
  tx: Transaction,
  plan: PromotionPlan,
  candidates: readonly WaitingCandidate[],
): Promise<boolean> {
  const moves = candidates.flatMap((candidate) => {
    const cause = plan.waiting.get(candidate.taskRunId);
    if (cause === undefined) return [];
    const to = parkingOf(cause);
    const stays = candidate.blockedOn === to.blockedOn && candidate.blockedKey === to.blockedKey;
    return stays ? [] : [{ candidate, to }];
  });
  const still = await parkTaskRuns(
    tx,
    moves.map(({ candidate, to }) => ({ taskRunId: candidate.taskRunId, ...to })),
  );
  const moved = moves.filter(({ candidate }) => still.has(candidate.taskRunId));
  const inLine = (gate: string | null): boolean => gate === "RESOURCE_BUSY";
  const joins = moved.filter(({ candidate, to }) => inLine(to.blockedOn) && !inLine(candidate.blockedOn));
  const leaves = moved.filter(({ candidate, to }) => !inLine(to.blockedOn) && inLine(candidate.blockedOn));
  await joinLines(
    tx,
    joins.map(({ candidate }) => candidate.taskRunId),
  );
  await leaveLines(
    tx,
    leaves.map(({ candidate }) => candidate.taskRunId),
  );
  // Whoever stood behind them in a line may go now.
  await wakeGates(
    tx,
    leaves.flatMap(({ candidate }) => candidate.resources.map(({ name }) => wakeResource(name))),
  );
  return leaves.length > 0;
}

function distinct<Item>(items: readonly Item[]): readonly Item[] {
  return [...new Set(items)];
}
