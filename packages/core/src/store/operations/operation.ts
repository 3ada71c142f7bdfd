/** Operations as rows: asked for, taken by an instance for one bite, moved on, aborted, forgotten. */

import type { Asked } from "../../domain/asked.ts";
import { asOperationId, firstIdAt, type OperationId } from "../../domain/ids.ts";
import type {
  OperationExpectation,
  OperationFilter,
  OperationRequest,
  OperationVerb,
  SkipReason,
} from "../../domain/operation.ts";
import { type BiteResult, countReasons } from "../../domain/operation-rules.ts";
import type { Transaction } from "../database.ts";
import { sql } from "../sql.ts";
import { FIRST_PLACE } from "../task-runs/select.ts";

export async function insertOperation(
  tx: Transaction,
  { verb, filter }: OperationRequest,
  { by, reason }: Asked,
  expected: OperationExpectation,
): Promise<OperationId> {
  const { runId, enqueuedSince } = filter;
  // In a run it goes along the ids of its tasks, of which an old one may have a young task run.
  const from = runId === undefined && enqueuedSince !== undefined ? firstIdAt(enqueuedSince) : FIRST_PLACE;
  const [row] = await tx.query(
    sql<{ operationId: string }>("insertOperation")`
      INSERT INTO signalbox.operation (verb, filter, asked_by, reason, reached_id, expected)
      VALUES (${verb}, ${JSON.stringify(filter)}::jsonb, ${by}, ${reason}, ${from}::uuid, ${JSON.stringify(expected)}::jsonb)
      RETURNING id AS "operationId"
    `,
  );
  if (row === undefined) throw new Error("An operation was inserted and did not come back");
  return asOperationId(row.operationId);
}

/** An operation in the hands of one instance, for as long as its transaction. */
export interface TakenOperation extends OperationRequest {
  readonly operationId: OperationId;
  readonly by: string | null;
  readonly reason: string | null;
  readonly beforeId: string;
  readonly reachedId: string;
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>;
  readonly items: number;
}

interface TakenRow {
  readonly operationId: string;
  readonly verb: OperationVerb;
  readonly filter: StoredFilter;
  readonly by: string | null;
  readonly reason: string | null;
  readonly beforeId: string;
  readonly reachedId: string;
  readonly skipped: TakenOperation["skipped"];
  readonly items: number;
}

export type StoredFilter = Omit<OperationFilter, "enqueuedSince"> & { readonly enqueuedSince?: string };

export function toFilter({ enqueuedSince, ...rest }: StoredFilter): OperationFilter {
  return enqueuedSince === undefined ? rest : { ...rest, enqueuedSince: new Date(enqueuedSince) };
}

/** One that nobody else is at, that which had its last turn longest ago first. Null: there is none. */
export async function takeOperation(tx: Transaction): Promise<TakenOperation | null> {
  const [row] = await tx.query(
    sql<TakenRow>("takeOperation")`
      SELECT id AS "operationId", verb, filter, asked_by AS by, reason, before_id AS "beforeId", reached_id AS "reachedId",
             skipped, items
        FROM signalbox.operation
       WHERE status = 'RUNNING'
       ORDER BY turned_at, id
       LIMIT 1
         FOR UPDATE SKIP LOCKED
    `,
  );
  if (row === undefined) return null;
  return { ...row, operationId: asOperationId(row.operationId), filter: toFilter(row.filter) };
}

/** Of what could not be done so many are kept with why; the others are only counted. */
const KEPT_ITEMS = 1_000;

/** Where one bite has led to. */
export interface Stride {
  /** Null: to the end. */
  readonly reachedId: string | null;
  readonly result: BiteResult;
}

/**
 * In the transaction that has done the bite: either both are there after a crash, or neither is. Throws where the operation is
 * not RUNNING any more, which rolls the bite back.
 */
