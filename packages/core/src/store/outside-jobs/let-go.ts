/**
 * RUNNING without an owner: an outside job goes on with a task run, its row says how to find it. Guarded like a settle;
 * what is missing in an answer is not ours any more.
 */

import { asTaskRunId, type InstanceId, type TaskRunId } from "../../domain/ids.ts";
import type { NewOutsideJob } from "../../domain/settlement.ts";
import type { Transaction } from "../database.ts";
import { sql } from "../sql.ts";

/** The claim in whose name it is written. */
export interface JobClaim {
  readonly taskRunId: TaskRunId;
  readonly claimNo: number;
  readonly claimedBy: InstanceId;
}

/** The instance goes on with it and has the handle stored, for the case that it is lost. False: not ours any more. */
export async function keepHandle(
  tx: Transaction,
  claim: JobClaim,
  job: Pick<NewOutsideJob, "handle" | "deadlineInMs">,
): Promise<boolean> {
  const rows = await tx.query(
    sql("keepHandle")`
      WITH mine AS MATERIALIZED (
        SELECT id, kind
          FROM signalbox.task_run
         WHERE id = ${claim.taskRunId}
           AND claim_no = ${claim.claimNo} AND claimed_by = ${claim.claimedBy} AND status = 'RUNNING'
           FOR UPDATE
      )
      INSERT INTO signalbox.outside_job AS j (task_run_id, kind, handle, next_poll_at, deadline)
      SELECT id, kind, ${JSON.stringify(job.handle)}::jsonb, 'infinity',
             clock_timestamp() + ${job.deadlineInMs} * interval '1 ms'
        FROM mine
          ON CONFLICT (task_run_id) DO UPDATE SET handle = excluded.handle, deadline = excluded.deadline
      RETURNING task_run_id
    `,
  );
  return rows.length > 0;
}

export interface LetGoRequest extends JobClaim {
  readonly job: NewOutsideJob;
}

/** From now on nobody has it, and any instance may poll. Where a cancel was requested, at once. */
export async function letGoTaskRuns(
  tx: Transaction,
  requests: readonly LetGoRequest[],
): Promise<ReadonlySet<TaskRunId>> {
  const rows = await tx.query(
    sql<{ taskRunId: string }>("letGoTaskRuns")`
      WITH mine AS MATERIALIZED (
        SELECT t.id, t.claimed_by, g.handle, g.poll_ms, g.deadline_ms
          FROM unnest(${requests.map(({ taskRunId }) => taskRunId)}::uuid[],
                      ${requests.map(({ claimNo }) => claimNo)}::bigint[],
                      ${requests.map(({ claimedBy }) => claimedBy)}::uuid[],
                      ${requests.map(({ job }) => JSON.stringify(job.handle))}::text[],
                      ${requests.map(({ job }) => job.pollInMs)}::bigint[],
                      ${requests.map(({ job }) => job.deadlineInMs)}::bigint[])
               AS g (id, claim_no, claimed_by, handle, poll_ms, deadline_ms)
          JOIN signalbox.task_run AS t ON t.id = g.id
         WHERE t.claim_no = g.claim_no AND t.claimed_by = g.claimed_by AND t.status = 'RUNNING'
         ORDER BY t.id
           FOR UPDATE OF t
      ), moved AS (
        UPDATE signalbox.task_run AS t
           SET claimed_by = NULL, let_go_at = clock_timestamp(), row_version = t.row_version + 1
          FROM mine
         WHERE t.id = mine.id AND t.status = 'RUNNING'
        RETURNING t.id, t.task_id, t.run_id, t.kind, t.row_version, t.claim_no, t.available_at, t.claimed_at,
                  t.let_go_at, t.cancel_requested_at, mine.claimed_by, mine.handle, mine.poll_ms, mine.deadline_ms
      ), job AS (
        INSERT INTO signalbox.outside_job (task_run_id, kind, handle, next_poll_at, deadline)
        SELECT id, kind, handle::jsonb,
               let_go_at + CASE WHEN cancel_requested_at IS NULL THEN least(poll_ms, deadline_ms) ELSE 0 END * interval '1 ms',
               let_go_at + deadline_ms * interval '1 ms'
          FROM moved
            ON CONFLICT (task_run_id) DO UPDATE
           SET handle = excluded.handle, next_poll_at = excluded.next_poll_at, deadline = excluded.deadline
      ), recorded AS (
        INSERT INTO signalbox.event_store (aggregate_type, aggregate_id, aggregate_version, type, data)
        SELECT 'task_run', id, row_version, 'task_run.let_go',
               jsonb_build_object('from', 'RUNNING', 'to', 'RUNNING', 'taskId', task_id, 'runId', run_id,
                                  'claimNo', claim_no, 'claimedBy', claimed_by,
                                  'availableAt', available_at, 'claimedAt', claimed_at)
          FROM moved
      )
      SELECT id AS "taskRunId" FROM moved
    `,
  );
  return new Set(rows.map(({ taskRunId }) => asTaskRunId(taskRunId)));
}

export interface ReturnRequest extends JobClaim {
  readonly pollInMs: number;
  /**
   * How the instance parts from it. `answered`: it asked and lives, so the losses before were no fault of the asking.
   * `unanswered`: it did not come to it, or got no answer. `lost`: it was lost meanwhile, which is counted.
   */
  readonly how: "answered" | "unanswered" | "lost";
}

/** It was never asked. */
export const UNASKED: Pick<ReturnRequest, "pollInMs" | "how"> = { pollInMs: 0, how: "unanswered" };

/**
 * The job is not over, and an instance parts from it: back to nobody. A poll is not an event, a job that runs for a day is
 * polled thousands of times; a loss is one, and so is the end of an instance that had run it itself so far.
 */
