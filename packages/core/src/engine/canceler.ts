/** Ends what has not started and asks what runs to stop: one, or all that a filter names. */

import { type CancelCounts, type CancelFilter, inBites } from "../domain/bulk.ts";
import { SchedulerError } from "../domain/errors.ts";
import { resolveCancelFilter } from "../domain/filter.ts";
import { isUuid, type RunId, type TaskId, type TaskRunId } from "../domain/ids.ts";
import { isTerminal, type TaskRunStatus } from "../domain/task-status.ts";
import type { Pool } from "../store/database.ts";
import { takeGateLock } from "../store/holds/gate-lock.ts";
import { isRun } from "../store/runs/is-run.ts";
import {
  type CancelAnswer,
  type CancelRequest,
  cancelTaskRun,
  cancelTaskRuns,
  newestTaskRun,
} from "../store/task-runs/cancel.ts";
import { findTaskRun } from "../store/task-runs/find.ts";
import {
  FIRST_PLACE,
  type FoundBite,
  type FoundTaskRun,
  selectByIds,
  selectInRun,
  selectLetGo,
  selectNewest,
  selectReady,
  selectRunning,
  selectWaiting,
} from "../store/task-runs/select.ts";

/** Takes the id of a task or a task run. Of a task, whatever attempt is open when the answer is given. */
export async function cancelOnce(pool: Pool, id: string, request: CancelRequest): Promise<CancelAnswer> {
  const found = await findTaskRun(pool, id);
  for (;;) {
    const answer = await pool.transaction(async (tx) => {
      const newest = found.byTask ? await newestTaskRun(tx, found.taskId) : null;
      const taskRun = newest === null ? found : { ...found, ...newest };
      const said = await cancelTaskRun(tx, taskRun, request);
      if (said !== "ended" || !found.byTask) return said;
      // It ended under our hands, and its end may have brought a new attempt: that one is meant too.
      const now = await newestTaskRun(tx, found.taskId);
      return now?.open === true ? null : said;
    });
    if (answer !== null) return answer;
  }
}

/** So many are canceled by one transaction: it holds the gate lock meanwhile. */
const CANCEL_BITE = 100;
/** So many are read by one statement. */
const FIND_BITE = 1_000;

const OPEN: readonly TaskRunStatus[] = ["PENDING", "AVAILABLE", "RUNNING"];

/** A bite at a time, so a call that breaks off has done a part of it: call it again. */
export async function cancelMany(
  pool: Pool,
  asked: CancelFilter,
  request: Omit<CancelRequest, "from">,
): Promise<CancelCounts> {
  const filter = resolveCancelFilter(asked);
  const from = filter.status ?? OPEN;
  const total = { canceled: 0, canceling: 0, ended: 0, notFound: 0 };
  const isMeant = ({ kind, runId, status }: FoundTaskRun): boolean =>
    (filter.kind === undefined || kind === filter.kind) &&
    (filter.runId === undefined || runId === filter.runId) &&
    from.includes(status);
  const cancelAll = async (open: readonly FoundTaskRun[]): Promise<void> => {
    const said = await cancelBite(pool, open, { ...request, from });
    total.canceled += said.canceled;
    total.canceling += said.canceling;
    total.ended += said.ended;
  };

  if (filter.ids === undefined && filter.runId !== undefined) {
    const { runId } = filter;
    await walk(
      async (after) => await selectInRun(pool, runId, after, CANCEL_BITE),
      async (found) => {
        const ofKind = found.filter(({ kind }) => filter.kind === undefined || kind === filter.kind);
        total.ended += ofKind.filter(({ status }) => isTerminal(status)).length;
        await cancelAll(found.filter(isMeant));
      },
    );
    return total;
  }
  const ids = filter.ids ?? (await findOpen(pool, filter.kind ?? null, from));
  const named = new Set<TaskRunId>();
  for (const bite of inBites(ids, CANCEL_BITE)) {
    const { found, notFound } = await selectByIds(pool, bite);
    total.notFound += notFound;
    // By its task in one bite and by itself in another: it is one all the same.
    const first = found.filter(({ taskRunId }) => !named.has(taskRunId));
    for (const { taskRunId } of first) named.add(taskRunId);
    // Whoever names them one by one is told of each.
    const meant = first.filter(isMeant);
    total.ended += first.length - meant.length;
    await cancelAll(meant);
  }
  return total;
}

/** What is open of a run. */
export async function cancelRun(
  pool: Pool,
  runId: RunId,
  request: Omit<CancelRequest, "from">,
): Promise<CancelCounts> {
  if (!isUuid(runId) || !(await isRun(pool, runId))) throw new SchedulerError("RUN_NOT_FOUND", { runId });
  return await cancelMany(pool, { runId }, request);
}

async function walk(
  select: (after: string) => Promise<FoundBite>,
  visit: (found: readonly FoundTaskRun[]) => Promise<void> | void,
): Promise<void> {
  for (let after: string | null = FIRST_PLACE; after !== null; ) {
    const { found, next }: FoundBite = await select(after);
    await visit(found);
    after = next;
  }
}

/**
 * The tasks whose open attempts are in the work sets at one moment. In one snapshot: while they move on from set to
 * set, and fail and come back as new attempts, reading one set after the other would miss some. From here on the tasks
 * are meant, whatever attempt of them is open when their turn comes.
 */
async function findOpen(
  pool: Pool,
  kind: string | null,
  from: readonly TaskRunStatus[],
): Promise<readonly TaskId[]> {
  const taskIds: TaskId[] = [];
  const add = (found: readonly FoundTaskRun[]): void => {
    for (const each of found) if (kind === null || each.kind === kind) taskIds.push(each.taskId);
  };
  await pool.snapshot(async (tx) => {
    if (from.includes("PENDING")) await walk(async (after) => await selectWaiting(tx, after, FIND_BITE), add);
    if (from.includes("AVAILABLE"))
      await walk(async (after) => await selectReady(tx, kind, after, FIND_BITE), add);
    if (from.includes("RUNNING")) {
      await walk(async (after) => await selectRunning(tx, after, FIND_BITE), add);
      await walk(async (after) => await selectLetGo(tx, after, FIND_BITE), add);
    }
  });
  return [...new Set(taskIds)];
}

type BiteAnswer = Omit<CancelCounts, "notFound">;

/** Follows a task whose attempt ended under our hands to the attempt that came after it. */
async function cancelBite(
  pool: Pool,
  found: readonly FoundTaskRun[],
  request: CancelRequest,
): Promise<BiteAnswer> {
  const total = { canceled: 0, canceling: 0, ended: 0 };
  for (let left = found; left.length > 0; ) {
    const { answers, followers } = await pool.transaction(async (tx) => {
      await takeGateLock(tx);
      const answered = await cancelTaskRuns(tx, left, request);
      const over = left.filter(({ taskRunId, byTask }) => byTask && !answered.has(taskRunId));
      const newest = await selectNewest(
        tx,
        over.map(({ taskId }) => taskId),
      );
      const isNext = ({ status }: FoundTaskRun): boolean => request.from?.includes(status) ?? false;
      return { answers: answered, followers: newest.filter(isNext) };
    });
    for (const answer of answers.values()) total[answer] += 1;
    total.ended += left.length - answers.size - followers.length;
    left = followers;
  }
  return total;
}
