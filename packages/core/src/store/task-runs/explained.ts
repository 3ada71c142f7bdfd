/** The task run that somebody asks about, with all that `explain` says of it whatever its gates say: one statement. */

import {
  asInstanceId,
  asRunId,
  asTaskId,
  asTaskRunId,
  type InstanceId,
  type RunId,
  type TaskId,
  type TaskRunId,
} from "../../domain/ids.ts";
import type { TaskRunStatus } from "../../domain/task-status.ts";
import type { WaitingCode } from "../../domain/waiting-cause.ts";
import type { Database } from "../database.ts";
import { preparedSql } from "../sql.ts";

export interface ExplainedTaskRun {
  readonly taskRunId: TaskRunId;
  readonly taskId: TaskId;
  readonly runId: RunId | null;
  readonly title: string;
  readonly kind: string;
  readonly queue: string;
  readonly attempt: number;
  readonly status: TaskRunStatus;
  readonly since: Date;
  readonly claimedBy: InstanceId | null;
  readonly blockedOn: WaitingCode | null;
  readonly blockedSince: Date | null;
  readonly cancelRequestedAt: Date | null;
  readonly cancelRequestedBy: string | null;
  readonly cancelReason: string | null;
  readonly outcome: string | null;
  /** Of its error. */
  readonly message: string | null;
  /** The database's clock at this look. */
  readonly computedAt: Date;
}

type StoredId = "taskRunId" | "taskId" | "runId" | "claimedBy";
interface ExplainedRow extends Omit<ExplainedTaskRun, StoredId> {
  readonly taskRunId: string;
  readonly taskId: string;
  readonly runId: string | null;
  readonly claimedBy: string | null;
}

/** By a task run's own id, or by a task's, which means its newest task run. */
export async function readExplained(db: Database, id: string): Promise<ExplainedTaskRun | null> {
  const [row] = await db.query(
    preparedSql<ExplainedRow>("readExplained")`
      SELECT t.id AS "taskRunId", t.task_id AS "taskId", t.run_id AS "runId", k.title, t.kind, t.queue, t.attempt, t.status,
             coalesce(t.finished_at, t.claimed_at, t.available_at, t.enqueued_at) AS since, t.claimed_by AS "claimedBy",
             w.blocked_on AS "blockedOn", w.blocked_since AS "blockedSince", t.cancel_requested_at AS "cancelRequestedAt",
             t.cancel_requested_by AS "cancelRequestedBy", t.cancel_reason AS "cancelReason", t.outcome,
             (SELECT error->>'message' FROM signalbox.task_run_result WHERE task_run_id = t.id) AS message,
             clock_timestamp() AS "computedAt"
        FROM (SELECT id FROM signalbox.task_run WHERE id = ${id}::uuid
              UNION ALL
              (SELECT id FROM signalbox.task_run WHERE task_id = ${id}::uuid ORDER BY attempt DESC LIMIT 1)
              LIMIT 1) AS named
       CROSS JOIN LATERAL (SELECT * FROM signalbox.task_run WHERE task_run.id = named.id OFFSET 0) AS t
        JOIN signalbox.task AS k ON k.id = t.task_id
        LEFT JOIN signalbox.waiting AS w ON w.task_run_id = t.id
    `,
  );
  if (row === undefined) return null;
  return {
    ...row,
    taskRunId: asTaskRunId(row.taskRunId),
    taskId: asTaskId(row.taskId),
    runId: row.runId === null ? null : asRunId(row.runId),
    claimedBy: row.claimedBy === null ? null : asInstanceId(row.claimedBy),
  };
}
