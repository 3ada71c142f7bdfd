/** Admits pending task runs: lock, read a bounded snapshot, decide, write. Any instance may, at any time. */

import type { Promotion } from "../domain/admission.ts";
import { fairShareOf } from "../domain/fair-share.ts";
import type { TaskRunId } from "../domain/ids.ts";
import { type PromotionPlan, planPromotions } from "../domain/promotion.ts";
import { gatesOf, mayGoOn, timedWakes } from "../domain/promotion-wakes.ts";
import { settleTooSmall } from "../domain/settlement.ts";
import { type Parking, parkingOf } from "../domain/waiting-cause.ts";
import { parkingsOf, type WakeKey, wakeOf, wakeResource } from "../domain/wake.ts";
import type { Pool, Transaction } from "../store/database.ts";
import { takeGateLock, tryGateLock } from "../store/holds/gate-lock.ts";
import { takeRateSlots } from "../store/holds/rates.ts";
import { takeHolds } from "../store/holds/take.ts";
import { takeWakes, wakeGates, wakeGatesAt } from "../store/holds/wake.ts";
import { loadPromotionSnapshot } from "../store/promotion-snapshot.ts";
import { loadServed, type Served } from "../store/rules/load.ts";
import { type RecallBite, recallBite } from "../store/rules/recall.ts";
import { IN_INDEX_ORDER, KEEP_PLANS } from "../store/session.ts";
import {
  findAfter,
  loadCandidates,
  type SweptBite,
  type WaitingCandidate,
} from "../store/task-runs/candidates.ts";
import { demoteClosed, demoteStrays } from "../store/task-runs/demote.ts";
import { loadFresh } from "../store/task-runs/fresh.ts";
import {
  joinLines,
  leaveLines,
  parkTaskRuns,
  promoteTaskRuns,
  readOutlook,
} from "../store/task-runs/promote.ts";
import { findOutOfOrder, refuseTaskRuns, type TooSmall } from "../store/task-runs/refuse.ts";
import { type Fronts, findFronts } from "../store/task-runs/woken.ts";

export interface PromoteRequest {
  readonly pool: Pool;
  readonly batchSize: number;
  /** Also looks at the next waiting task runs after this one: the slow sweep, the net under lost wakes. */
  readonly sweepAfter?: TaskRunId | null;
  /** Also brings back what is AVAILABLE and no claim takes. A sweep does so in any case. */
  readonly straysToo?: boolean;
}

export type PromotionPass =
  | { readonly kind: "lock_missed" }
  | {
      readonly kind: "passed";
      readonly promoted: readonly TaskRunId[];
      /** AVAILABLE ones that may not start any more, back to PENDING. */
      readonly demoted: readonly TaskRunId[];
      readonly failed: ReadonlyMap<TaskRunId, unknown>;
      /** Those that can never start, and have FAILED. */
      readonly refused: readonly TooSmall[];
      /** Why others like them have not; null: there are none. The rest of the pass is committed. */
      readonly unrefused: unknown;
      /** There are more of these that only a pass with `straysToo` finds. */
      readonly straysLeft: boolean;
      /** There was more to look at than one pass takes. */
      readonly more: boolean;
      /** When time alone opens or closes a gate. */
      readonly nextDueMs: number | null;
      /** Where the sweep goes on; null: at the front. */
      readonly sweptTo: TaskRunId | null;
      /** It has come to the end of what waits, and of what may not start any more. */
      readonly sweepOver: boolean;
    };

const NOTHING_SWEPT: SweptBite = { taskRunIds: [], sweptTo: null };

export async function promoteOnce(request: PromoteRequest): Promise<PromotionPass> {
  const { pool, batchSize } = request;
  const begun = await pool.transaction(
    async (tx) => {
      if (!(await tryGateLock(tx))) return null;
      return await begin(tx, request);
    },
    // Not of a pass that goes through all there is: how far it has come matters to its plans. From the front, also where the
    // server takes a long backlog for a short one: it would sort all of it for each bite.
    request.sweepAfter === undefined && request.straysToo !== true ? KEEP_PLANS : IN_INDEX_ORDER,
  );
  if (begun === null) return { kind: "lock_missed" };
  const { demoted, straysLeft } = begun;
  const { isOutOfOrder, ...decided } = begun.decided ?? (await decideApart(request));
  const { refused, unrefused } = isOutOfOrder ? await refuseAll(pool, batchSize) : NOBODY_REFUSED;
  return {
    kind: "passed",
    ...decided,
    demoted,
    refused,
    unrefused,
    // Who waited for those that were refused is woken.
    more: decided.more || refused.length > 0 || demoted.length >= batchSize || straysLeft,
    straysLeft,
    sweepOver: decided.sweepOver && !straysLeft,
  };
}

