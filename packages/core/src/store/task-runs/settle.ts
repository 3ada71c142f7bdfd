import {
  asRunId,
  asTaskId,
  asTaskRunId,
  type InstanceId,
  type RunId,
  type TaskRunId,
} from "../../domain/ids.ts";
import type { Settlement } from "../../domain/settlement.ts";
import type { TerminalStatus } from "../../domain/task-status.ts";
import type { Transaction } from "../database.ts";
import { forgetOutsideJobs } from "../outside-jobs/let-go.ts";
import { lockRuns } from "../runs/count-down.ts";
import { preparedSql, sql } from "../sql.ts";
import { closeTaskRuns, type EndedTaskRun } from "./close.ts";
import { type HandOff, handOff, toNobody } from "./hand-off.ts";

/** A settlement with the claim in whose name it is written. */
export interface SettleRequest {
  readonly taskRunId: TaskRunId;
  readonly claimNo: number;
  readonly claimedBy: InstanceId;
  readonly runId: RunId | null;
  readonly settlement: Settlement;
  /** Its executor may have kept a handle: the row of its outside job goes with it. */
  readonly outside: boolean;
}

export interface SettledTaskRun {
  readonly taskRunId: TaskRunId;
  /** CANCELED where a cancel was requested, whatever the settlement said; a success stays DONE. */
  readonly status: TerminalStatus;
  readonly nextTaskRunId: TaskRunId | null;
}

/**
 * RUNNING → DONE, FAILED or CANCELED, many at once, each fenced by its claim number and its owner. What is
 * missing in the answer is not ours any more: its result is void.
 */
export async function settleTaskRuns(
  tx: Transaction,
  given: readonly SettleRequest[],
): Promise<readonly SettledTaskRun[]> {
  return (await settleWith(tx, given, toNobody)).settled;
}

export interface Settled {
  readonly settled: readonly SettledTaskRun[];
  /** AVAILABLE since, with a resource that one of the settled had alone. */
  readonly handedOff: readonly TaskRunId[];
  readonly opensGates: boolean;
}

/** The same in a transaction that shares the claim lock: what is held alone goes straight to who is next. */
export async function settleAndHandOff(tx: Transaction, given: readonly SettleRequest[]): Promise<Settled> {
  return await settleWith(tx, given, handOff);
}

async function settleWith(tx: Transaction, given: readonly SettleRequest[], hand: HandOff): Promise<Settled> {
  const requests = inIdOrder(given);
  await lockRuns(
    tx,
    requests.flatMap(({ runId }) => (runId === null ? [] : [runId])),
  );
  const ended = await endClaims(tx, requests);
  const endedIds = new Set(ended.map(({ taskRunId }) => taskRunId));
  await storeResults(tx, requests, endedIds);
  await forgetOutsideJobs(
    tx,
    requests.flatMap(({ taskRunId, outside }) => (outside && endedIds.has(taskRunId) ? [taskRunId] : [])),
  );
  const next = new Map(requests.map(({ taskRunId, settlement }) => [taskRunId, settlement.nextAttempt]));
  const { nextIds, ...opened } = await closeTaskRuns(
    tx,
    // No new attempt where a cancel was requested: the row says CANCELED then.
    ended.map((row) => ({
      ...row,
      next: row.status === "FAILED" ? (next.get(row.taskRunId) ?? null) : null,
    })),
    hand,
  );
  const settled = ended.map(({ taskRunId, status }) => ({
    taskRunId,
    status,
    nextTaskRunId: nextIds.get(taskRunId) ?? null,
  }));
  return { settled, ...opened };
}

/** Nothing follows from it where it is not gated, in no run and not outside: no result, nothing given back, nothing counted. */
export function isPlainSuccess(settlement: Settlement): boolean {
  return settlement.status === "DONE" && !hasResult(settlement);
}

type OwnedClaim = Pick<SettleRequest, "taskRunId" | "claimNo">;

/**
 * The same as `settleTaskRuns` for plain successes under claims of one owner, by one statement that says no more than it
 * must: most tasks end like this. Passes over what is gated by now: a queue can get its first limit while it runs, and
 * its end has something to give back then. Answers those that have ended by it.
 */
