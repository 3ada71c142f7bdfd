/** New attempts by hand, for tasks that failed or were canceled: one, or all that a filter names. */

import { inBites, type RetryCounts, type RetryFilter } from "../domain/bulk.ts";
import { SchedulerError } from "../domain/errors.ts";
import { resolveRetryFilter } from "../domain/filter.ts";
import { firstIdAt, type TaskId, type TaskRunId } from "../domain/ids.ts";
import type { TaskRunStatus } from "../domain/task-status.ts";
import type { Pool } from "../store/database.ts";
import { findTaskRun } from "../store/task-runs/find.ts";
import { type RetryRequest, retryTasks } from "../store/task-runs/retry.ts";
import {
  cutoffNow,
  FIRST_PLACE,
  type FoundBite,
  type FoundTaskRun,
  selectByIds,
  selectEnded,
  selectInRun,
} from "../store/task-runs/select.ts";

/** The new attempt. */
export interface Retried {
  readonly taskId: TaskId;
  /** The new attempt; it is PENDING. */
  readonly taskRunId: TaskRunId;
  readonly attempt: number;
}

/** Takes the id of a task, or of the newest task run of one: of an older one it is refused, so that no call counts twice. */
export async function retryOnce(pool: Pool, id: string, by: string | null): Promise<Retried> {
  const { taskId, runId, taskRunId, byTask } = await findTaskRun(pool, id);
  const [answer] = await pool.transaction(
    async (tx) => await retryTasks(tx, [{ taskId, runId, taskRunId: byTask ? null : taskRunId }], by),
  );
  if (answer === undefined) throw new SchedulerError("TASK_NOT_FOUND", { id });
  const { newest, nextTaskRunId } = answer;
  if (nextTaskRunId !== null) return { taskId, taskRunId: nextTaskRunId, attempt: newest.attempt + 1 };
  const problem =
    !byTask && newest.taskRunId !== taskRunId
      ? `attempt ${newest.attempt} of its task followed it (${newest.taskRunId}, ${newest.status})`
      : newest.status === "DONE"
        ? "it is DONE"
        : `attempt ${newest.attempt} is ${newest.status}`;
  throw new SchedulerError("NOT_RETRYABLE", { id, problem });
}

/** So many get their new attempt by one transaction. */
const RETRY_BITE = 100;

/** A bite at a time, so a call that breaks off has done a part of it: call it again. */
export async function retryMany(pool: Pool, asked: RetryFilter, by: string | null): Promise<RetryCounts> {
  const filter = resolveRetryFilter(asked);
  const statuses: readonly TaskRunStatus[] = filter.status ?? ["FAILED"];
  const total = { retried: 0, notRetryable: 0, notFound: 0 };
  const retryAll = async (found: readonly FoundTaskRun[]): Promise<number> => {
    const requests = found
      .filter((each) => statuses.includes(each.status) && matches(filter, each))
      .map(toRequest);
    if (requests.length === 0) return 0;
    const answers = await pool.transaction(async (tx) => await retryTasks(tx, requests, by));
    const retried = answers.filter(({ nextTaskRunId }) => nextTaskRunId !== null).length;
    total.retried += retried;
    return retried;
  };

  if (filter.ids !== undefined) {
    for (const ids of inBites(filter.ids, RETRY_BITE)) {
      const { found, notFound } = await selectByIds(pool, ids);
      total.notFound += notFound;
      total.notRetryable += found.length - (await retryAll(found));
    }
    return total;
  }
  for await (const found of walk(pool, filter)) await retryAll(found);
  return total;
}

async function* walk(
  pool: Pool,
  { runId, enqueuedSince }: RetryFilter,
): AsyncGenerator<readonly FoundTaskRun[]> {
  // What fails again while this goes on is not retried again.
  const cutoff = await cutoffNow(pool);
  const select = async (after: string): Promise<FoundBite> => {
    if (runId !== undefined) return await selectInRun(pool, runId, after, RETRY_BITE);
    return await selectEnded(pool, after, cutoff, RETRY_BITE);
  };
  const first = runId === undefined && enqueuedSince !== undefined ? firstIdAt(enqueuedSince) : FIRST_PLACE;
  for (let after: string | null = first; after !== null; ) {
    const { found, next }: FoundBite = await select(after);
    yield found;
    after = next;
  }
}

function matches({ kind, runId, enqueuedSince }: RetryFilter, found: FoundTaskRun): boolean {
  return (
    (kind === undefined || found.kind === kind) &&
    (runId === undefined || found.runId === runId) &&
    (enqueuedSince === undefined || found.taskRunId >= firstIdAt(enqueuedSince))
  );
}

function toRequest({ taskId, runId, taskRunId, byTask }: FoundTaskRun): RetryRequest {
  return { taskId, runId, taskRunId: byTask ? null : taskRunId };
}