interface Begun {
  readonly demoted: readonly TaskRunId[];
  readonly straysLeft: boolean;
  /** Null: somebody was demoted, so the rest is to be decided in a transaction of its own. */
  readonly decided: Decided | null;
}

/**
 * What is given back and what is taken are each locked in the order of their names. In one transaction the names of both
 * would follow each other in no order, and a settle of two of them could wait for us and we for it.
 */
async function begin(tx: Transaction, request: PromoteRequest): Promise<Begun> {
  const { batchSize, straysToo = request.sweepAfter !== undefined } = request;
  const closed = await demoteClosed(tx, batchSize);
  const strays = straysToo ? await demoteStrays(tx, batchSize) : [];
  const early = [...closed, ...strays];
  // Left by whoever changed a rule and died before he had sent everybody back. Not behind others, for the same reason.
  const recalled = straysToo && early.length === 0 ? await recallBite(tx, batchSize, null) : NOBODY_RECALLED;
  const demoted = [...early, ...recalled.demoted];
  const decided = demoted.length > 0 ? null : await decide(tx, request);
  return { demoted, straysLeft: strays.length >= batchSize || !recalled.over, decided };
}

const NOBODY_RECALLED: RecallBite = { demoted: [], over: true };

async function decideApart(request: PromoteRequest): Promise<Decided> {
  const decided = await request.pool.transaction(async (tx) =>
    (await tryGateLock(tx)) ? await decide(tx, request) : null,
  );
  return decided ?? { ...NOTHING_DECIDED, sweptTo: request.sweepAfter ?? null };
}

/** Somebody else has the lock by now. */
const NOTHING_DECIDED: Omit<Decided, "sweptTo"> = {
  promoted: [],
  failed: new Map(),
  more: true,
  nextDueMs: null,
  sweepOver: false,
  isOutOfOrder: false,
};

interface Refusals {
  readonly refused: readonly TooSmall[];
  readonly unrefused: unknown;
}
const NOBODY_REFUSED: Refusals = { refused: [], unrefused: null };

/** In transactions of their own: their runs are locked before them. Not done or died in between: the next pass comes here again. */
async function refuseAll(pool: Pool, batchSize: number): Promise<Refusals> {
  const refused: TooSmall[] = [];
  try {
    for (let left = true; left; ) {
      const bite = await pool.transaction(async (tx) => await refuse(tx, batchSize));
      refused.push(...bite.refused);
      left = bite.found >= batchSize;
    }
    return { refused, unrefused: null };
  } catch (error) {
    return { refused, unrefused: error };
  }
}

async function refuse(
  tx: Transaction,
  batchSize: number,
): Promise<{ readonly found: number; readonly refused: readonly TooSmall[] }> {
  await takeGateLock(tx);
  const found = await findOutOfOrder(tx, batchSize);
  const ids = new Set(
    await refuseTaskRuns(
      tx,
      found.map((taskRun) => ({ ...taskRun, settlement: settleTooSmall(taskRun) })),
    ),
  );
  return { found: found.length, refused: found.filter(({ taskRunId }) => ids.has(taskRunId)) };
}

type Decided = Omit<
  Extract<PromotionPass, { kind: "passed" }>,
  "kind" | "demoted" | "straysLeft" | keyof Refusals
> & {
  readonly isOutOfOrder: boolean;
};

