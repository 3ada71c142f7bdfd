/**
 * Carries operations on, a bite at a time. Any instance may: whoever has the row of an operation does its next bite and moves its
 * place in the same transaction, so that none is done twice and none passed over, whoever dies in between.
 */

import type { OperationId, RunId } from "../domain/ids.ts";
import type { OperationVerb } from "../domain/operation.ts";
import {
  type BiteResult,
  inOrderOfTaskRuns,
  inOrderOfTasks,
  statusesFor,
  whyNot,
} from "../domain/operation-rules.ts";
import type { Pool, Transaction } from "../store/database.ts";
import { takeGateLock } from "../store/holds/gate-lock.ts";
import type { MetTaskRun } from "../store/operations/look.ts";
import {
  moveOperation,
  passOver,
  type TakenOperation,
  takeOperation,
} from "../store/operations/operation.ts";
import { lockRuns } from "../store/runs/count-down.ts";
import { tryInside } from "../store/savepoint.ts";
import { cancelTaskRuns } from "../store/task-runs/cancel.ts";
import { retryTasks } from "../store/task-runs/retry.ts";
import { type FoundTaskRun, selectByIds, selectNewest } from "../store/task-runs/select.ts";
import { messageOf } from "./error-message.ts";
import type { LookAhead } from "./look-ahead.ts";
import type { Emit } from "./telemetry.ts";

/** So many are done by one transaction: a cancel holds the gate lock meanwhile. */
const CARRY_BITE = 100;

export interface CarryDeps {
  readonly pool: Pool;
  readonly ahead: LookAhead;
  readonly emit: Emit;
}

/** What a pass came to, for whoever is to be woken. Null: there is no operation that somebody else is not at. */
export interface CarriedOn {
  readonly verb: OperationVerb;
  readonly done: number;
}

interface Bite extends BiteResult {
  /** Some ended under our hands and go on in another attempt: the next bite looks there again. */
  readonly looksAgain: boolean;
}

export async function carryOnOnce({ pool, ahead, emit }: CarryDeps): Promise<CarriedOn | null> {
  let taken: TakenOperation | null = null;
  try {
    const carried = await pool.transaction(async (tx) => {
      taken = await takeOperation(tx);
      return taken === null ? null : await takeTurn(tx, taken, ahead);
    });
    if (carried === null) return null;
    const { operationId, verb, done, isOver } = carried;
    if (isOver) emit({ type: "operation.done", operationId, verb });
    return { verb, done };
  } catch (error) {
    await tellProblem(pool, taken, error);
    throw error;
  }
}

interface Turn extends CarriedOn {
  readonly operationId: OperationId;
  readonly isOver: boolean;
}

async function takeTurn(tx: Transaction, taken: TakenOperation, ahead: LookAhead): Promise<Turn> {
  const { operationId, reachedId: afterId, verb } = taken;
  const look = await ahead.next(tx, taken, CARRY_BITE);
  // Not while it looks, which can take a while: no pass would decide meanwhile.
  if (verb === "cancel") await takeGateLock(tx);
  const bite = await doBite(tx, taken, look.met);
  const unknown = look.unknownIds.map((taskRunId) => ({ taskRunId, reason: "NOT_FOUND" as const }));
  const result = { ...bite, skipped: [...unknown, ...bite.skipped] };
  const reachedId = bite.looksAgain ? afterId : look.next;
  if (reachedId === afterId || reachedId === null) ahead.forget(operationId);
  await moveOperation(tx, taken, { reachedId, result });
  return { operationId, verb, done: bite.done, isOver: reachedId === null };
}

/** By itself: what failed was rolled back. Without it the same one would be next for ever, and nobody would know why. */
async function tellProblem(pool: Pool, taken: TakenOperation | null, error: unknown): Promise<void> {
  if (taken === null) return;
  const { operationId } = taken;
  // Where that fails too, there is no database to tell it to.
  await pool.transaction(async (tx) => await passOver(tx, operationId, messageOf(error))).catch(() => {});
}

async function doBite(tx: Transaction, taken: TakenOperation, met: readonly MetTaskRun[]): Promise<Bite> {
  const reasons = met.map((taskRun) => ({ taskRun, reason: whyNot(taken.verb, taskRun) }));
  const skipped = reasons.flatMap(({ taskRun, reason }) =>
    reason === null ? [] : [{ taskRunId: taskRun.taskRunId, reason }],
  );
  const eligible = reasons.flatMap(({ taskRun, reason }) => (reason === null ? [taskRun] : []));
  if (eligible.length === 0) return { done: 0, skipped, failed: [], looksAgain: false };
  // All of them first, and outside of what may be taken back: one by one they would come after the rows of task runs.
  await lockRuns(tx, [...new Set(eligible.flatMap(({ runId }): RunId[] => (runId === null ? [] : [runId])))]);
  const together = await tryInside(tx, async () => await actOn(tx, taken, eligible));
  const bite = together.kind === "done" ? together.answer : await oneByOne(tx, taken, eligible);
  return { ...bite, skipped: [...skipped, ...bite.skipped] };
}

