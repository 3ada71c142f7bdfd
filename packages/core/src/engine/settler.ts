/** Records what executions came to, many at once. What could not be recorded for sure is tried again. */

import type { InstanceId, TaskRunId } from "../domain/ids.ts";
import { type Outcome, type Settlement, settle } from "../domain/settlement.ts";
import type { TerminalStatus } from "../domain/task-status.ts";
import { isRefusedValue, type Pool, type Transaction } from "../store/database.ts";
import { type Claim, forgetBatches } from "../store/task-runs/claim.ts";
import {
  findSettledBefore,
  type SettledTaskRun,
  type SettleRequest,
  settleTaskRuns,
} from "../store/task-runs/settle.ts";
import type { HeldClaims } from "./held-claims.ts";
import { monotonicMs } from "./monotonic.ts";
import type { Emit } from "./telemetry.ts";

interface Finished {
  readonly claim: Claim;
  readonly claimedBy: InstanceId;
  readonly settlement: Settlement;
  readonly held: HeldClaims;
  readonly ranMs: number;
}

interface SettlePass {
  readonly left: number;
  /** Something that was waited for has ended, or a new attempt waits. */
  readonly opensGates: boolean;
}

export interface Settler {
  readonly add: (claim: Claim, claimedBy: InstanceId, outcome: Outcome, held: HeldClaims) => void;
  /** Writes up to one batch. Throws when the database does; nothing is lost then. */
  readonly settleOnce: () => Promise<SettlePass>;
}

export function createSettler(deps: {
  readonly pool: Pool;
  readonly batchSize: number;
  readonly emit: Emit;
}): Settler {
  let waiting: Finished[] = [];
  return {
    add: (claim, claimedBy, outcome, held) => {
      const settlement = settle(outcome, claim.policy, claim, Math.random());
      const endedAtMs = monotonicMs();
      const ranMs = endedAtMs - (held.get(claim.taskRunId)?.begunAtMs ?? endedAtMs);
      waiting.push({ claim, claimedBy, settlement, held, ranMs });
    },
    settleOnce: async () => {
      const batch = waiting.slice(0, deps.batchSize);
      if (batch.length === 0) return { left: 0, opensGates: false };
      const recorded = await recordSafely(deps.pool, batch);
      waiting = waiting.slice(batch.length);
      for (const { finished, answers } of recorded) tell(deps.emit, finished, answers);
      const opensGates = batch.some(
        ({ claim, settlement }) => claim.gated || settlement.nextAttempt !== null,
      );
      return { left: waiting.length, opensGates };
    },
  };
}

interface Answers {
  readonly settled: ReadonlyMap<TaskRunId, SettledTaskRun>;
  readonly before: ReadonlyMap<TaskRunId, TerminalStatus>;
}

interface Recorded {
  readonly finished: Finished;
  readonly answers: Answers;
}

/** A result that the database refuses must hold nobody up: it is found by settling one by one, and replaced. */
async function recordSafely(pool: Pool, batch: readonly Finished[]): Promise<readonly Recorded[]> {
  try {
    const answers = await pool.transaction(async (tx) => await record(tx, batch));
    return batch.map((finished) => ({ finished, answers }));
  } catch (error) {
    if (!isRefusedValue(error)) throw error;
    const [only, ...others] = batch;
    if (only === undefined) return [];
    if (others.length > 0) {
      const each: Recorded[] = [];
      for (const finished of batch) each.push(...(await recordSafely(pool, [finished])));
      return each;
    }
    const finished = { ...only, settlement: NOT_STORABLE };
    return [{ finished, answers: await pool.transaction(async (tx) => await record(tx, [finished])) }];
  }
}

const NOT_STORABLE: Settlement = {
  status: "FAILED",
  outcome: "RESULT_NOT_STORABLE",
  output: null,
  error: { code: "RESULT_NOT_STORABLE", message: "The database refused to store the result" },
  nextAttempt: null,
};

async function record(tx: Transaction, batch: readonly Finished[]): Promise<Answers> {
  const requests = batch.map(({ claim, claimedBy, settlement }): SettleRequest => {
    const { taskRunId, claimNo, runId } = claim;
    return { taskRunId, claimNo, claimedBy, runId, settlement };
  });
  const settled = new Map((await settleTaskRuns(tx, requests)).map((row) => [row.taskRunId, row]));
  // Not ours any more, or recorded by a commit whose answer we did not get.
  const missing = requests.filter(({ taskRunId }) => !settled.has(taskRunId));
  const before = await findSettledBefore(tx, missing);
  for (const held of new Set(batch.map((finished) => finished.held))) {
    const claims = batch.filter((finished) => finished.held === held).map(({ claim }) => claim);
    await forgetBatches(tx, held.batchesEndedBy(claims));
  }
  return { settled, before };
}

function tell(emit: Emit, { claim, settlement, held, ranMs }: Finished, { settled, before }: Answers): void {
  held.remove(claim);
  const { taskRunId, taskId, kind, title, attempt, claimNo } = claim;
  const named = { taskRunId, taskId, kind, title, attempt };
  const row = settled.get(taskRunId);
  const status = row?.status ?? before.get(taskRunId);
  if (status === undefined) {
    emit({ type: "task_run.refused", ...named, claimNo });
    return;
  }
  // A cancel that was requested meanwhile changes what becomes of a failure.
  const outcome = status === settlement.status ? settlement.outcome : status;
  const { error, nextAttempt } = settlement;
  const next =
    row === undefined || row.nextTaskRunId === null || nextAttempt === null
      ? { nextTaskRunId: null, nextInMs: null }
      : { nextTaskRunId: row.nextTaskRunId, nextInMs: nextAttempt.delayMs };
  emit({
    type: "task_run.settled",
    ...named,
    status,
    outcome,
    message: error === null ? null : error.message,
    ranMs,
    ...next,
  });
}
