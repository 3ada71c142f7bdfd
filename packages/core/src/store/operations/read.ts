/** Operations as callers see them. */

import { DEFAULT_PAGE } from "../../domain/filter.ts";
import { asOperationId, asTaskRunId, type OperationId } from "../../domain/ids.ts";
import {
  OPERATION_STATUSES,
  type Operation,
  type OperationItem,
  type OperationItemFilter,
  type OperationItemPage,
  type OperationListFilter,
  type OperationPage,
} from "../../domain/operation.ts";
import type { Database } from "../database.ts";
import { sql } from "../sql.ts";
import { type StoredFilter, toFilter } from "./operation.ts";

type StoredOperation = Omit<Operation, "operationId" | "filter" | "aborted"> & {
  readonly operationId: string;
  readonly filter: StoredFilter;
  readonly abortedBy: string | null;
  readonly abortReason: string | null;
};

function toOperation({ abortedBy, abortReason, ...row }: StoredOperation): Operation {
  return {
    ...row,
    operationId: asOperationId(row.operationId),
    filter: toFilter(row.filter),
    aborted: row.status === "ABORTED" ? { by: abortedBy, reason: abortReason } : null,
  };
}

/** Null: there is none. */
export async function readOperation(db: Database, operationId: OperationId): Promise<Operation | null> {
  const [row] = await db.query(
    sql<StoredOperation>("readOperation")`
      SELECT id AS "operationId", verb, filter, asked_by AS by, reason, status, expected, done, skipped, failed,
             created_at AS "createdAt", ended_at AS "endedAt", aborted_by AS "abortedBy", abort_reason AS "abortReason",
             problem, row_version AS "rowVersion"
        FROM signalbox.operation
       WHERE id = ${operationId}::uuid
    `,
  );
  return row === undefined ? null : toOperation(row);
}

/** Newest first. */
export async function listOperations(
  db: Database,
  { status, limit, before }: OperationListFilter,
): Promise<OperationPage> {
  const size = limit ?? DEFAULT_PAGE;
  const rows = await db.query(
    sql<StoredOperation>("listOperations")`
      SELECT id AS "operationId", verb, filter, asked_by AS by, reason, status, expected, done, skipped, failed,
             created_at AS "createdAt", ended_at AS "endedAt", aborted_by AS "abortedBy", abort_reason AS "abortReason",
             problem, row_version AS "rowVersion"
        FROM signalbox.operation
       WHERE status = ANY (${status ?? OPERATION_STATUSES}::text[])
         AND (${before ?? null}::uuid IS NULL OR id < ${before ?? null}::uuid)
       ORDER BY id DESC
       LIMIT ${size + 1}
    `,
  );
  const operations = rows.slice(0, size).map(toOperation);
  return { operations, next: rows.length > size ? (operations.at(-1)?.operationId ?? null) : null };
}

export async function listOperationItems(
  db: Database,
  operationId: OperationId,
  { result, limit, after }: OperationItemFilter,
): Promise<OperationItemPage> {
  const size = limit ?? DEFAULT_PAGE;
  const rows = await db.query(
    sql<Omit<OperationItem, "taskRunId"> & { readonly taskRunId: string }>("listOperationItems")`
      SELECT i.item_no AS "itemNo", i.task_run_id AS "taskRunId", k.title, i.result, i.reason, i.detail
        FROM signalbox.operation_item AS i
        LEFT JOIN signalbox.task_run AS t ON t.id = i.task_run_id
        LEFT JOIN signalbox.task AS k ON k.id = t.task_id
       WHERE i.operation_id = ${operationId}::uuid AND i.item_no > ${after ?? 0}
         AND (${result ?? null}::text IS NULL OR i.result = ${result ?? null}::text)
       ORDER BY i.item_no
       LIMIT ${size + 1}
    `,
  );
  const items = rows.slice(0, size).map((row) => ({ ...row, taskRunId: asTaskRunId(row.taskRunId) }));
  return { items, next: rows.length > size ? (items.at(-1)?.itemNo ?? null) : null };
}