export async function returnOutsideJobs(
  tx: Transaction,
  requests: readonly ReturnRequest[],
): Promise<ReadonlySet<TaskRunId>> {
  const rows = await tx.query(
    sql<{ taskRunId: string }>("returnOutsideJobs")`
      WITH mine AS MATERIALIZED (
        SELECT t.id, t.claimed_by, t.let_go_at, g.poll_ms, g.how
          FROM unnest(${requests.map(({ taskRunId }) => taskRunId)}::uuid[],
                      ${requests.map(({ claimNo }) => claimNo)}::bigint[],
                      ${requests.map(({ claimedBy }) => claimedBy)}::uuid[],
                      ${requests.map(({ pollInMs }) => pollInMs)}::bigint[],
                      ${requests.map(({ how }) => how)}::text[]) AS g (id, claim_no, claimed_by, poll_ms, how)
          JOIN signalbox.task_run AS t ON t.id = g.id
         WHERE t.claim_no = g.claim_no AND t.claimed_by = g.claimed_by AND t.status = 'RUNNING'
           AND EXISTS (SELECT FROM signalbox.outside_job WHERE task_run_id = t.id)
         ORDER BY t.id
           FOR UPDATE OF t
      ), moved AS (
        UPDATE signalbox.task_run AS t
           SET claimed_by = NULL, let_go_at = coalesce(t.let_go_at, clock_timestamp()), row_version = t.row_version + 1
          FROM mine
         WHERE t.id = mine.id AND t.status = 'RUNNING'
        RETURNING t.id, t.task_id, t.run_id, t.row_version, t.claim_no, t.available_at, t.claimed_at,
                  t.cancel_requested_at, mine.claimed_by, mine.let_go_at, mine.poll_ms, mine.how
      ), job AS (
        UPDATE signalbox.outside_job AS j
           SET next_poll_at = CASE WHEN moved.cancel_requested_at IS NULL
                                   THEN least(clock_timestamp() + moved.poll_ms * interval '1 ms',
                                              greatest(j.deadline, clock_timestamp()))
                                   -- Somebody waits for its end: soon, but not without a pause when that end fails.
                                   ELSE clock_timestamp() + least(moved.poll_ms, 1000) * interval '1 ms' END,
               losses = CASE moved.how WHEN 'answered' THEN 0 WHEN 'lost' THEN j.losses + 1 ELSE j.losses END
          FROM moved
         WHERE j.task_run_id = moved.id
      ), recorded AS (
        INSERT INTO signalbox.event_store (aggregate_type, aggregate_id, aggregate_version, type, data)
        SELECT 'task_run', id, row_version, CASE how WHEN 'lost' THEN 'task_run.resumed' ELSE 'task_run.let_go' END,
               jsonb_build_object('from', 'RUNNING', 'to', 'RUNNING', 'taskId', task_id, 'runId', run_id,
                                  'claimNo', claim_no, 'claimedBy', claimed_by,
                                  'availableAt', available_at, 'claimedAt', claimed_at)
          FROM moved
         WHERE let_go_at IS NULL OR how = 'lost'
      )
      SELECT id AS "taskRunId" FROM moved
    `,
  );
  return new Set(rows.map(({ taskRunId }) => asTaskRunId(taskRunId)));
}

/**
 * Of those that could not be let go or returned: which had been before, by a commit whose answer was lost? After a rescue
 * the row looks the same, under the same number; but then it was the rescuer who gave it back, and ours is void.
 */
export async function findLetGoBefore(
  tx: Transaction,
  claims: readonly Pick<JobClaim, "taskRunId" | "claimNo">[],
): Promise<ReadonlySet<TaskRunId>> {
  if (claims.length === 0) return new Set();
  const rows = await tx.query(
    sql<{ taskRunId: string }>("findLetGoBefore")`
      SELECT t.id AS "taskRunId"
        FROM unnest(${claims.map(({ taskRunId }) => taskRunId)}::uuid[],
                    ${claims.map(({ claimNo }) => claimNo)}::bigint[]) AS g (id, claim_no)
        JOIN signalbox.task_run AS t ON t.id = g.id
       WHERE t.claim_no = g.claim_no AND t.status = 'RUNNING' AND t.claimed_by IS NULL AND t.let_go_at IS NOT NULL
         AND NOT EXISTS (SELECT FROM signalbox.event_store AS e
                          WHERE e.aggregate_id = t.id AND e.type = 'task_run.resumed'
                            AND (e.data->>'claimNo')::bigint = g.claim_no)
    `,
  );
  return new Set(rows.map(({ taskRunId }) => asTaskRunId(taskRunId)));
}

/** In the transaction that ended their task runs, or made them PENDING again. */
export async function forgetOutsideJobs(tx: Transaction, taskRunIds: readonly TaskRunId[]): Promise<void> {
  if (taskRunIds.length === 0) return;
  await tx.query(
    sql(
      "forgetOutsideJobs",
    )`DELETE FROM signalbox.outside_job WHERE task_run_id = ANY (${taskRunIds}::uuid[])`,
  );
}

/** A cancel was requested: whoever polls next ends the job. One that an instance has is told by its reconcile. */
export async function hastenPolls(tx: Transaction, taskRunIds: readonly TaskRunId[]): Promise<void> {
  if (taskRunIds.length === 0) return;
  await tx.query(
    sql("hastenPolls")`
      UPDATE signalbox.outside_job
         SET next_poll_at = clock_timestamp()
       WHERE task_run_id = ANY (${taskRunIds}::uuid[])
         AND next_poll_at < 'infinity' AND next_poll_at > clock_timestamp()
    `,
  );
}
