/** Writes the ends of task runs, and tells of them. A part of the settler. */

import type { TaskRunId } from "../domain/ids.ts";
import type { Settlement } from "../domain/settlement.ts";
import type { TerminalStatus } from "../domain/task-status.ts";
import type { Pool, Transaction } from "../store/database.ts";
import { SHARE_CLAIM_LOCK } from "../store/holds/claim-lock.ts";
import { KEEP_PLANS } from "../store/session.ts";
import {
  findSettledBefore,
  isPlainSuccess,
  type SettledTaskRun,
  type SettleRequest,
  settleAndHandOff,
  succeedTaskRuns,
} from "../store/task-runs/settle.ts";
import { messageOf } from "./error-message.ts";
import { type DecisionOf, type Finished, forgetBatchesOf, namedOf } from "./finished.ts";
import { type Emit, unheard } from "./telemetry.ts";

type Ended = Finished<DecisionOf<"end">>;

/** What is to be done about it once it is committed. */
export interface Recorded {
  /** Something that was waited for has ended, or a new attempt waits. */
  readonly opensGates: boolean;
  /** Somebody became AVAILABLE with it. */
  readonly handsOff: boolean;
}

interface Answers {
  readonly handedOff: readonly TaskRunId[];
  readonly opensGates: boolean;
  readonly settled: ReadonlyMap<TaskRunId, SettledTaskRun>;
  readonly before: ReadonlyMap<TaskRunId, { readonly status: TerminalStatus; readonly outcome: string }>;
}

export async function recordEnds(pool: Pool, batch: readonly Ended[], emit: Emit): Promise<Recorded> {
  const plainly = await settlePlainly(pool, batch);
  const answers = plainly.length === batch.length ? NO_ANSWERS : await settleRest(pool, batch, plainly);
  if (emit !== unheard) tell(emit, batch, plainly, answers);
  // What a commit did whose answer was lost is not known any more: others are told to look.
  const isUnknown = answers.before.size > 0;
  return {
    opensGates: answers.opensGates || isUnknown,
    handsOff: answers.handedOff.length > 0 || isUnknown,
  };
}

const NO_ANSWERS: Answers = { settled: new Map(), before: new Map(), handedOff: [], opensGates: false };

function tell(
  emit: Emit,
  batch: readonly Ended[],
  plainly: readonly TaskRunId[],
  { before, handedOff, ...rest }: Answers,
): void {
  const settled = new Map([...plainly.map((id) => [id, succeeded(id)] as const), ...rest.settled]);
  for (const finished of batch) tellEnd(emit, finished, { settled, before });
  if (handedOff.length > 0) emit({ type: "task_run.promoted", taskRunIds: handedOff });
}

export function tellSuccesses(emit: Emit, batch: readonly Ended[]): void {
  const settled = new Map(batch.map(({ claim: { taskRunId } }) => [taskRunId, succeeded(taskRunId)]));
  for (const finished of batch) tellEnd(emit, finished, { settled, before: new Map() });
}

function succeeded(taskRunId: TaskRunId): SettledTaskRun {
  return { taskRunId, status: "DONE", nextTaskRunId: null };
}

/** Where all of them are plain successes, in one round trip. Those that are missing in the answer are settled as ever. */
async function settlePlainly(pool: Pool, batch: readonly Ended[]): Promise<readonly TaskRunId[]> {
  const owner = batch.every(isPlain) ? onlyOwnerOf(batch) : null;
  if (owner === null) return [];
  const claims = batch.map(({ claim }) => claim);
  const [ended] = await pool.atOnce(
    async (tx) =>
      await Promise.all([
        succeedTaskRuns(tx, owner.claimedBy, claims),
        // A whole batch is forgotten with its end: to look for each of its rows once more would take as long as a third of that.
        owner.held.isWholeBatch(claims) ? undefined : forgetBatchesOf(tx, batch),
      ]),
  );
  return ended;
}

function isPlain({ claim, decision, outside }: Ended): boolean {
  return !claim.gated && claim.runId === null && !outside && isPlainSuccess(decision.settlement);
}

/** Null where they are of two lives of the instance. */
function onlyOwnerOf(batch: readonly Ended[]): Pick<Ended, "claimedBy" | "held"> | null {
  const [first] = batch;
  return first !== undefined && batch.every(({ held }) => held === first.held) ? first : null;
}

async function settleRest(
  pool: Pool,
  batch: readonly Ended[],
  plainly: readonly TaskRunId[],
): Promise<Answers> {
  const settled = new Set(plainly);
  const rest = batch.filter(({ claim }) => !settled.has(claim.taskRunId));
  return await pool.transaction(async (tx) => await record(tx, rest), `${KEEP_PLANS}; ${SHARE_CLAIM_LOCK}`);
}

/** The end of one whose result the database refuses, whatever that was: to send it again would change nothing. */
export function notStorable(finished: Finished, refusal: unknown): Ended {
  const code = "RESULT_NOT_STORABLE";
  const message = `The database refused to store the result: ${messageOf(refusal)}`;
  const settlement: Settlement = {
    status: "FAILED",
    outcome: code,
    output: null,
    error: { code, message },
    nextAttempt: null,
  };
  return { ...finished, decision: { kind: "end", settlement } };
}

async function record(tx: Transaction, batch: readonly Ended[]): Promise<Answers> {
  const requests = batch.map(requestOf);
  const { settled: rows, ...opened } = await settleAndHandOff(tx, requests);
  const settled = new Map(rows.map((row) => [row.taskRunId, row]));
  // Not ours any more, or recorded by a commit whose answer we did not get.
  const missing = requests.filter(({ taskRunId }) => !settled.has(taskRunId));
  const before = await findSettledBefore(tx, missing);
  await forgetBatchesOf(tx, batch);
  return { settled, before, ...opened };
}

function requestOf({ claim, claimedBy, decision, outside }: Ended): SettleRequest {
  const { taskRunId, claimNo, runId } = claim;
  return { taskRunId, claimNo, claimedBy, runId, settlement: decision.settlement, outside };
}

function tellEnd(
  emit: Emit,
  { claim, decision, ranMs }: Ended,
  answers: Pick<Answers, "settled" | "before">,
): void {
  const { settlement } = decision;
  const row = answers.settled.get(claim.taskRunId);
  const status = row?.status ?? statusBefore(answers.before.get(claim.taskRunId), settlement);
  if (status === null) {
    emit({ type: "task_run.refused", ...namedOf(claim), claimNo: claim.claimNo });
    return;
  }
  // A cancel that was requested meanwhile changes what becomes of a failure.
  const outcome = status === settlement.status ? settlement.outcome : status;
  const { error, nextAttempt } = settlement;
  const next =
    row === undefined || row.nextTaskRunId === null || nextAttempt === null
      ? { nextTaskRunId: null, nextInMs: null }
      : { nextTaskRunId: row.nextTaskRunId, nextInMs: nextAttempt.delayMs };
  const message = error === null ? null : error.message;
  emit({ type: "task_run.settled", ...namedOf(claim), status, outcome, message, ranMs, ...next });
}

/** The same end under the same claim is ours. Another one was written by the lease's thread while this loop was blocked. */
function statusBefore(
  before: { readonly status: TerminalStatus; readonly outcome: string } | undefined,
  settlement: Settlement,
): TerminalStatus | null {
  if (before === undefined) return null;
  return before.outcome === settlement.outcome || before.status === "CANCELED" ? before.status : null;
}
