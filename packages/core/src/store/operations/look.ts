/**
 * Finds what an operation comes to next, a bite at a time: what is open in the work sets, what has ended along the ids, which
 * rise with time, the tasks of a run by their index. However much there is, one look reads a part of it.
 */

import { asRunId, asTaskId, asTaskRunId, firstIdAt } from "../../domain/ids.ts";
import type { OperationFilter, OperationVerb } from "../../domain/operation.ts";
import { type LookedAt, statusesFor } from "../../domain/operation-rules.ts";
import type { Transaction } from "../database.ts";
import { sql } from "../sql.ts";
import type { TaskRunIdentity } from "../task-runs/find.ts";

/** A task run at the moment when the operation came to it. */
export interface MetTaskRun extends TaskRunIdentity, LookedAt {}

export interface OperationLook {
  readonly met: readonly MetTaskRun[];
  /** Of the ids that were given: those of no task run. */
  readonly unknownIds: readonly string[];
  /** Where the next look begins; null after the last. */
  readonly next: string | null;
}

export interface LookRequest {
  readonly verb: OperationVerb;
  readonly filter: OperationFilter;
  /** After this id, and of what was there before that one. */
  readonly afterId: string;
  readonly beforeId: string;
  readonly limit: number;
}

interface MetRow {
  readonly taskRunId: string;
  readonly taskId: string;
  readonly runId: string | null;
  readonly kind: string;
  readonly queue: string;
  readonly priority: number;
  readonly status: LookedAt["status"];
  readonly isNewest: boolean;
  readonly isCanceling: boolean;
}

/** So many ids of history are passed by one look, whether or not they fit. */
const PASSED_BY = 2_000;

export async function lookOn(tx: Transaction, request: LookRequest): Promise<OperationLook> {
  const { filter } = request;
  if (filter.ids !== undefined) return await lookAtIds(tx, filter.ids, request);
  if (filter.runId !== undefined) return await lookInRun(tx, request);
  return goesThroughWorkSets(request) ? await lookAtOpen(tx, request) : await lookAtEnded(tx, request);
}

/** Each look reads all that is open. */
export function goesThroughWorkSets({ verb, filter }: Pick<LookRequest, "verb" | "filter">): boolean {
  return verb === "cancel" && filter.ids === undefined && filter.runId === undefined;
}

export function wantedOf({ runId, kind, queue, tag, enqueuedSince }: OperationFilter): {
  readonly [Field in "runId" | "kind" | "queue" | "tag" | "sinceId"]: string | null;
} {
  return {
    runId: runId ?? null,
    kind: kind ?? null,
    queue: queue ?? null,
    tag: tag ?? null,
    sinceId: enqueuedSince === undefined ? null : firstIdAt(enqueuedSince),
  };
}

async function lookAtIds(
  tx: Transaction,
  ids: readonly string[],
  { afterId, limit }: LookRequest,
): Promise<OperationLook> {
  const bite = ids.filter((id) => id > afterId).slice(0, limit);
  const rows = await tx.query(
    sql<MetRow>("lookAtIds")`
      SELECT id AS "taskRunId", task_id AS "taskId", run_id AS "runId", kind, queue, priority, status,
             NOT EXISTS (SELECT FROM signalbox.task_run AS later
                          WHERE later.task_id = t.task_id AND later.attempt > t.attempt) AS "isNewest",
             cancel_requested_at IS NOT NULL AS "isCanceling"
        FROM signalbox.task_run AS t
       WHERE id = ANY (${bite}::uuid[])
       ORDER BY id
    `,
  );
  const known = new Set(rows.map(({ taskRunId }) => taskRunId));
  return {
    met: rows.map(toMet),
    unknownIds: bite.filter((id) => !known.has(id)),
    next: bite.length < limit ? null : (bite.at(-1) ?? null),
  };
}

/** From task to task. What was asked to stop is left out: whoever looks again must not meet it twice. */
async function lookInRun(
  tx: Transaction,
  { verb, filter, afterId, beforeId, limit }: LookRequest,
): Promise<OperationLook> {
  const wanted = wantedOf(filter);
  const rows = await tx.query(
    sql<(MetRow | { readonly taskRunId: null }) & { readonly at: string }>("lookInRun")`
      SELECT k.id AS at, t.id AS "taskRunId", t.task_id AS "taskId", t.run_id AS "runId", t.kind, t.queue, t.priority, t.status,
             NOT EXISTS (SELECT FROM signalbox.task_run AS later
                          WHERE later.task_id = t.task_id AND later.attempt > t.attempt) AS "isNewest",
             false AS "isCanceling"
        FROM (SELECT id, tags
                FROM signalbox.task
               WHERE run_id = ${wanted.runId} AND id > ${afterId}::uuid AND id < ${beforeId}::uuid
               ORDER BY id
               LIMIT ${limit}) AS k
        LEFT JOIN LATERAL (
             SELECT *
               FROM signalbox.task_run
              WHERE task_id = k.id
                AND status = ANY (${statusesFor(verb, filter)}::text[])
                AND (status <> 'RUNNING' OR cancel_requested_at IS NULL)
                AND (${wanted.kind}::text IS NULL OR kind = ${wanted.kind}::text)
                AND (${wanted.queue}::text IS NULL OR queue = ${wanted.queue}::text)
                AND (${wanted.tag}::text IS NULL OR k.tags @> ARRAY[${wanted.tag}::text])
                AND (${wanted.sinceId}::uuid IS NULL OR id >= ${wanted.sinceId}::uuid)) AS t ON true
       ORDER BY k.id, t.attempt
    `,
  );
  const met = rows.filter((row): row is MetRow & { readonly at: string } => row.taskRunId !== null);
  const tasks = new Set(rows.map(({ at }) => at)).size;
  return { met: met.map(toMet), unknownIds: [], next: tasks < limit ? null : (rows.at(-1)?.at ?? null) };
}

