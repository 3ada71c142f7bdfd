/** Deletes what has been kept long enough, a bite at a time. Any instance may; one does at a time. */

import { KEEP_KEYS_MS } from "../domain/idempotency.ts";
import type { TaskId } from "../domain/ids.ts";
import { type AgingTask, choosePrunable, type KeepMs, leftBehind } from "../domain/retention.ts";
import type { Pool, Transaction } from "../store/database.ts";
import { forgetKeys } from "../store/idempotency/keys.ts";
import { forgetOperations } from "../store/operations/operation.ts";
import { deleteEmptyRuns, deleteTasks, lockTasksToDelete } from "../store/retention/delete.ts";
import { databaseNow, readAgain, readAging } from "../store/retention/read.ts";
import { type IdRange, nextRange, rememberBite, tryPruneLock } from "../store/retention/walk.ts";
import { lockRuns } from "../store/runs/count-down.ts";
import type { Emit } from "./telemetry.ts";

/** So many tasks are looked at by one transaction. */
const PRUNE_BITE = 500;

export interface PruneDeps {
  readonly pool: Pool;
  readonly keepMs: KeepMs;
  readonly emit: Emit;
}

interface PrunedBite {
  readonly tasks: number;
  readonly taskRuns: number;
  readonly runs: number;
}
const NOTHING: PrunedBite = { tasks: 0, taskRuns: 0, runs: 0 };

/** Answers whether there may be more; false also where another instance is at it. */
export async function pruneOnce({ pool, keepMs, emit }: PruneDeps): Promise<boolean> {
  const pass = await pool.transaction(async (tx) => {
    if (!(await tryPruneLock(tx))) return null;
    const idempotencyKeys = await forgetKeys(tx, KEEP_KEYS_MS, PRUNE_BITE);
    // As long as a key that asks for one again would be answered with it.
    const operations = await forgetOperations(tx, KEEP_KEYS_MS, PRUNE_BITE);
    const range = await nextRange(tx, keepMs);
    const { pruned, more } =
      range === null ? { pruned: NOTHING, more: false } : await pruneRange(tx, range, keepMs);
    const full = [idempotencyKeys, operations].includes(PRUNE_BITE);
    return { pruned: { ...pruned, idempotencyKeys, operations }, more: more || full };
  });
  if (pass === null) return false;
  const { tasks, idempotencyKeys, operations } = pass.pruned;
  if (tasks + idempotencyKeys + operations > 0) emit({ type: "retention.pruned", ...pass.pruned });
  return pass.more;
}

async function pruneRange(
  tx: Transaction,
  range: IdRange,
  keepMs: KeepMs,
): Promise<{ readonly pruned: PrunedBite; readonly more: boolean }> {
  const now = await databaseNow(tx);
  const tasks = await readAging(tx, range, PRUNE_BITE);
  const chosen = choosePrunable(tasks, keepMs, now);
  const { pruned, spared } = await pruneChosen(tx, { range, chosen }, { keepMs, now });
  const isChosen = new Set(chosen.map(({ taskId }) => taskId));
  const left = [...tasks.filter(({ taskId }) => !isChosen.has(taskId)), ...spared];
  const reachedId = tasks.length < PRUNE_BITE ? range.toId : (tasks.at(-1)?.taskId ?? range.toId);
  await rememberBite(tx, range, reachedId, leftBehind(left));
  // The end of a new range is the present, and moves on with it.
  return { pruned, more: !range.isNew || reachedId < range.toId };
}

/** Locks first and decides again in the next statement: somebody may have asked for a retry since they were chosen. */
async function pruneChosen(
  tx: Transaction,
  { range, chosen }: { readonly range: IdRange; readonly chosen: readonly AgingTask[] },
  { keepMs, now }: { readonly keepMs: KeepMs; readonly now: Date },
): Promise<{ readonly pruned: PrunedBite; readonly spared: readonly AgingTask[] }> {
  if (chosen.length === 0) return { pruned: NOTHING, spared: [] };
  const ids: readonly TaskId[] = chosen.map(({ taskId }) => taskId);
  const runIds = [...new Set(chosen.flatMap(({ runId }) => runId ?? []))];
  await lockRuns(tx, runIds);
  await lockTasksToDelete(tx, ids);
  const again = await readAgain(tx, range, ids);
  const due = new Set(choosePrunable(again, keepMs, now).map(({ taskId }) => taskId));
  const taskRuns = await deleteTasks(tx, [...due]);
  const runs = await deleteEmptyRuns(tx, runIds);
  return {
    pruned: { tasks: due.size, taskRuns, runs: runs.length },
    spared: again.filter(({ taskId }) => !due.has(taskId)),
  };
}
