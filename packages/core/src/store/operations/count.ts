/** What the filter of an operation fits now, counted up to a bound: never by a look at the whole of a table. */

import type { OperationExpectation, OperationFilter, OperationVerb } from "../../domain/operation.ts";
import { type CountedGroup, expectationOf } from "../../domain/operation-rules.ts";
import { OPEN_STATUSES, TASK_RUN_STATUSES, type TaskRunStatus } from "../../domain/task-status.ts";
import type { Transaction } from "../database.ts";
import { sql } from "../sql.ts";
import { lookOn, wantedOf } from "./look.ts";

/** So many open ones, and so many of history from its newest on. */
const COUNTED = 100_000;

export async function countMatching(
  tx: Transaction,
  verb: OperationVerb,
  filter: OperationFilter,
): Promise<OperationExpectation> {
  if (filter.ids !== undefined) return await countIds(tx, verb, filter);
  if (filter.runId !== undefined) {
    const inRun = await countInRun(tx, filter);
    return expectationOf(verb, inRun, { unknownIds: 0, isCut: await isLongRun(tx, filter.runId) });
  }
  const statuses = filter.status ?? TASK_RUN_STATUSES;
  const open = statuses.filter((status) => OPEN_STATUSES.includes(status));
  const ended = statuses.filter((status) => !OPEN_STATUSES.includes(status));
  const countedOpen = open.length === 0 ? [] : await countOpen(tx, open, filter);
  const countedEnded = ended.length === 0 ? [] : await countEnded(tx, ended, filter);
  const isCut =
    (open.length > 0 && (await isLongBacklog(tx, open, filter))) ||
    (ended.length > 0 && (await isLongHistory(tx, filter)));
  return expectationOf(verb, [...countedOpen, ...countedEnded], { unknownIds: 0, isCut });
}

async function countIds(
  tx: Transaction,
  verb: OperationVerb,
  filter: OperationFilter,
): Promise<OperationExpectation> {
  const limit = filter.ids?.length ?? 0;
  const all = { afterId: "", beforeId: "", limit };
  const { met, unknownIds } = await lookOn(tx, { verb, filter, ...all });
  const each = met.map((taskRun) => ({ ...taskRun, count: 1 }));
  return expectationOf(verb, each, { unknownIds: unknownIds.length, isCut: false });
}

async function countInRun(tx: Transaction, filter: OperationFilter): Promise<readonly CountedGroup[]> {
  const wanted = wantedOf(filter);
  return await tx.query(
    sql<CountedGroup>("countInRun")`
      SELECT status, "isNewest", "isCanceling", count(*)::integer AS count
        FROM (SELECT t.status, t.cancel_requested_at IS NOT NULL AS "isCanceling",
                     NOT EXISTS (SELECT FROM signalbox.task_run AS later
                                  WHERE later.task_id = t.task_id AND later.attempt > t.attempt) AS "isNewest"
                FROM (SELECT id, tags FROM signalbox.task WHERE run_id = ${wanted.runId} ORDER BY id LIMIT ${COUNTED}) AS k
               CROSS JOIN LATERAL (SELECT * FROM signalbox.task_run WHERE task_id = k.id) AS t
               WHERE (${filter.status ?? null}::text[] IS NULL OR t.status = ANY (${filter.status ?? null}::text[]))
                 AND (${wanted.kind}::text IS NULL OR t.kind = ${wanted.kind}::text)
                 AND (${wanted.queue}::text IS NULL OR t.queue = ${wanted.queue}::text)
                 AND (${wanted.tag}::text IS NULL OR k.tags @> ARRAY[${wanted.tag}::text])
                 AND (${wanted.sinceId}::uuid IS NULL OR t.id >= ${wanted.sinceId}::uuid)) AS g
       GROUP BY status, "isNewest", "isCanceling"
    `,
  );
}

async function isLongRun(tx: Transaction, runId: string): Promise<boolean> {
  const rows = await tx.query(
    sql(
      "isLongRun",
    )`SELECT FROM signalbox.task WHERE run_id = ${runId}::uuid ORDER BY id OFFSET ${COUNTED} LIMIT 1`,
  );
  return rows.length > 0;
}