export async function succeedTaskRuns(
  tx: Transaction,
  claimedBy: InstanceId,
  claims: readonly OwnedClaim[],
): Promise<readonly TaskRunId[]> {
  const [first] = claims;
  if (first === undefined) return [];
  const isOneClaim = claims.every(({ claimNo }) => claimNo === first.claimNo);
  const ids = isOneClaim
    ? await succeedUnderOneClaim(tx, claimedBy, claims, first.claimNo)
    : await succeedUnderClaims(tx, claimedBy, claims);
  // Nearly always all of them: that is said by saying nothing.
  return ids === null ? claims.map(({ taskRunId }) => taskRunId) : ids.map(asTaskRunId);
}

interface SucceededRow {
  /** Null: all that were given. */
  readonly ids: string[] | null;
}

/** What was claimed together and ends together, as short tasks do. The rows lie side by side in the index; a whole batch goes with them. */
async function succeedUnderOneClaim(
  tx: Transaction,
  claimedBy: InstanceId,
  claims: readonly OwnedClaim[],
  claimNo: number,
): Promise<SucceededRow["ids"]> {
  const [row] = await tx.query(
    preparedSql<SucceededRow>("succeedTaskRuns")`
      WITH ended AS (
        UPDATE signalbox.task_run AS t
           SET status = 'DONE', outcome = 'SUCCEEDED', finished_at = clock_timestamp(), row_version = row_version + 1
         WHERE t.id = ANY (${claims.map(({ taskRunId }) => taskRunId)}::uuid[])   -- in the order of the index: by id
           AND t.claim_no = ${claimNo} AND t.claimed_by = ${claimedBy} AND t.status = 'RUNNING' AND NOT t.gated
        RETURNING t.id
      ), forgotten AS (
        -- All that came with the claim has ended here: nobody has to look for it any more.
        DELETE FROM signalbox.claim_batch
         WHERE claim_no = ${claimNo} AND cardinality(task_run_ids) = (SELECT count(*) FROM ended)
      )
      SELECT CASE WHEN count(*) < ${claims.length} THEN coalesce(array_agg(id), '{}') END AS ids FROM ended
    `,
  );
  return row === undefined ? [] : row.ids;
}

async function succeedUnderClaims(
  tx: Transaction,
  claimedBy: InstanceId,
  given: readonly OwnedClaim[],
): Promise<SucceededRow["ids"]> {
  const claims = inIdOrder(given);
  const [row] = await tx.query(
    preparedSql<SucceededRow>("succeedMixedTaskRuns")`
      WITH ended AS (
        UPDATE signalbox.task_run AS t
           SET status = 'DONE', outcome = 'SUCCEEDED', finished_at = clock_timestamp(), row_version = row_version + 1
          FROM unnest(${claims.map(({ taskRunId }) => taskRunId)}::uuid[],
                      ${claims.map(({ claimNo }) => claimNo)}::bigint[]) AS g (id, claim_no)
         WHERE t.id = g.id
           AND t.claim_no = g.claim_no AND t.claimed_by = ${claimedBy} AND t.status = 'RUNNING' AND NOT t.gated
        RETURNING t.id
      )
      SELECT CASE WHEN count(*) < ${claims.length} THEN coalesce(array_agg(id), '{}') END AS ids FROM ended
    `,
  );
  return row === undefined ? [] : row.ids;
}

/** As every writer of task runs: a rescue of the same ones must not meet us half-way. */
function inIdOrder<Request extends OwnedClaim>(requests: readonly Request[]): readonly Request[] {
  return requests.toSorted((a, b) => (a.taskRunId < b.taskRunId ? -1 : 1));
}

async function endClaims(
  tx: Transaction,
  requests: readonly SettleRequest[],
): Promise<readonly Omit<EndedTaskRun, "next">[]> {
  const rows = await tx.query(
    preparedSql<{
      taskRunId: string;
      taskId: string;
      runId: string | null;
      status: TerminalStatus;
      gated: boolean;
    }>("settleTaskRuns")`
      UPDATE signalbox.task_run AS t
         SET status = CASE WHEN g.status = 'FAILED' AND t.cancel_requested_at IS NOT NULL THEN 'CANCELED' ELSE g.status END,
             outcome = CASE WHEN g.status = 'FAILED' AND t.cancel_requested_at IS NOT NULL THEN 'CANCELED' ELSE g.outcome END,
             finished_at = clock_timestamp(),
             row_version = row_version + 1
        FROM unnest(${requests.map(({ taskRunId }) => taskRunId)}::uuid[],
                    ${requests.map(({ claimNo }) => claimNo)}::bigint[],
                    ${requests.map(({ claimedBy }) => claimedBy)}::uuid[],
                    ${requests.map(({ settlement }) => settlement.status)}::text[],
                    ${requests.map(({ settlement }) => settlement.outcome)}::text[])
             AS g (id, claim_no, claimed_by, status, outcome)
       WHERE t.id = g.id
         AND t.claim_no = g.claim_no AND t.claimed_by = g.claimed_by
         AND t.status = 'RUNNING'
      RETURNING t.id AS "taskRunId", t.task_id AS "taskId", t.run_id AS "runId", t.status, t.gated
    `,
  );
  return rows.map((row) => ({
    taskRunId: asTaskRunId(row.taskRunId),
    taskId: asTaskId(row.taskId),
    runId: row.runId === null ? null : asRunId(row.runId),
    status: row.status,
    gated: row.gated,
  }));
}

