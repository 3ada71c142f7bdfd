/**
 * What every end of a task run brings with it, whoever wrote the status: holds are given back, gates are
 * woken, the next attempt is inserted, the run counts down. In the transaction of that status.
 */

import { asTaskRunId, type RunId, type TaskId, type TaskRunId } from "../../domain/ids.ts";
import type { ResourceName } from "../../domain/resource.ts";
import type { NextAttempt } from "../../domain/settlement.ts";
import type { TerminalStatus } from "../../domain/task-status.ts";
import type { Version } from "../../domain/version.ts";
import { wakeVersion } from "../../domain/wake.ts";
import type { Transaction } from "../database.ts";
import { releaseHolds, reserveHolds } from "../holds/release.ts";
import { wakeGates } from "../holds/wake.ts";
import { countDownRuns } from "../runs/count-down.ts";
import { preparedSql } from "../sql.ts";
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
  const endedTaskIds = ended.filter(({ next }) => next === null).map(({ taskId }) => taskId);
  const [freed, closed] = await Promise.all([releaseHolds(tx, ids, endedTaskIds), closeVersions(tx, ids)]);
  const done = new Set(ended.filter(({ status }) => status === "DONE").map(({ taskRunId }) => taskRunId));
  await Promise.all([
    noteDone(
      tx,
      closed.filter(({ taskRunId }) => done.has(taskRunId)),
    ),
    wakeGates(tx, [...freed, ...closed.map(({ name }) => wakeVersion(name))]),
  ]);
}

export interface ClosedVersion {
  readonly name: ResourceName;
  readonly version: Version;
  readonly taskRunId: TaskRunId;
}

/** Whoever waits for a smaller version on these is to be woken. */
export async function closeVersions(
  tx: Transaction,
  taskRunIds: readonly TaskRunId[],
): Promise<readonly ClosedVersion[]> {
  const rows = await tx.query(
    preparedSql<{ name: string; version: string; taskRunId: string }>("closeVersions")`
      DELETE FROM signalbox.open_version WHERE task_run_id = ANY (${taskRunIds}::uuid[])
      RETURNING name, array_to_string(version, '.') AS version, task_run_id AS "taskRunId"
    `,
  );
  return rows.map((row) => ({ ...row, taskRunId: asTaskRunId(row.taskRunId) }));
}

/** From the commit on a smaller version is out of order on these resources. */
async function noteDone(tx: Transaction, done: readonly ClosedVersion[]): Promise<void> {
  if (done.length === 0) return;
  await tx.query(
    preparedSql("noteDoneVersions")`
      INSERT INTO signalbox.done_version AS d (name, version)
      SELECT name, max(string_to_array(version, '.')::bigint[])
        FROM unnest(${done.map(({ name }) => name)}::text[], ${done.map(({ version }) => version)}::text[])
             AS g (name, version)
       GROUP BY name
       ORDER BY name                      -- two that settle at once meet in the same order
          ON CONFLICT (name) DO UPDATE SET version = excluded.version WHERE d.version < excluded.version
    `,
  );
}