async function countOpen(
  tx: Transaction,
  statuses: readonly TaskRunStatus[],
  filter: OperationFilter,
): Promise<readonly CountedGroup[]> {
  const wanted = wantedOf(filter);
  return await tx.query(
    sql<CountedGroup>("countOpen")`
      SELECT status, true AS "isNewest", "isCanceling", count(*)::integer AS count
        FROM (SELECT DISTINCT t.id, t.status, t.cancel_requested_at IS NOT NULL AS "isCanceling"
                FROM (SELECT id FROM (SELECT task_run_id AS id FROM signalbox.waiting
                                       WHERE 'PENDING' = ANY (${statuses}::text[])
                                         AND (${wanted.kind}::text IS NULL OR kind = ${wanted.kind}::text)
                                         AND (${wanted.queue}::text IS NULL OR queue = ${wanted.queue}::text)
                                       LIMIT ${COUNTED}) AS waiting
                      UNION ALL
                      SELECT id FROM (SELECT task_run_id AS id FROM signalbox.ready
                                       WHERE 'AVAILABLE' = ANY (${statuses}::text[])
                                         AND (${wanted.kind}::text IS NULL OR kind = ${wanted.kind}::text)
                                         AND (${wanted.queue}::text IS NULL OR queue = ${wanted.queue}::text)
                                       LIMIT ${COUNTED}) AS ready
                      UNION ALL
                      SELECT unnest(task_run_ids) FROM signalbox.claim_batch WHERE 'RUNNING' = ANY (${statuses}::text[])
                      UNION ALL
                      SELECT task_run_id FROM signalbox.outside_job WHERE 'RUNNING' = ANY (${statuses}::text[])) AS active
               CROSS JOIN LATERAL (SELECT * FROM signalbox.task_run WHERE task_run.id = active.id OFFSET 0) AS t   -- never the other way round
               WHERE t.status = ANY (${statuses}::text[])
                 AND (${wanted.kind}::text IS NULL OR t.kind = ${wanted.kind}::text)
                 AND (${wanted.queue}::text IS NULL OR t.queue = ${wanted.queue}::text)
                 AND (${wanted.sinceId}::uuid IS NULL OR t.id >= ${wanted.sinceId}::uuid)
                 AND (${wanted.tag}::text IS NULL
                      OR EXISTS (SELECT FROM signalbox.task WHERE task.id = t.task_id AND tags @> ARRAY[${wanted.tag}::text]))) AS g
       GROUP BY status, "isCanceling"
    `,
  );
}

async function countEnded(
  tx: Transaction,
  statuses: readonly TaskRunStatus[],
  filter: OperationFilter,
): Promise<readonly CountedGroup[]> {
  const wanted = wantedOf(filter);
  return await tx.query(
    sql<CountedGroup>("countEnded")`
      SELECT status, "isNewest", false AS "isCanceling", count(*)::integer AS count
        FROM (SELECT t.status,
                     t.status = 'DONE' OR NOT EXISTS (SELECT FROM signalbox.task_run AS later
                                                       WHERE later.task_id = t.task_id AND later.attempt > t.attempt) AS "isNewest"
                FROM (SELECT *
                        FROM signalbox.task_run
                       WHERE ${wanted.sinceId}::uuid IS NULL OR id >= ${wanted.sinceId}::uuid
                       ORDER BY id DESC
                       LIMIT ${COUNTED}) AS t
               WHERE t.status = ANY (${statuses}::text[])
                 AND (${wanted.kind}::text IS NULL OR t.kind = ${wanted.kind}::text)
                 AND (${wanted.queue}::text IS NULL OR t.queue = ${wanted.queue}::text)
                 AND (${wanted.tag}::text IS NULL
                      OR EXISTS (SELECT FROM signalbox.task WHERE task.id = t.task_id AND tags @> ARRAY[${wanted.tag}::text]))) AS g
       GROUP BY status, "isNewest"
    `,
  );
}

/** What waits or is AVAILABLE is more than is counted. How many run is bounded by the slots. */
async function isLongBacklog(
  tx: Transaction,
  statuses: readonly TaskRunStatus[],
  filter: OperationFilter,
): Promise<boolean> {
  const wanted = wantedOf(filter);
  const rows = await tx.query(
    sql("isLongBacklog")`
      SELECT
        FROM ((SELECT FROM signalbox.waiting
                WHERE 'PENDING' = ANY (${statuses}::text[])
                  AND (${wanted.kind}::text IS NULL OR kind = ${wanted.kind}::text)
                  AND (${wanted.queue}::text IS NULL OR queue = ${wanted.queue}::text)
               OFFSET ${COUNTED} LIMIT 1)
              UNION ALL
              (SELECT FROM signalbox.ready
                WHERE 'AVAILABLE' = ANY (${statuses}::text[])
                  AND (${wanted.kind}::text IS NULL OR kind = ${wanted.kind}::text)
                  AND (${wanted.queue}::text IS NULL OR queue = ${wanted.queue}::text)
               OFFSET ${COUNTED} LIMIT 1)) AS beyond
    `,
  );
  return rows.length > 0;
}

async function isLongHistory(tx: Transaction, { enqueuedSince }: OperationFilter): Promise<boolean> {
  const { sinceId } = wantedOf(enqueuedSince === undefined ? {} : { enqueuedSince });
  const rows = await tx.query(
    sql("isLongHistory")`
      SELECT
        FROM signalbox.task_run
       WHERE ${sinceId}::uuid IS NULL OR id >= ${sinceId}::uuid
       ORDER BY id DESC
      OFFSET ${COUNTED} LIMIT 1
    `,
  );
  return rows.length > 0;
}