export async function storeResults(
  tx: Transaction,
  requests: readonly Pick<SettleRequest, "taskRunId" | "settlement">[],
  ended: ReadonlySet<TaskRunId>,
): Promise<void> {
  const told = requests.filter(({ taskRunId, settlement }) => ended.has(taskRunId) && hasResult(settlement));
  if (told.length === 0) return;
  await tx.query(
    preparedSql("storeResults")`
      INSERT INTO signalbox.task_run_result (task_run_id, output, error)
      SELECT task_run_id, output::jsonb, error::jsonb
        FROM unnest(${told.map(({ taskRunId }) => taskRunId)}::uuid[],
                    ${told.map(({ settlement }) => toJson(settlement.output))}::text[],
                    ${told.map(({ settlement }) => toJson(settlement.error))}::text[]) AS g (task_run_id, output, error)
    `,
  );
}

/**
 * The same of those that are DONE under this claim, by a statement that went before in the transaction or by a commit whose
 * answer was lost: then it is stored already.
 */
export async function storeOutputsOfDone(
  tx: Transaction,
  { claimNo, claimedBy }: Pick<SettleRequest, "claimNo" | "claimedBy">,
  ended: readonly Pick<SettleRequest, "taskRunId" | "settlement">[],
): Promise<void> {
  const told = ended.filter(({ settlement }) => hasResult(settlement));
  if (told.length === 0) return;
  await tx.query(
    preparedSql("storeOutputsOfDone")`
      INSERT INTO signalbox.task_run_result (task_run_id, output)
      SELECT g.task_run_id, g.output::jsonb
        FROM unnest(${told.map(({ taskRunId }) => taskRunId)}::uuid[],
                    ${told.map(({ settlement }) => toJson(settlement.output))}::text[]) AS g (task_run_id, output)
       WHERE (SELECT t.status = 'DONE' AND t.claim_no = ${claimNo} AND t.claimed_by = ${claimedBy}
                FROM signalbox.task_run AS t WHERE t.id = g.task_run_id)
          ON CONFLICT (task_run_id) DO NOTHING
    `,
  );
}

function hasResult({ error, output }: Settlement): boolean {
  return error !== null || (output ?? null) !== null;
}

function toJson(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

/**
 * Of those that could not be settled: which had been before, under the same claim, by a commit whose answer was lost? What a
 * rescue wrote can look the same, and is told by whoever rescued.
 */
export async function findSettledBefore(
  tx: Transaction,
  requests: readonly Pick<SettleRequest, "taskRunId" | "claimNo">[],
): Promise<ReadonlyMap<TaskRunId, { readonly status: TerminalStatus; readonly outcome: string }>> {
  if (requests.length === 0) return new Map();
  const rows = await tx.query(
    sql<{ taskRunId: string; status: TerminalStatus; outcome: string }>("findSettledBefore")`
      SELECT t.id AS "taskRunId", t.status, t.outcome
        FROM unnest(${requests.map(({ taskRunId }) => taskRunId)}::uuid[],
                    ${requests.map(({ claimNo }) => claimNo)}::bigint[]) AS g (id, claim_no)
        JOIN signalbox.task_run AS t ON t.id = g.id
       WHERE t.claim_no = g.claim_no AND t.status IN ('DONE', 'FAILED', 'CANCELED')
         AND NOT EXISTS (SELECT FROM signalbox.event_store AS e
                          WHERE e.aggregate_id = t.id AND e.aggregate_version = t.row_version
                            AND e.type = 'task_run.rescued' AND t.status = 'FAILED')
    `,
  );
  return new Map(rows.map(({ taskRunId, ...end }) => [asTaskRunId(taskRunId), end]));
}
