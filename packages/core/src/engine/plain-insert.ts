/**
 * How plain tasks come into the database: one statement in one round trip, which also tells the other instances where it
 * has the turn. Those of several callers, or many of one.
 */

import type { ResourceName } from "../domain/resource.ts";
import type { ResolvedTask } from "../domain/task-spec.ts";
import type { Pool } from "../store/database.ts";
import { insertPlainTasks } from "../store/task-runs/insert.ts";
import { insertManyUngated } from "../store/task-runs/insert-many-ungated.ts";
import { insertUngatedTask } from "../store/task-runs/insert-ungated.ts";
import type { InsertedTaskRun } from "../store/task-runs/inserted.ts";
import { isUngated } from "../store/task-runs/plain.ts";
import { type Wakeups, wakesFor } from "./wakeups.ts";

/** `behind`: where each waits for a smaller version that comes with it, where they are of one caller. */
export type PlainInsert = (
  tasks: readonly ResolvedTask[],
  behind?: readonly (ResourceName | null)[],
) => Promise<readonly InsertedTaskRun[]>;

/** Of up to one bite. Resolves when they are committed. */
export function createPlainInsert(
  pool: Pool,
  wakeups: Pick<Wakeups, "takeTurn" | "wakeOwn" | "send">,
): PlainInsert {
  const ruled = new Set<string>();
  return async (tasks, behind = []) => {
    const turn = wakeups.takeTurn();
    try {
      const notifies = turn !== null;
      const inserted =
        (await insertUngated(pool, tasks, { ruled, notifies })) ??
        (await pool.atOnce(async (tx) => await insertPlainTasks(tx, tasks, { behind, notifies })));
      noteRules(ruled, tasks, inserted);
      for (const channel of wakesFor(inserted)) (notifies ? wakeups.wakeOwn : wakeups.send)(channel);
      return inserted;
    } finally {
      turn?.end();
    }
  };
}

/** By the shorter statements, unless a queue of theirs was found to have rules; null: that is not to be had. */
async function insertUngated(
  pool: Pool,
  tasks: readonly ResolvedTask[],
  { ruled, notifies }: { readonly ruled: ReadonlySet<string>; readonly notifies: boolean },
): Promise<readonly InsertedTaskRun[] | null> {
  if (!tasks.every((task) => isUngated(task) && !ruled.has(task.queue))) return null;
  return await pool.atOnce(async (tx) => {
    const [first] = tasks;
    if (first === undefined || tasks.length > 1) return await insertManyUngated(tx, tasks, { notifies });
    const inserted = await insertUngatedTask(tx, first, { notifies });
    return inserted === null ? null : [inserted];
  });
}

/** What says nothing of gates and is PENDING nevertheless has come into a queue with rules. */
function noteRules(
  ruled: Set<string>,
  tasks: readonly ResolvedTask[],
  inserted: readonly InsertedTaskRun[],
): void {
  for (const [index, task] of tasks.entries()) {
    if (!isUngated(task)) continue;
    if (inserted[index]?.status === "PENDING") ruled.add(task.queue);
    else ruled.delete(task.queue);
  }
}
