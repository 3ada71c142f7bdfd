import { asTaskRunId, type InstanceId, type RunId, type TaskId, type TaskRunId } from "../../domain/ids.ts";
import type { RetryPolicy } from "../../domain/settlement.ts";
import { LAST_PRIORITY } from "../../domain/task-spec.ts";
import type { Database, Transaction } from "../database.ts";
import { preparedSql, type Statement, sql } from "../sql.ts";
import { type ClaimedRow, type KnownPolicy, knownPolicy, toClaims } from "./claim-answer.ts";

/** A task run that is ours, with all that execution needs: no read per task follows. */
export interface Claim {
  readonly taskRunId: TaskRunId;
  readonly taskId: TaskId;
  readonly runId: RunId | null;
  readonly kind: string;
  readonly title: string;
  readonly attempt: number;
  readonly interruptions: number;
  readonly deferrals: number;
  readonly gated: boolean;
  /** One number per claim statement. It rises, and is the fence. */
  readonly claimNo: number;
  readonly input: unknown;
  readonly policy: RetryPolicy;
  /** From its enqueueing, or its run time where that is later, to this claim. */
  readonly waitedMs: number;
  readonly availableMs: number;
  /** Set where it was let go and is to be polled. */
  readonly job: ClaimedJob | null;
}

export interface ClaimedJob {
  readonly handle: unknown;
  /** Its deadline had passed when it was taken, by the database's clock. */
  readonly overdue: boolean;
  readonly cancelRequested: boolean;
  /** From the claim that started it until it was taken. */
  readonly ranMs: number;
}

export interface ClaimRequest {
  readonly instanceId: InstanceId;
  readonly kinds: readonly string[];
  readonly freeSlots: number;
  /** Only what stands behind these, in these queues. Default, and null: everything. */
  readonly fronts?: readonly ReadyFront[] | null;
  /** The instance's own number of this request: by it reconcile knows a claim whose answer was lost. */
  readonly requestNo: number;
}

/** Where the tasks of a kind in a queue begin that a claim looks at. */
export interface ReadyFront {
  readonly kind: string;
  readonly queue: string;
  /** As the database wrote it, in JSON: whoever became AVAILABLE before this is not looked at. */
  readonly since: string;
  /** Nor whoever comes after this priority. */
  readonly upTo: number;
}

/** What a claim could have taken behind a front; `since` is where that begins. */
export interface Offer extends ReadyFront {
  /** Up to as many as there were free slots. */
  readonly count: number;
  /** The last priority among them; null: there were none. */
  readonly lastPriority: number | null;
}

export interface Claimed {
  readonly claims: readonly Claim[];
  readonly offers: readonly Offer[];
}

/**
 * AVAILABLE → RUNNING. Rows that another instance is taking are skipped, so two never get one. The guard
 * is inside: a row leaves the work set only if this instance is LIVE at that moment, and on the server on which the
 * numbers were raised before.
 */
export async function claimTaskRuns(tx: Transaction, request: ClaimRequest): Promise<Claimed> {
  const known = knownPolicy();
  const [row] = await tx.query(claimStatement(request, known));
  if (row === undefined) return { claims: [], offers: [] };
  const claims = row.taskRunIds === null ? [] : toClaims(row, row.taskRunIds, known);
  return { claims, offers: row.offers ?? [] };
}

