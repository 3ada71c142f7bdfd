import { asTaskRunId, type TaskRunId } from "../../domain/ids.ts";
import type { ResourceName } from "../../domain/resource.ts";
import type { Transaction } from "../database.ts";
import { preparedSql, type Statement } from "../sql.ts";

/** Who goes on where somebody else has ended. */
interface HandedOff {
  readonly name: ResourceName;
  readonly taskRunId: TaskRunId;
  /** It waited for the version of the one who has ended: whoever waits for a larger one now waits for it. */
  readonly byVersion: boolean;
}

/** Whether and to whom task runs that have just ended, in this transaction, hand what they held alone. */
export type HandOff = (tx: Transaction, ended: readonly TaskRunId[]) => Promise<readonly HandedOff[]>;

export const toNobody: HandOff = async () => await Promise.resolve([]);

/**
 * PENDING → AVAILABLE without a pass: the resource goes from the one who had it alone straight to the next in line, where
 * nothing but this resource, or a version on it, keeps that one waiting. What is held only changes hands, so the gate lock
 * is not needed. The caller shares the claim lock: whoever closes a gate that is looked at here takes it alone.
 *
 * Nobody is waited for: what others are writing to at this moment is left to a pass, with a wake.
 */
export const handOff: HandOff = async (tx, ended) => {
  if (ended.length === 0) return [];
  const rows = await tx.query(handOffStatement(ended));
  return rows.map(({ name, taskRunId, byVersion }) => ({
    name,
    taskRunId: asTaskRunId(taskRunId),
    byVersion,
  }));
};

interface HandedOffRow {
  readonly name: string;
  readonly taskRunId: string;
  readonly byVersion: boolean;
}

function handOffStatement(ended: readonly TaskRunId[]): Statement<HandedOffRow> {
  return preparedSql<HandedOffRow>("handOff")`
    WITH freed AS MATERIALIZED (
      SELECT scope, substr(scope, length('resource:') + 1) AS name
        FROM signalbox.hold
       -- Not slot = 0: while the server takes holds for few, it would go through all of them by that.
       WHERE task_run_id = ANY (${ended}::uuid[]) AND slot IS NOT DISTINCT FROM 0
         AND left(scope, length('resource:')) = 'resource:'    -- not LIKE: it would go through the index of scopes
         AND reserved_for IS NULL                -- kept for a task since a loss: a pass decides
    ), next AS MATERIALIZED (
      SELECT freed.scope, freed.name, first.task_run_id, first.by_version
        FROM freed
       CROSS JOIN LATERAL (
             (SELECT w.task_run_id, true AS by_version
                FROM (SELECT *
                        FROM signalbox.waiting
                       WHERE blocked_on = 'VERSION_ORDER' AND blocked_key = freed.name
                       ORDER BY version, priority, enqueued_at, task_run_id
                       LIMIT 1) AS w
               WHERE NOT EXISTS (SELECT FROM signalbox.line WHERE line.name = freed.name)
                 -- No other with this version or a smaller one, wherever it waits or runs.
                 AND ARRAY(SELECT o.task_run_id FROM signalbox.open_version AS o
                            WHERE o.name = freed.name AND o.version <= w.version
                            ORDER BY o.version, o.task_run_id
                            LIMIT 2) = ARRAY[w.task_run_id]
                 AND NOT EXISTS (SELECT FROM signalbox.done_version AS d
                                  WHERE d.name = freed.name AND d.version > w.version))
             UNION ALL
             (SELECT l.task_run_id, false
                FROM (SELECT task_run_id, version
                        FROM signalbox.line
                       WHERE line.name = freed.name
                       ORDER BY priority, enqueued_at, task_run_id
                       LIMIT 1) AS l
               WHERE l.version IS NULL
                 -- One of these may come before it, now that a version has ended.
                 AND NOT EXISTS (SELECT FROM signalbox.waiting
                                  WHERE blocked_on = 'VERSION_ORDER' AND blocked_key = freed.name))
             LIMIT 1) AS first           -- there is never one of each, and the second need not be looked for
    ), locked AS MATERIALIZED (
      SELECT w.task_run_id
        FROM signalbox.waiting AS w
       WHERE w.task_run_id = ANY (ARRAY(SELECT task_run_id FROM next))
         AND w.blocked_on IN ('VERSION_ORDER', 'RESOURCE_BUSY')
         AND w.run_id IS NULL AND w.concurrency_key IS NULL AND w.rate IS NULL
         AND jsonb_array_length(w.resources) = 1
         AND w.resources->0->>'name' = w.blocked_key AND w.resources->0->>'mode' = 'exclusive'
         AND w.kind = ANY (ARRAY(SELECT unnest(kinds) FROM signalbox.instance
                                  WHERE state = 'LIVE' AND expires_at > clock_timestamp()))
         AND (SELECT slot_limit FROM signalbox.queue WHERE queue.name = w.queue) > 0 IS NOT TRUE
         AND (SELECT paused FROM signalbox.pause WHERE over = 'queue' AND name = w.queue) IS NOT TRUE
         AND (SELECT paused FROM signalbox.pause WHERE over = 'resource' AND name = w.blocked_key) IS NOT TRUE
         AND (SELECT windows FROM signalbox.start_window WHERE over = 'queue' AND name = w.queue) <> '[]' IS NOT TRUE
         AND (SELECT windows FROM signalbox.start_window WHERE over = 'resource' AND name = w.blocked_key) <> '[]' IS NOT TRUE
         AND (SELECT stop.task_id FROM signalbox.stop WHERE stop.task_id = w.task_id LIMIT 1) IS NULL
         FOR UPDATE OF w SKIP LOCKED
    ), promoted AS (
      UPDATE signalbox.task_run
         SET status = 'AVAILABLE', available_at = (SELECT clock_timestamp()), row_version = row_version + 1, gated = true,
             waited = (SELECT signalbox.add_wait(w.waited, w.blocked_on, w.blocked_since)
                         FROM signalbox.waiting AS w WHERE w.task_run_id = task_run.id)
       WHERE id = ANY (ARRAY(SELECT t.id
                               FROM signalbox.task_run AS t
                              WHERE t.id = ANY (ARRAY(SELECT task_run_id FROM locked)) AND t.status = 'PENDING'
                                FOR UPDATE SKIP LOCKED))
         AND status = 'PENDING'
      RETURNING id, kind, queue, priority, available_at
    ), gone AS (
      DELETE FROM signalbox.waiting WHERE task_run_id = ANY (ARRAY(SELECT id FROM promoted))
    ), entered AS (
      INSERT INTO signalbox.ready (kind, queue, priority, available_at, task_run_id, rules_no)
      SELECT kind, queue, priority, available_at, id,
             coalesce((SELECT rules_no FROM signalbox.queue WHERE queue.name = promoted.queue), 0)
        FROM promoted
    )
    UPDATE signalbox.hold
       SET task_run_id = next.task_run_id, since = clock_timestamp()
      FROM next
     -- ANY (ARRAY[…]), for the same reason: so that each is looked up, and not all of them compared with each.
     WHERE hold.scope = ANY (ARRAY[next.scope]) AND hold.slot IS NOT DISTINCT FROM 0
       AND next.task_run_id = ANY (ARRAY(SELECT id FROM promoted))
    RETURNING next.name, next.task_run_id AS "taskRunId", next.by_version AS "byVersion"
  `;
}
