import { asTaskRunId, type InstanceId, type TaskRunId } from "../../domain/ids.ts";
import type { Transaction } from "../database.ts";
import { preparedSql, type Statement } from "../sql.ts";
import type { Claim } from "./claim.ts";
import { type ClaimedRow, type KnownPolicy, knownPolicy, toClaims } from "./claim-answer.ts";

export interface GoOnRequest {
  readonly instanceId: InstanceId;
  /** What the instance can execute. */
  readonly kinds: readonly string[];
  /** Successes under this one claim. */
  readonly taskRunIds: readonly TaskRunId[];
  readonly claimNo: number;
  /** As that of a claim: what is begun here is one. */
  readonly requestNo: number;
}

export interface WentOn {
  /** DONE by it. The others are as they were: they are settled as ever. */
  readonly ended: readonly TaskRunId[];
  /** RUNNING since, each in the place of one that has ended. */
  readonly claims: readonly Claim[];
}

const NOBODY: WentOn = { ended: [], claims: [] };

/**
 * RUNNING → DONE and, for who is next on the same resource, PENDING → AVAILABLE → RUNNING at the same instant: the resource and the
 * slot go on together, by one statement. Only where nothing else follows from the end than its output: a success of a
 * standalone task that holds one resource alone and nothing else, and whose next would be handed it (`hand-off.ts`) and may be
 * claimed by this instance (`claim.ts`): the guards of both, and `line-turns.db.test.ts` holds it to them. The caller shares the
 * claim lock. Nobody is waited for: what others are writing to at this moment is settled as ever.
 */
export async function goOnInLines(tx: Transaction, request: GoOnRequest): Promise<WentOn> {
  const known = knownPolicy();
  const [row] = await tx.query(goOnStatement(request, known));
  if (row === undefined || row.taskRunIds === null) return NOBODY;
  return {
    ended: row.ended === null ? request.taskRunIds : row.ended.map(asTaskRunId),
    claims: toClaims(row, row.taskRunIds, known),
  };
}

interface WentOnRow extends ClaimedRow {
  /** Null: all that were given. */
  readonly ended: readonly string[] | null;
}