function claimStatement(
  { instanceId, kinds, freeSlots, fronts = null, requestNo }: ClaimRequest,
  known: KnownPolicy | null,
): Statement<ClaimedRow> {
  const of = <Member extends keyof ReadyFront>(member: Member): readonly ReadyFront[Member][] =>
    (fronts ?? []).map((front) => front[member]);
  return preparedSql<ClaimedRow>("claimTaskRuns")`
    WITH RECURSIVE found (kind, queue) AS (         -- from one queue of a kind to the next, each by one look at the index
      SELECT g.kind, (SELECT min(queue) FROM signalbox.ready WHERE ready.kind = g.kind)
        FROM unnest(${fronts === null ? kinds : []}::text[]) AS g (kind)
      UNION ALL
      SELECT f.kind, (SELECT min(queue) FROM signalbox.ready WHERE ready.kind = f.kind AND ready.queue > f.queue)
        FROM found AS f
       WHERE f.queue IS NOT NULL
    ), served (kind, queue, since, up_to) AS (
      SELECT kind, queue, timestamptz '-infinity', ${LAST_PRIORITY}::smallint FROM found WHERE queue IS NOT NULL
      UNION ALL
      SELECT * FROM unnest(${of("kind")}::text[], ${of("queue")}::text[], ${of("since")}::timestamptz[], ${of("upTo")}::smallint[])
    ), offered AS MATERIALIZED (        -- once, before any is taken: asked again for each row, the limit would hold for each by itself
      SELECT s.kind, s.queue, r.ctid AS place, r.priority, r.available_at, r.task_run_id,
             -- First in first out within a queue; between queues by weight. Who begins is drawn by lot: the heaviest would get each single slot.
             (row_number() OVER line - 1 + first_value(r.lot) OVER line) / coalesce(q.weight, 1)::float8 AS turn
        FROM served AS s
        LEFT JOIN signalbox.queue AS q ON q.name = s.queue
       CROSS JOIN LATERAL (
             SELECT ctid, priority, available_at, task_run_id, -ln(1 - random()) AS lot
               FROM signalbox.ready
              WHERE ready.kind = s.kind AND ready.queue = s.queue
                -- Under older rules (no limit, no pause, no window) it may not start any more.
                AND ready.rules_no = coalesce(q.rules_no, 0)
                AND ready.priority <= s.up_to AND ready.available_at >= s.since
                AND ready.open_until > clock_timestamp()
                AND EXISTS (SELECT FROM signalbox.instance
                             WHERE boot_id = ${instanceId} AND state = 'LIVE'
                               AND expires_at > clock_timestamp()
                               AND timeline = signalbox.current_timeline())
              ORDER BY priority, available_at, task_run_id
              LIMIT ${freeSlots}
                FOR UPDATE SKIP LOCKED) AS r
      WINDOW line AS (PARTITION BY s.queue ORDER BY r.priority, r.available_at, r.task_run_id)
    ), taken AS (
      DELETE FROM signalbox.ready
       WHERE ctid = ANY (ARRAY(SELECT place
                                 FROM offered
                                ORDER BY turn, priority, available_at, task_run_id
                                LIMIT ${freeSlots}))
      RETURNING task_run_id
    ), claimed AS (
      UPDATE signalbox.task_run         -- ANY (ARRAY(…)), not a join: the planner must not be given a choice here
         SET status = 'RUNNING',
             claimed_by = ${instanceId},
             claimed_at = clock_timestamp(),
             claim_no = (SELECT nextval('signalbox.claim_no')),
             row_version = row_version + 1
       WHERE id = ANY (ARRAY(SELECT task_run_id FROM taken))
         AND status = 'AVAILABLE'
      RETURNING id, task_id, run_id, kind, attempt, interruptions, deferrals, gated, claim_no,
                claimed_at - greatest(enqueued_at, run_at) AS waited, claimed_at - available_at AS available
    ), batch AS (
      INSERT INTO signalbox.claim_batch (claim_no, instance_id, request_no, task_run_ids)
      SELECT claim_no, ${instanceId}, ${requestNo}, array_agg(id) FROM claimed GROUP BY claim_no
    ), woken AS (
      -- Fewer of its run are AVAILABLE now: those that wait for their share of it may go.
      INSERT INTO signalbox.gate_wake (key)
      SELECT DISTINCT 'run:' || run_id
        FROM claimed
       WHERE run_id IS NOT NULL
         AND EXISTS (SELECT FROM signalbox.waiting
                      WHERE blocked_on = 'FAIR_SHARE' AND blocked_key = claimed.run_id::text)
    )
    -- One row with a list for each member, and what is as with most of them is not said: this is read for every task. Not by array_agg, which looks for what to quote.
    SELECT min(c.claim_no) AS "claimNo", string_agg(c.id::text, ',') AS "taskRunIds", string_agg(c.task_id::text, ',') AS "taskIds",
           json_agg(c.run_id) AS "runIds", string_agg(CASE WHEN c.gated THEN 't' ELSE 'f' END, '') AS gated,
           json_agg(c.kind) AS kinds, json_agg(nullif(k.title, c.kind)) AS titles,
           json_agg(CASE WHEN c.attempt > 1 OR c.deferrals > 0
                         THEN json_build_array(c.attempt, c.interruptions, c.deferrals) END) AS counts,
           -- Not extract, whose numbers are of any length and take their time.
           json_agg(date_part('epoch', c.waited) * 1000) AS "waitedMs",
           json_agg(date_part('epoch', nullif(c.available, c.waited)) * 1000) AS "availableMs",
           json_agg(k.input) AS inputs, json_agg(nullif(k.policy, ${known === null ? null : known.text}::jsonb)) AS policies,
           (SELECT json_agg(json_build_object('kind', s.kind, 'queue', s.queue, 'since', coalesce(o.since, s.since), 'upTo', s.up_to,
                                              'count', coalesce(o.count, 0), 'lastPriority', o.last_priority))
              FROM served AS s
              LEFT JOIN (SELECT kind, queue, min(available_at) AS since, count(*), max(priority) AS last_priority
                           FROM offered
                          GROUP BY kind, queue) AS o ON o.kind = s.kind AND o.queue = s.queue) AS offers
      FROM claimed AS c
     CROSS JOIN LATERAL (SELECT title, input, policy FROM signalbox.task WHERE task.id = c.task_id LIMIT 1) AS k
  `;
}