/** The server refused one of them, and with it all: each by itself, so that the others are done. */
async function oneByOne(
  tx: Transaction,
  taken: TakenOperation,
  eligible: readonly MetTaskRun[],
): Promise<Bite> {
  const bites: Bite[] = [];
  // In the order in which the rows are locked elsewhere: of tasks by a retry, of task runs by all else.
  const ordered = taken.verb === "cancel" ? inOrderOfTaskRuns(eligible) : inOrderOfTasks(eligible);
  for (const taskRun of ordered) {
    const tried = await tryInside(tx, async () => await actOn(tx, taken, [taskRun]));
    bites.push(tried.kind === "done" ? tried.answer : failed(taskRun, tried.error));
  }
  return {
    done: bites.reduce((sum, { done }) => sum + done, 0),
    skipped: bites.flatMap((bite) => bite.skipped),
    failed: bites.flatMap((bite) => bite.failed),
    looksAgain: bites.some(({ looksAgain }) => looksAgain),
  };
}

function failed({ taskRunId }: MetTaskRun, error: Error): Bite {
  const reason = "code" in error && typeof error.code === "string" ? error.code : "UNKNOWN";
  return { done: 0, skipped: [], failed: [{ taskRunId, reason, detail: error.message }], looksAgain: false };
}

async function actOn(tx: Transaction, taken: TakenOperation, those: readonly MetTaskRun[]): Promise<Bite> {
  return taken.verb === "cancel" ? await cancelThose(tx, taken, those) : await retryThose(tx, taken, those);
}

async function cancelThose(
  tx: Transaction,
  { verb, filter, by, reason }: TakenOperation,
  those: readonly MetTaskRun[],
): Promise<Bite> {
  const from = statusesFor(verb, filter);
  const answers = await cancelTaskRuns(tx, those, { by, reason, from });
  const missed = those.filter(({ taskRunId }) => !answers.has(taskRunId));
  // Whoever names task runs one by one means these, and no others.
  const meansTasks = filter.ids === undefined;
  const newest = await selectNewest(
    tx,
    missed.map(({ taskId }) => taskId),
  );
  const goesOn = ({ taskId, taskRunId }: MetTaskRun): boolean =>
    meansTasks &&
    newest.some(
      (each) => each.taskId === taskId && each.taskRunId !== taskRunId && from.includes(each.status),
    );
  const over = missed.filter((each) => !goesOn(each));
  const { found } = await selectByIds(
    tx,
    over.map(({ taskRunId }) => taskRunId),
  );
  return {
    done: answers.size,
    skipped: over.map(({ taskRunId }) => ({ taskRunId, reason: whyMissed(taskRunId, found) })),
    failed: [],
    looksAgain: over.length < missed.length,
  };
}

function whyMissed(
  taskRunId: string,
  found: readonly FoundTaskRun[],
): BiteResult["skipped"][number]["reason"] {
  const now = found.find((each) => each.taskRunId === taskRunId);
  if (now === undefined) return "NOT_FOUND";
  return whyNot("cancel", { status: now.status, isNewest: true, isCanceling: false }) ?? "CHANGED";
}

async function retryThose(
  tx: Transaction,
  { verb, by }: TakenOperation,
  those: readonly MetTaskRun[],
): Promise<Bite> {
  const requests = those.map(({ taskId, runId, taskRunId }) => ({ taskId, runId, taskRunId }));
  const answers = new Map((await retryTasks(tx, requests, by)).map((answer) => [answer.taskId, answer]));
  const skipped = those.flatMap(({ taskId, taskRunId }): BiteResult["skipped"] => {
    const answer = answers.get(taskId);
    if (answer === undefined) return [{ taskRunId, reason: "NOT_FOUND" }];
    if (answer.nextTaskRunId !== null) return [];
    const isNewest = answer.newest.taskRunId === taskRunId;
    const { status } = isNewest ? answer.newest : { status: "FAILED" as const };
    return [{ taskRunId, reason: whyNot(verb, { status, isNewest, isCanceling: false }) ?? "CHANGED" }];
  });
  return { done: those.length - skipped.length, skipped, failed: [], looksAgain: false };
}
