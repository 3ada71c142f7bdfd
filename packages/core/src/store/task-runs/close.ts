/**
 * What every end of a task run brings with it, whoever wrote the status: holds are given back, gates are
 * woken, the next attempt is inserted, the run counts down. In the transaction of that status.
 */

import type { RunId, TaskId, TaskRunId } from "../../domain/ids.ts";
import type { ResourceName } from "../../domain/resource.ts";
import type { NextAttempt } from "../../domain/settlement.ts";
import type { TerminalStatus } from "../../domain/task-status.ts";
import { wakeVersion } from "../../domain/wake.ts";
import type { Transaction } from "../database.ts";
import { releaseHolds, reserveHolds } from "../holds/release.ts";
import { wakeGates } from "../holds/wake.ts";
import { countDownRuns } from "../runs/count-down.ts";
import { preparedSql } from "../sql.ts";
import { type HandOff, toNobody } from "./hand-off.ts";
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

export interface Closed {
  /** The new task runs by the ones they follow. */
  readonly nextIds: ReadonlyMap<TaskRunId, TaskRunId>;
  /** AVAILABLE since this transaction, each with what somebody of `ended` held. */
  readonly handedOff: readonly TaskRunId[];
  /** There is something for a pass to look at. */
  readonly opensGates: boolean;
}

export async function closeTaskRuns(
  tx: Transaction,
  ended: readonly EndedTaskRun[],
  handOff: HandOff = toNobody,
): Promise<Closed> {
  const gated = ended.filter((taskRun) => taskRun.gated);
  const opened = gated.length > 0 ? await openGates(tx, gated, handOff) : NOTHING_OPENED;
  // After the holds: an attempt for which something is kept goes first.
  const nextIds = await insertNextAttempts(
    tx,
    ended.flatMap(({ taskRunId, next }) => (next === null ? [] : [{ taskRunId, next }])),
  );
  await countDownRuns(
    tx,
    ended.flatMap(({ runId, status, next }) => (runId === null || next !== null ? [] : [{ runId, status }])),
  );
  return { nextIds, ...opened, opensGates: opened.opensGates || nextIds.size > 0 };
}

type Opened = Omit<Closed, "nextIds">;
const NOTHING_OPENED: Opened = { handedOff: [], opensGates: false };

async function openGates(tx: Transaction, ended: readonly EndedTaskRun[], handOff: HandOff): Promise<Opened> {
  await reserveHolds(
    tx,
    ended.filter(({ next }) => next?.keepsExclusiveHolds === true).map(({ taskRunId }) => taskRunId),
  );
  const ids = ended.map(({ taskRunId }) => taskRunId);
  const last = ended.filter(({ next }) => next === null);
  // Who comes after a task of a run is of a run too, as good as always, and has its limit to pass.
  const handing = last.filter(({ runId }) => runId === null);
  const done = ended.filter(({ status }) => status === "DONE").map(({ taskRunId }) => taskRunId);
  // In this order, though nobody waits in between: who goes on has the smallest version then, and keeps what it was handed.
  const [closed, handedOff, freed] = await Promise.all([
    closeVersions(tx, ids, done),
    handOff(
      tx,
      handing.map(({ taskRunId }) => taskRunId),
    ),
    releaseHolds(
      tx,
      ids,
      last.map(({ taskId }) => taskId),
    ),
  ]);
  const taken = new Set(handedOff.filter(({ byVersion }) => byVersion).map(({ name }) => name));
  const wakes = [...freed, ...closed.filter((name) => !taken.has(name)).map(wakeVersion)];
  await wakeGates(tx, wakes);
  return { handedOff: handedOff.map(({ taskRunId }) => taskRunId), opensGates: wakes.length > 0 };
}

/**
 * From the commit on a smaller version than one of `done` is out of order on its resources. Answers on which resources
 * versions have ended: whoever waits there for a smaller one is to be woken.
 */
export async function closeVersions(
  tx: Transaction,
  taskRunIds: readonly TaskRunId[],
  done: readonly TaskRunId[],
): Promise<readonly ResourceName[]> {
  const rows = await tx.query(
    preparedSql<{ name: string }>("closeVersions")`
      WITH closed AS (
        DELETE FROM signalbox.open_version WHERE task_run_id = ANY (${taskRunIds}::uuid[])
        RETURNING name, version, task_run_id
      ), noted AS (
        INSERT INTO signalbox.done_version AS d (name, version)
        SELECT name, max(version)
          FROM closed
         -- Nearly always all of them: then nobody is looked up in the list, which is compared one by one.
         WHERE ${done.length === taskRunIds.length} OR task_run_id = ANY (${done}::uuid[])
         GROUP BY name
         ORDER BY name                    -- two that settle at once meet in the same order
            ON CONFLICT (name) DO UPDATE SET version = excluded.version WHERE d.version < excluded.version
      )
      SELECT DISTINCT name FROM closed
    `,
  );
  return rows.map(({ name }) => name);
}
