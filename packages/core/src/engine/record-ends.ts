/** Writes the ends of task runs, and tells of them. A part of the settler. */

import type { TaskRunId } from "../domain/ids.ts";
import type { Settlement } from "../domain/settlement.ts";
import type { TerminalStatus } from "../domain/task-status.ts";
import type { Pool, Transaction } from "../store/database.ts";
import {
  findSettledBefore,
  type SettledTaskRun,
  type SettleRequest,
  settleTaskRuns,
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
  const answers = await pool.transaction(async (tx) => await record(tx, batch));
  for (const finished of batch) tellEnd(emit, finished, answers);
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
  const requests = batch.map(({ claim, claimedBy, decision, outside }): SettleRequest => {
    const { taskRunId, claimNo, runId } = claim;
    return { taskRunId, claimNo, claimedBy, runId, settlement: decision.settlement, outside };
  });
  const settled = new Map((await settleTaskRuns(tx, requests)).map((row) => [row.taskRunId, row]));
  // Not ours any more, or recorded by a commit whose answer we did not get.
  const missing = requests.filter(({ taskRunId }) => !settled.has(taskRunId));
  const before = await findSettledBefore(tx, missing);
  await forgetBatchesOf(tx, batch);
  return { settled, before };
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