export async function moveOperation(
  tx: Transaction,
  { operationId, reachedId, skipped, items }: TakenOperation,
  stride: Stride,
): Promise<void> {
  const { done, failed } = stride.result;
  const kept = itemsOf(stride.result).slice(0, Math.max(0, KEPT_ITEMS - items));
  await insertItems(tx, operationId, items, kept);
  const moved = await tx.query(
    sql("moveOperation")`
      UPDATE signalbox.operation
         SET reached_id = ${stride.reachedId ?? reachedId}::uuid,
             done = done + ${done}::integer,
             failed = failed + ${failed.length}::integer,
             skipped = ${JSON.stringify(countReasons(skipped, stride.result.skipped))}::jsonb,
             items = items + ${kept.length}::integer,
             status = CASE WHEN ${stride.reachedId}::uuid IS NULL THEN 'DONE' ELSE 'RUNNING' END,
             ended_at = CASE WHEN ${stride.reachedId}::uuid IS NULL THEN clock_timestamp() END,
             turned_at = clock_timestamp(),
             problem = NULL,
             row_version = row_version + 1
       WHERE id = ${operationId} AND reached_id = ${reachedId}::uuid AND status = 'RUNNING'
      RETURNING id
    `,
  );
  if (moved.length === 0) throw new Error(`Operation ${operationId} was moved by somebody else`);
}

/** Its turn came to nothing: the others are next, and whoever asks is told. */
export async function passOver(tx: Transaction, operationId: OperationId, problem: string): Promise<void> {
  await tx.query(
    sql("passOver")`
      UPDATE signalbox.operation
         SET turned_at = clock_timestamp(), problem = ${problem}, row_version = row_version + 1
       WHERE id = ${operationId} AND status = 'RUNNING'
    `,
  );
}

interface NewItem {
  readonly taskRunId: string;
  readonly result: "skipped" | "failed";
  readonly reason: string;
  readonly detail: string | null;
}

function itemsOf({ skipped, failed }: BiteResult): readonly NewItem[] {
  return [
    ...skipped.map((each) => ({ ...each, result: "skipped" as const, detail: null })),
    ...failed.map((each) => ({ ...each, result: "failed" as const })),
  ];
}

async function insertItems(
  tx: Transaction,
  operationId: OperationId,
  before: number,
  items: readonly NewItem[],
): Promise<void> {
  if (items.length === 0) return;
  await tx.query(
    sql("insertOperationItems")`
      INSERT INTO signalbox.operation_item (operation_id, item_no, task_run_id, result, reason, detail)
      SELECT ${operationId}, ${before}::integer + g.no, g.task_run_id, g.result, g.reason, g.detail
        FROM unnest(${items.map(({ taskRunId }) => taskRunId)}::uuid[],
                    ${items.map(({ result }) => result)}::text[],
                    ${items.map(({ reason }) => reason)}::text[],
                    ${items.map(({ detail }) => detail)}::text[]) WITH ORDINALITY AS g (task_run_id, result, reason, detail, no)
    `,
  );
}

/** RUNNING → ABORTED. Waits for the bite that is under way. False: it was over. */
export async function abortOperation(
  tx: Transaction,
  operationId: OperationId,
  { by, reason }: Asked,
): Promise<boolean> {
  const rows = await tx.query(
    sql("abortOperation")`
      UPDATE signalbox.operation
         SET status = 'ABORTED', ended_at = clock_timestamp(), aborted_by = ${by}, abort_reason = ${reason},
             row_version = row_version + 1
       WHERE id = ${operationId} AND status = 'RUNNING'
      RETURNING id
    `,
  );
  return rows.length > 0;
}

/** Those that ended longest ago first, with their items. Answers how many are gone. */
export async function forgetOperations(tx: Transaction, keepMs: number, limit: number): Promise<number> {
  const gone = await tx.query(
    sql("forgetOperations")`
      DELETE FROM signalbox.operation
       WHERE id = ANY (ARRAY(
               SELECT id
                 FROM signalbox.operation
                WHERE ended_at < (SELECT clock_timestamp() - ${keepMs}::float8 * interval '1 ms')
                ORDER BY ended_at
                LIMIT ${limit}))
      RETURNING id
    `,
  );
  return gone.length;
}