// oxlint-disable-next-line max-lines-per-function -- one statement: what it locks, and what it writes because of that
function goOnStatement(
  { instanceId, kinds, taskRunIds, claimNo, requestNo }: GoOnRequest,
  known: KnownPolicy | null,
): Statement<WentOnRow> {
  return preparedSql<WentOnRow>("goOnInLines")`
    WITH mine AS MATERIALIZED (
      SELECT t.id
        FROM signalbox.task_run AS t
       WHERE t.id = ANY (${taskRunIds}::uuid[])
         AND t.claim_no = ${claimNo} AND t.claimed_by = ${instanceId} AND t.status = 'RUNNING'
         AND t.gated AND t.run_id IS NULL
         AND EXISTS (SELECT FROM signalbox.instance
                      WHERE boot_id = ${instanceId} AND state = 'LIVE'
                        AND expires_at > clock_timestamp()
                        AND timeline = signalbox.current_timeline())
         FOR UPDATE SKIP LOCKED
    ), held AS MATERIALIZED (
      SELECT h.task_run_id AS holder, min(h.scope) AS scope, substr(min(h.scope), length('resource:') + 1) AS name
        FROM signalbox.hold AS h
       WHERE h.task_run_id = ANY (ARRAY(SELECT id FROM mine))
       GROUP BY h.task_run_id
      HAVING count(*) = 1                        -- nothing else, which would have to be given back
         AND min(h.slot) = 0
         AND left(min(h.scope), length('resource:')) = 'resource:'
         AND count(h.reserved_for) = 0           -- kept for a task since a loss: a pass decides
    ), next AS MATERIALIZED (
      SELECT held.holder, held.scope, first.task_run_id
        FROM held
       CROSS JOIN LATERAL (
             (SELECT w.task_run_id
                FROM (SELECT *
                        FROM signalbox.waiting
                       WHERE blocked_on = 'VERSION_ORDER' AND blocked_key = held.name
                       ORDER BY version, priority, enqueued_at, task_run_id
                       LIMIT 1) AS w
               WHERE NOT EXISTS (SELECT FROM signalbox.line WHERE line.name = held.name)
                 -- The one that ends, then this one, and no other with this version or a smaller one, wherever it waits or runs.
                 AND ARRAY(SELECT o.task_run_id FROM signalbox.open_version AS o
                            WHERE o.name = held.name AND o.version <= w.version
                            ORDER BY o.version, o.task_run_id
                            LIMIT 3) = ARRAY[held.holder, w.task_run_id]
                 AND NOT EXISTS (SELECT FROM signalbox.done_version AS d
                                  WHERE d.name = held.name AND d.version > w.version))
             UNION ALL
             (SELECT l.task_run_id
                FROM (SELECT task_run_id, version
                        FROM signalbox.line
                       WHERE line.name = held.name
                       ORDER BY priority, enqueued_at, task_run_id
                       LIMIT 1) AS l
               WHERE l.version IS NULL
                 -- The end of a version is more than one that stands in line waits for.
                 AND NOT EXISTS (SELECT FROM signalbox.open_version AS o WHERE o.task_run_id = held.holder)
                 AND NOT EXISTS (SELECT FROM signalbox.waiting
                                  WHERE blocked_on = 'VERSION_ORDER' AND blocked_key = held.name))
             LIMIT 1) AS first           -- there is never one of each, and the second need not be looked for
    ), locked AS MATERIALIZED (
      SELECT w.task_run_id
        FROM signalbox.waiting AS w
       WHERE w.task_run_id = ANY (ARRAY(SELECT task_run_id FROM next))
         AND w.blocked_on IN ('VERSION_ORDER', 'RESOURCE_BUSY')
         AND w.run_id IS NULL AND w.concurrency_key IS NULL AND w.rate IS NULL
         AND jsonb_array_length(w.resources) = 1
         AND w.resources->0->>'name' = w.blocked_key AND w.resources->0->>'mode' = 'exclusive'
         AND w.kind = ANY (${kinds}::text[])
         AND (SELECT slot_limit FROM signalbox.queue WHERE queue.name = w.queue) > 0 IS NOT TRUE
         AND (SELECT paused FROM signalbox.pause WHERE over = 'queue' AND name = w.queue) IS NOT TRUE
         AND (SELECT paused FROM signalbox.pause WHERE over = 'resource' AND name = w.blocked_key) IS NOT TRUE
         AND (SELECT windows FROM signalbox.start_window WHERE over = 'queue' AND name = w.queue) <> '[]' IS NOT TRUE
         AND (SELECT windows FROM signalbox.start_window WHERE over = 'resource' AND name = w.blocked_key) <> '[]' IS NOT TRUE
         AND (SELECT stop.task_id FROM signalbox.stop WHERE stop.task_id = w.task_id LIMIT 1) IS NULL
         FOR UPDATE OF w SKIP LOCKED
    ), free AS MATERIALIZED (
      SELECT t.id
        FROM signalbox.task_run AS t
       WHERE t.id = ANY (ARRAY(SELECT task_run_id FROM locked)) AND t.status = 'PENDING'
         FOR UPDATE SKIP LOCKED
    ), going AS MATERIALIZED (             -- from here on every row is locked by us: all of it happens
      SELECT holder, scope, task_run_id
        FROM next
       -- Nearly always all of them: then nobody is looked up in the list, which is compared one by one.
       WHERE (SELECT count(*) FROM next) = (SELECT count(*) FROM free) OR task_run_id = ANY (ARRAY(SELECT id FROM free))
    ), moment AS MATERIALIZED (
      SELECT clock_timestamp() AS at       -- of the end and of the start: at no time are there two
    ), ended AS (
      UPDATE signalbox.task_run
         SET status = 'DONE', outcome = 'SUCCEEDED', finished_at = (SELECT at FROM moment), row_version = row_version + 1
       WHERE id = ANY (ARRAY(SELECT holder FROM going))
         AND status = 'RUNNING'
      RETURNING id
    ), begun AS (
      UPDATE signalbox.task_run
         SET status = 'RUNNING', gated = true,
             available_at = (SELECT at FROM moment),
             claimed_by = ${instanceId},
             claimed_at = (SELECT at FROM moment),
             claim_no = (SELECT nextval('signalbox.claim_no')),
             row_version = row_version + 2,         -- it became AVAILABLE, and was claimed
             waited = (SELECT signalbox.add_wait(w.waited, w.blocked_on, w.blocked_since)
                         FROM signalbox.waiting AS w WHERE w.task_run_id = task_run.id)
       WHERE id = ANY (ARRAY(SELECT task_run_id FROM going))
         AND status = 'PENDING'
      RETURNING id, task_id, kind, attempt, interruptions, deferrals, claim_no,
                claimed_at - greatest(enqueued_at, run_at) AS waited
    ), gone AS (
      DELETE FROM signalbox.waiting WHERE task_run_id = ANY (ARRAY(SELECT id FROM begun))
    ), moved AS (
      UPDATE signalbox.hold
         SET task_run_id = going.task_run_id, since = (SELECT at FROM moment)
        FROM going
       -- ANY (ARRAY[…]), so that each is looked up, and not all of them compared with each; and not slot = 0: while the server takes
       -- holds for few, it would go through all of them by that.
       WHERE hold.scope = ANY (ARRAY[going.scope]) AND hold.slot IS NOT DISTINCT FROM 0
    ), closed AS (
      DELETE FROM signalbox.open_version WHERE task_run_id = ANY (ARRAY(SELECT id FROM ended))
      RETURNING name, version
    ), noted AS (
      INSERT INTO signalbox.done_version AS d (name, version)
      SELECT name, version
        FROM closed
       ORDER BY name                    -- two that settle at once meet in the same order
          ON CONFLICT (name) DO UPDATE SET version = excluded.version WHERE d.version < excluded.version
    ), batch AS (
      INSERT INTO signalbox.claim_batch (claim_no, instance_id, request_no, task_run_ids)
      SELECT min(claim_no), ${instanceId}, ${requestNo}, array_agg(id) FROM begun HAVING count(*) > 0
    ), forgotten AS (
      -- All that came with the claim has ended here: nobody has to look for it any more.
      DELETE FROM signalbox.claim_batch
       WHERE claim_no = ${claimNo} AND cardinality(task_run_ids) = (SELECT count(*) FROM ended)
    )
    SELECT CASE WHEN count(*) < ${taskRunIds.length} THEN ARRAY(SELECT id FROM ended) END AS ended,
           min(b.claim_no) AS "claimNo", string_agg(b.id::text, ',') AS "taskRunIds", string_agg(b.task_id::text, ',') AS "taskIds",
           json_agg(b.kind) AS kinds, json_agg(nullif(k.title, b.kind)) AS titles,
           json_agg(CASE WHEN b.attempt > 1 OR b.deferrals > 0
                         THEN json_build_array(b.attempt, b.interruptions, b.deferrals) END) AS counts,
           json_agg(date_part('epoch', b.waited) * 1000) AS "waitedMs", json_agg(0) AS "availableMs",
           json_agg(k.input) AS inputs, json_agg(nullif(k.policy, ${known === null ? null : known.text}::jsonb)) AS policies
      FROM begun AS b
     CROSS JOIN LATERAL (SELECT title, input, policy FROM signalbox.task WHERE task.id = b.task_id LIMIT 1) AS k
  `;
}