async function decide(tx: Transaction, { batchSize, sweepAfter }: PromoteRequest): Promise<Decided> {
  const sweeps = sweepAfter !== undefined;
  // Neither waits for the other: while the server looks for the one, the answer to the other is read here.
  const [woken, fresh] = await Promise.all([findWoken(tx, batchSize), loadFresh(tx, batchSize)]);
  const { wakes, served, slots, fronts } = woken;
  const swept = sweeps ? await findAfter(tx, sweepAfter, batchSize) : NOTHING_SWEPT;
  const others = new Set([...fronts.flatMap(({ taskRunIds }) => taskRunIds), ...swept.taskRunIds]);
  for (const { taskRunId } of fresh.candidates) others.delete(taskRunId);
  const candidates = [...fresh.candidates, ...(await loadCandidates(tx, [...others]))];
  const snapshot = await loadPromotionSnapshot(tx, candidates, { served, slots });
  const plan = planPromotions(snapshot);
  const { promoted, opened, ...following } = await writeStatuses(tx, plan, candidates);
  const again = fronts.filter((front) => mayGoOn(front, plan)).flatMap((front) => wakeOf(front) ?? []);
  const [, , , outlook] = await Promise.all([
    writeFollowing(tx, following),
    wakeGates(tx, [...again, ...opened]),
    wakeGatesAt(tx, timedWakes(plan, snapshot.now)),
    readOutlook(tx),
  ]);
  return {
    promoted,
    failed: plan.failed,
    more:
      again.length > 0 ||
      opened.length > 0 ||
      [wakes.length, fresh.found].some((found) => found >= batchSize),
    ...outlook,
    sweptTo: swept.sweptTo,
    sweepOver: swept.sweptTo === null,
  };
}

/** What was woken, and who is parked there. */
interface Woken extends Fronts {
  readonly wakes: readonly string[];
  readonly served: Served;
}

async function findWoken(tx: Transaction, batchSize: number): Promise<Woken> {
  const [wakes, served] = await Promise.all([takeWakes(tx, batchSize), loadServed(tx)]);
  const fairShare = fairShareOf(served.slots);
  return { wakes, served, ...(await findFronts(tx, parkingsOf(wakes), { batchSize, fairShare })) };
}

/** What follows from who was admitted and who was parked. */
interface Following {
  readonly taken: readonly Promotion[];
  readonly joins: readonly TaskRunId[];
  readonly leaves: readonly TaskRunId[];
}

interface Written extends Following {
  readonly promoted: readonly TaskRunId[];
  /** Gates that somebody has left without being admitted: those behind are to be looked at. */
  readonly opened: readonly WakeKey[];
}

async function writeStatuses(
  tx: Transaction,
  plan: PromotionPlan,
  candidates: readonly WaitingCandidate[],
): Promise<Written> {
  const moves = movesOf(plan, candidates);
  // One after the other: each may wait for rows that others are writing to, and both together for longer than we wait for an answer.
  const admitted = await promoteTaskRuns(tx, plan.promote);
  const still = await parkTaskRuns(
    tx,
    moves.map(({ candidate, to }) => ({ taskRunId: candidate.taskRunId, ...to })),
  );
  const moved = moves.filter(({ candidate }) => still.has(candidate.taskRunId));
  const inLine = (gate: string | null): boolean => gate === "RESOURCE_BUSY";
  const joins = moved.filter(({ candidate, to }) => inLine(to.blockedOn) && !inLine(candidate.blockedOn));
  const leaves = moved.filter(({ candidate, to }) => !inLine(to.blockedOn) && inLine(candidate.blockedOn));
  // Canceled since we read them: whoever was parked because of what they would have held may go after all.
  const canceled = plan.promote.filter(({ taskRunId }) => !admitted.has(taskRunId));
  return {
    promoted: [...admitted],
    opened: [
      // Whoever stood behind them in a line may go now.
      ...leaves.flatMap(({ candidate }) => candidate.resources.map(({ name }) => wakeResource(name))),
      ...canceled.flatMap(gatesOf),
    ],
    taken: plan.promote.filter(({ taskRunId }) => admitted.has(taskRunId)),
    joins: joins.map(({ candidate }) => candidate.taskRunId),
    leaves: leaves.map(({ candidate }) => candidate.taskRunId),
  };
}

async function writeFollowing(tx: Transaction, { taken, joins, leaves }: Following): Promise<void> {
  await Promise.all([
    joinLines(tx, joins),
    leaveLines(tx, leaves),
    // Before the holds, as a deferral does it: the other way round the two would wait for each other.
    takeRateSlots(tx, taken),
    takeHolds(tx, taken),
  ]);
}

interface Move {
  readonly candidate: WaitingCandidate;
  readonly to: Parking;
}

/** Who is to wait under another gate than before. */
function movesOf(plan: PromotionPlan, candidates: readonly WaitingCandidate[]): readonly Move[] {
  return candidates.flatMap((candidate) => {
    const cause = plan.waiting.get(candidate.taskRunId);
    if (cause === undefined) return [];
    const to = parkingOf(cause);
    const stays = candidate.blockedOn === to.blockedOn && candidate.blockedKey === to.blockedKey;
    return stays ? [] : [{ candidate, to }];
  });
}
