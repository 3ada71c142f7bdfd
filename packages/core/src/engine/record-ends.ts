/** Writes the ends of task runs, and tells of them. A part of the settler. */

import type { InstanceId, TaskRunId } from "../domain/ids.ts";
import type { Settlement } from "../domain/settlement.ts";
import type { TerminalStatus } from "../domain/task-status.ts";
import type { Pool, Transaction } from "../store/database.ts";
import {
  findSettledBefore,
  isPlainSuccess,
  type SettledTaskRun,
  type SettleRequest,
  settleTaskRuns,
  succeedTaskRuns,
} from "../store/task-runs/settle.ts";
import { messageOf } from "./error-message.ts";
import { type DecisionOf, type Finished, forgetBatchesOf, namedOf } from "./finished.ts";
import type { Emit } from "./telemetry.ts";

type Ended = Finished<DecisionOf<"end">>;

interface Answers {
  readonly settled: ReadonlyMap<TaskRunId, SettledTaskRun>;
  readonly before: ReadonlyMap<TaskRunId, { readonly status: TerminalStatus; readonly outcome: string }>;
}

export async function recordEnds(pool: Pool, batch: readonly Ended[], emit: Emit): Promise<void> {
  const plainly = await settlePlainly(pool, batch);
  const rest = batch.filter(({ claim }) => !plainly.has(claim.taskRunId));
  const answers =
    rest.length === 0 ? NO_ANSWERS : await pool.transaction(async (tx) => await record(tx, rest));
  const settled = new Map([...plainly, ...answers.settled]);
  for (const finished of batch) tellEnd(emit, finished, { settled, before: answers.before });
}

const NO_ANSWERS: Answers = { settled: new Map(), before: new Map() };

/** Where all of them are plain successes, in one round trip. Those that are missing in the answer are settled as ever. */
async function settlePlainly(pool: Pool, batch: readonly Ended[]): Promise<Answers["settled"]> {
  const requests = batch.map(requestOf);
  const owner = requests.every(isPlainSuccess) ? onlyOwnerOf(batch) : null;
  if (owner === null) return new Map();
  const [rows] = await pool.atOnce(
    async (tx) => await Promise.all([succeedTaskRuns(tx, owner, requests), forgetBatchesOf(tx, batch)]),
  );
  return new Map(rows.map((row) => [row.taskRunId, row]));
}

/** Null where one of them is gated, or where they are of two lives of the instance. */
function onlyOwnerOf(batch: readonly Ended[]): InstanceId | null {
  const [first] = batch;
  const isLikeFirst = ({ claim, held }: Ended): boolean => !claim.gated && held === first?.held;
  return first !== undefined && batch.every(isLikeFirst) ? first.claimedBy : null;
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
  const settled = new Map((await settleTaskRuns(tx, requests)).map((row) => [row.taskRunId, row]));
  // Not ours any more, or recorded by a commit whose answer we did not get.
  const missing = requests.filter(({ taskRunId }) => !settled.has(taskRunId));
  const before = await findSettledBefore(tx, missing);
  await forgetBatchesOf(tx, batch);
  return { settled, before };
}

function requestOf({ claim, claimedBy, decision, outside }: Ended): SettleRequest {
  const { taskRunId, claimNo, runId } = claim;
  return { taskRunId, claimNo, claimedBy, runId, settlement: decision.settlement, outside };
}

function tellEnd(emit: Emit, { claim, decision, ranMs }: Ended, answers: Answers): void {
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