/** Not a promise: others may be taking them at this moment. */
export async function isAnyReady(db: Database, kinds: readonly string[]): Promise<boolean> {
  const rows = await db.query(
    sql("isAnyReady")`
      WITH RECURSIVE served (kind, queue) AS (        -- as a claim goes through them
        SELECT g.kind, (SELECT min(queue) FROM signalbox.ready WHERE ready.kind = g.kind)
          FROM unnest(${kinds}::text[]) AS g (kind)
        UNION ALL
        SELECT s.kind, (SELECT min(queue) FROM signalbox.ready WHERE ready.kind = s.kind AND ready.queue > s.queue)
          FROM served AS s
         WHERE s.queue IS NOT NULL
      )
      SELECT
        FROM served AS s
        LEFT JOIN signalbox.queue AS q ON q.name = s.queue
       CROSS JOIN LATERAL (
             SELECT
               FROM signalbox.ready
              WHERE ready.kind = s.kind AND ready.queue = s.queue AND ready.rules_no = coalesce(q.rules_no, 0)
                AND ready.open_until > clock_timestamp()
              ORDER BY priority, available_at, task_run_id     -- by the index, also where all of them look alike
              LIMIT 1) AS r
       LIMIT 1
    `,
  );
  return rows.length > 0;
}

export interface RunningRow {
  readonly taskRunId: TaskRunId;
  readonly claimNo: number;
  readonly requestNo: number;
  readonly cancelRequested: boolean;
  /** It has started, and whoever polls can go on with it: it was let go, or kept a handle to be resumed by. */
  readonly goesOnOutside: boolean;
}

/** What the database says this instance is running. */
export async function listRunning(tx: Transaction, instanceId: InstanceId): Promise<readonly RunningRow[]> {
  const rows = await tx.query(
    sql<Omit<RunningRow, "taskRunId" | "claimNo"> & { taskRunId: string; claimNo: string }>("listRunning")`
      SELECT t.id AS "taskRunId", b.claim_no AS "claimNo", b.request_no AS "requestNo",
             t.cancel_requested_at IS NOT NULL AS "cancelRequested",
             EXISTS (SELECT FROM signalbox.outside_job AS j
                      WHERE j.task_run_id = t.id
                        AND (t.let_go_at IS NOT NULL
                             OR (SELECT policy->>'onLost' FROM signalbox.task WHERE task.id = t.task_id) = 'resume'))
             AS "goesOnOutside"
        FROM signalbox.claim_batch AS b
       CROSS JOIN LATERAL unnest(b.task_run_ids) AS g (id)
        JOIN signalbox.task_run AS t ON t.id = g.id
       WHERE b.instance_id = ${instanceId}
         AND t.status = 'RUNNING' AND t.claim_no = b.claim_no AND t.claimed_by = ${instanceId}
    `,
  );
  return rows.map((row) => ({ ...row, taskRunId: asTaskRunId(row.taskRunId), claimNo: Number(row.claimNo) }));
}

/** Batches of which nothing runs any more are only in the way of reconcile and rescue. */
export async function forgetEndedBatches(tx: Transaction, instanceId: InstanceId): Promise<void> {
  await tx.query(
    sql("forgetEndedBatches")`
      DELETE FROM signalbox.claim_batch AS b
       WHERE b.instance_id = ${instanceId}
         AND NOT EXISTS (SELECT FROM signalbox.task_run AS t
                          WHERE t.id = ANY (b.task_run_ids)
                            AND t.status = 'RUNNING' AND t.claim_no = b.claim_no AND t.claimed_by = b.instance_id)
    `,
  );
}

/** The same for these, of which nothing runs by what their instance remembers. A failover may have undone what it recorded. */
export async function forgetBatches(tx: Transaction, claimNos: readonly number[]): Promise<void> {
  if (claimNos.length === 0) return;
  await tx.query(
    preparedSql("forgetBatches")`
      DELETE FROM signalbox.claim_batch AS b
       WHERE b.claim_no = ANY (${claimNos}::bigint[])
         AND NOT EXISTS (SELECT FROM signalbox.task_run AS t
                          WHERE t.id = ANY (b.task_run_ids)
                            AND t.status = 'RUNNING' AND t.claim_no = b.claim_no AND t.claimed_by = b.instance_id)
    `,
  );
}
