/**
 * What every end of a task run brings with it, whoever wrote the status: holds are given back, gates are
 * woken, the next attempt is inserted, the run counts down. In the transaction of that status.
 */

import type { RunId, TaskId, TaskRunId } from "../../domain/ids.ts";
import type { NextAttempt } from "../../domain/settlement.ts";
import type { TerminalStatus } from "../../domain/task-status.ts";
import { type WakeKey, wakeVersion } from "../../domain/wake.ts";
import type { Transaction } from "../database.ts";
import { releaseHolds, reserveHolds } from "../holds/release.ts";
import { wakeGates } from "../holds/wake.ts";
import { countDownRuns } from "../runs/count-down.ts";
import { sql } from "../sql.ts";
import { insertNextAttempts } from "./insert-next-attempt.ts";

export interface EndedTaskRun {
  readonly taskRunId: TaskRunId;
  readonly taskId: TaskId;
  readonly runId: RunId | null;
  readonly status: TerminalStatus;
  /** Only a gated task run can hold anything. */
  readonly gated: boolean;
  readonly next: NextAttempt | null;
}

/** Answers the new task runs by the ones they follow. */
export async function closeTaskRuns(
  tx: Transaction,
  ended: readonly EndedTaskRun[],
): Promise<ReadonlyMap<TaskRunId, TaskRunId>> {
  const gated = ended.filter((taskRun) => taskRun.gated);
  if (gated.length > 0) await openGates(tx, gated);
  // After the holds: an attempt for which something is kept goes first.
  const nextIds = await insertNextAttempts(
    tx,
    ended.flatMap(({ taskRunId, next }) => (next === null ? [] : [{ taskRunId, next }])),
  );
  await countDownRuns(
    tx,
    ended.flatMap(({ runId, status, next }) => (runId === null || next !== null ? [] : [{ runId, status }])),
  );
  return nextIds;
}

async function openGates(tx: Transaction, ended: readonly EndedTaskRun[]): Promise<void> {
  await reserveHolds(
    tx,
    ended.filter(({ next }) => next?.keepsExclusiveHolds === true).map(({ taskRunId }) => taskRunId),
  );
  const ids = ended.map(({ taskRunId }) => taskRunId);
  const freed = await releaseHolds(
    tx,
    ids,
    ended.filter(({ next }) => next === null).map(({ taskId }) => taskId),
  );
  await wakeGates(tx, [...freed, ...(await closeVersions(tx, ids))]);
}

export async function closeVersions(
  tx: Transaction,
  taskRunIds: readonly TaskRunId[],
): Promise<readonly WakeKey[]> {
  const rows = await tx.query(
    sql<{ name: string }>("closeVersions")`
      DELETE FROM signalbox.open_version WHERE task_run_id = ANY (${taskRunIds}::uuid[]) RETURNING name
    `,
  );
  return rows.map(({ name }) => wakeVersion(name));
}
