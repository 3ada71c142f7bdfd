import { asRunId, asTaskId, asTaskRunId, type RunId, type TaskId, type TaskRunId } from "../../domain/ids.ts";
import type { TaskRunStatus } from "../../domain/task-status.ts";
import type { Transaction } from "../database.ts";
import { lockRuns } from "../runs/count-down.ts";
import { reopenRuns } from "../runs/reopen.ts";
import { sql } from "../sql.ts";
import { insertNextAttempts } from "./insert-next-attempt.ts";

export interface RetryRequest {
  readonly taskId: TaskId;
  readonly runId: RunId | null;
  /** Only where this is still the newest task run of the task; null: whichever is. */
  readonly taskRunId: TaskRunId | null;
}

export interface RetryAnswer {
  readonly taskId: TaskId;
  /** The newest task run of the task as it was found. */
  readonly newest: {
    readonly taskRunId: TaskRunId;
    readonly attempt: number;
    readonly status: TaskRunStatus;
  };
  /** The new attempt; null: the newest one is open or DONE, or another than the one that was meant. */
  readonly nextTaskRunId: TaskRunId | null;
}

/**
 * A new attempt for each task that FAILED or was CANCELED. Under the lock of the task's row, so that two retries at
 * once bring one attempt, and the pruner takes a task whole or not at all. A task that is missing does not exist.
 */
export async function retryTasks(
  tx: Transaction,
  requests: readonly RetryRequest[],
  by: string | null,
): Promise<readonly RetryAnswer[]> {
  await lockRuns(
    tx,
    requests.flatMap(({ runId }) => runId ?? []),
  );
  await lockTasks(
    tx,
    requests.map(({ taskId }) => taskId),
  );
  const newest = await readNewest(tx, requests);
  const again = newest.filter(
    (row): row is NewestRow & { status: "FAILED" | "CANCELED" } =>
      row.meant && (row.status === "FAILED" || row.status === "CANCELED"),
  );
  const nextIds = await insertNextAttempts(
    tx,
    again.map(({ taskRunId }) => ({ taskRunId: asTaskRunId(taskRunId), next: AT_ONCE })),
  );
  await recordRetries(tx, nextIds, by);
  await reopenRuns(
    tx,
    again.flatMap(({ runId, status }) => (runId === null ? [] : [{ runId: asRunId(runId), was: status }])),
  );
  return newest.map(({ taskId, taskRunId, attempt, status, meant }) => ({
    taskId: asTaskId(taskId),
    newest: { taskRunId: asTaskRunId(taskRunId), attempt, status },
    // Whoever names an older attempt beside the task did not bring the new one.
    nextTaskRunId: meant ? (nextIds.get(asTaskRunId(taskRunId)) ?? null) : null,
  }));
}

/** Whoever asks for it by hand has looked at why instances were lost: that count begins anew. */
const AT_ONCE = { delayMs: 0, interruptions: 0, keepsExclusiveHolds: false } as const;

async function lockTasks(tx: Transaction, taskIds: readonly TaskId[]): Promise<void> {
  await tx.query(
    sql("lockTasks")`
      SELECT FROM signalbox.task WHERE id = ANY (${taskIds}::uuid[]) ORDER BY id FOR NO KEY UPDATE
    `,
  );
}

interface NewestRow {
  readonly taskId: string;
  readonly taskRunId: string;
  readonly runId: string | null;
  readonly attempt: number;
  readonly status: TaskRunStatus;
  readonly meant: boolean;
}

async function readNewest(tx: Transaction, requests: readonly RetryRequest[]): Promise<readonly NewestRow[]> {
  return await tx.query(
    sql<NewestRow>("readNewest")`
      SELECT t.task_id AS "taskId", t.id AS "taskRunId", t.run_id AS "runId", t.attempt, t.status,
             g.task_run_id IS NULL OR g.task_run_id = t.id AS meant
        FROM unnest(${requests.map(({ taskId }) => taskId)}::uuid[],
                    ${requests.map(({ taskRunId }) => taskRunId)}::uuid[]) AS g (task_id, task_run_id)
       CROSS JOIN LATERAL (
             SELECT * FROM signalbox.task_run WHERE task_id = g.task_id ORDER BY attempt DESC LIMIT 1) AS t
    `,
  );
}

/** By this event the new attempt is known to be no automatic one: between it and the one before the task was closed. */
async function recordRetries(
  tx: Transaction,
  nextIds: ReadonlyMap<TaskRunId, TaskRunId>,
  by: string | null,
): Promise<void> {
  if (nextIds.size === 0) return;
  await tx.query(
    sql("recordRetries")`
      INSERT INTO signalbox.event_store (aggregate_type, aggregate_id, aggregate_version, type, data)
      SELECT 'task_run', id, 1, 'task_run.retried', jsonb_build_object('by', ${by}::text, 'after', previous_id)
        FROM unnest(${[...nextIds.values()]}::uuid[], ${[...nextIds.keys()]}::uuid[]) AS g (id, previous_id)
    `,
  );
}