/**
 * Also later attempts of tasks that were there: whoever cancels a task does not want it to go on with another one. What was
 * asked to stop is left out, as in a run.
 */
async function lookAtOpen(
  tx: Transaction,
  { verb, filter, afterId, beforeId, limit }: LookRequest,
): Promise<OperationLook> {
  const wanted = wantedOf(filter);
  const statuses = statusesFor(verb, filter);
  const rows = await tx.query(
    sql<MetRow>("lookAtOpen")`
      SELECT t.id AS "taskRunId", t.task_id AS "taskId", t.run_id AS "runId", t.kind, t.queue, t.priority, t.status,
             true AS "isNewest", false AS "isCanceling"
        FROM (SELECT DISTINCT id          -- in order, so that no more rows are looked at than are wanted
                FROM (SELECT task_run_id AS id FROM signalbox.waiting
                       WHERE 'PENDING' = ANY (${statuses}::text[])
                         AND (${wanted.kind}::text IS NULL OR kind = ${wanted.kind}::text)
                         AND (${wanted.queue}::text IS NULL OR queue = ${wanted.queue}::text)
                      UNION ALL
                      SELECT task_run_id FROM signalbox.ready
                       WHERE 'AVAILABLE' = ANY (${statuses}::text[])
                         AND (${wanted.kind}::text IS NULL OR kind = ${wanted.kind}::text)
                         AND (${wanted.queue}::text IS NULL OR queue = ${wanted.queue}::text)
                      UNION ALL
                      SELECT unnest(task_run_ids) FROM signalbox.claim_batch WHERE 'RUNNING' = ANY (${statuses}::text[])
                      UNION ALL
                      SELECT task_run_id FROM signalbox.outside_job WHERE 'RUNNING' = ANY (${statuses}::text[])) AS active (id)
               WHERE id > ${afterId}::uuid
               ORDER BY id) AS active
       CROSS JOIN LATERAL (SELECT * FROM signalbox.task_run WHERE task_run.id = active.id OFFSET 0) AS t   -- never the other way round
       WHERE t.task_id < ${beforeId}::uuid
         AND t.status = ANY (${statuses}::text[]) AND t.cancel_requested_at IS NULL
         AND (${wanted.kind}::text IS NULL OR t.kind = ${wanted.kind}::text)
         AND (${wanted.queue}::text IS NULL OR t.queue = ${wanted.queue}::text)
         AND (${wanted.sinceId}::uuid IS NULL OR t.id >= ${wanted.sinceId}::uuid)
         AND (${wanted.tag}::text IS NULL
              OR EXISTS (SELECT FROM signalbox.task WHERE task.id = t.task_id AND tags @> ARRAY[${wanted.tag}::text]))
       ORDER BY active.id
       LIMIT ${limit}
    `,
  );
  return {
    met: rows.map(toMet),
    unknownIds: [],
    next: rows.length < limit ? null : (rows.at(-1)?.taskRunId ?? null),
  };
}

async function lookAtEnded(
  tx: Transaction,
  { verb, filter, afterId, beforeId, limit }: LookRequest,
): Promise<OperationLook> {
  const wanted = wantedOf(filter);
  const rows = await tx.query(
    sql<(MetRow | { readonly taskRunId: null }) & { readonly passedTo: string | null }>("lookAtEnded")`
      SELECT g.passed_to AS "passedTo", t.*
        FROM (SELECT (SELECT id
                        FROM signalbox.task_run
                       WHERE id > ${afterId}::uuid AND id < ${beforeId}::uuid
                       ORDER BY id
                      OFFSET ${PASSED_BY - 1} LIMIT 1) AS passed_to) AS g
        LEFT JOIN LATERAL (
             SELECT id AS "taskRunId", task_id AS "taskId", run_id AS "runId", kind, queue, priority, status,
                    NOT EXISTS (SELECT FROM signalbox.task_run AS later
                                 WHERE later.task_id = r.task_id AND later.attempt > r.attempt) AS "isNewest",
                    false AS "isCanceling"
               FROM signalbox.task_run AS r
              WHERE id > ${afterId}::uuid AND id < ${beforeId}::uuid
                -- Not "or is null", which the index could not stop at: all of the history would be read in every bite.
                AND id <= coalesce(g.passed_to, ${beforeId}::uuid)
                AND status = ANY (${statusesFor(verb, filter)}::text[])
                AND (${wanted.kind}::text IS NULL OR kind = ${wanted.kind}::text)
                AND (${wanted.queue}::text IS NULL OR queue = ${wanted.queue}::text)
                AND (${wanted.tag}::text IS NULL
                     OR EXISTS (SELECT FROM signalbox.task
                                 WHERE task.id = r.task_id AND tags @> ARRAY[${wanted.tag}::text]))
              ORDER BY id
              LIMIT ${limit}) AS t ON true
       ORDER BY t."taskRunId"
    `,
  );
  const met = rows.filter(
    (row): row is MetRow & { readonly passedTo: string | null } => row.taskRunId !== null,
  );
  const last = met.at(-1);
  const next = met.length < limit ? (rows[0]?.passedTo ?? null) : (last?.taskRunId ?? null);
  return { met: met.map(toMet), unknownIds: [], next };
}

function toMet({ taskRunId, taskId, runId, kind, queue, priority, status, ...looks }: MetRow): MetTaskRun {
  return {
    taskRunId: asTaskRunId(taskRunId),
    taskId: asTaskId(taskId),
    runId: runId === null ? null : asRunId(runId),
    kind,
    queue,
    priority,
    status,
    isNewest: looks.isNewest,
    isCanceling: looks.isCanceling,
  };
}
