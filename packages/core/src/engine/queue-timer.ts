/** Fails what has waited for longer than it may. Any instance may; two at once fail each task run once. */

import { type Settlement, settle } from "../domain/settlement.ts";
import type { Pool } from "../store/database.ts";
import { takeGateLock } from "../store/holds/gate-lock.ts";
import {
  failOverdue,
  findOverdue,
  forgetInTime,
  msUntilNextDeadline,
  type OverdueTaskRun,
} from "../store/task-runs/fail-overdue.ts";
import type { Emit } from "./telemetry.ts";

export interface QueueTimerDeps {
  readonly pool: Pool;
  readonly batchSize: number;
  readonly emit: Emit;
}

export interface TimedOut {
  readonly failed: number;
  /** When the next one is due; null: none is set. */
  readonly nextDueMs: number | null;
}

export async function failOverdueOnce({ pool, batchSize, emit }: QueueTimerDeps): Promise<TimedOut> {
  const { overdue, inTime } = await findOverdue(pool, batchSize);
  if (inTime.length > 0) await pool.transaction(async (tx) => await forgetInTime(tx, inTime));
  const failed =
    overdue.length === 0
      ? []
      : await pool.transaction(async (tx) => {
          // More than one only under the gate lock: a pass parks them in an order of its own.
          if (overdue.length > 1) await takeGateLock(tx);
          return await failOverdue(
            tx,
            overdue.map((taskRun) => ({ ...taskRun, settlement: settlementOf(taskRun) })),
          );
        });
  const named = new Map(overdue.map((taskRun) => [taskRun.taskRunId, taskRun]));
  for (const { taskRunId, nextTaskRunId } of failed) {
    const taskRun = named.get(taskRunId);
    if (taskRun === undefined) continue;
    const { taskId, kind, title, attempt } = taskRun;
    emit({ type: "task_run.queue_timed_out", taskRunId, taskId, kind, title, attempt, nextTaskRunId });
  }
  return { failed: failed.length, nextDueMs: await msUntilNextDeadline(pool) };
}

function settlementOf({ policy, attempt, interruptions }: OverdueTaskRun): Settlement {
  const message = `It did not start within ${policy.timeouts?.queuedMs} ms`;
  const outcome = { kind: "failed", code: "QUEUE_TIMEOUT", message, retryable: true } as const;
  return settle(outcome, policy, { attempt, interruptions }, Math.random());
}
