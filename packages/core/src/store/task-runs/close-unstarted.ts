import type { RunId, TaskId, TaskRunId } from "../../domain/ids.ts";
import type { Settlement } from "../../domain/settlement.ts";
import type { Transaction } from "../database.ts";
import { closeTaskRuns } from "./close.ts";
import { leaveWaiting } from "./leave-waiting.ts";
import { storeResults } from "./settle.ts";

/** A task run that has just ended and never started, with what it came to instead. */
export interface UnstartedEnd {
  readonly taskRunId: TaskRunId;
  readonly taskId: TaskId;
  readonly runId: RunId | null;
  readonly gated: boolean;
  readonly settlement: Settlement;
}

/** In the transaction that wrote their status, whoever did. Answers the new task runs by the ones they follow. */
export async function closeUnstarted(
  tx: Transaction,
  ended: readonly UnstartedEnd[],
): Promise<ReadonlyMap<TaskRunId, TaskRunId>> {
  const ids = ended.map(({ taskRunId }) => taskRunId);
  await leaveWaiting(tx, ids);
  await storeResults(tx, ended, new Set(ids));
  const { nextIds } = await closeTaskRuns(
    tx,
    ended.map(({ taskRunId, taskId, runId, gated, settlement: { status, nextAttempt } }) => {
      return { taskRunId, taskId, runId, gated, status, next: nextAttempt };
    }),
  );
  return nextIds;
}
