/** Operations for those who ask for them: what one would do, its beginning, how far it is, and its end before its time. */

import { createHash } from "node:crypto";
import { resolveAsked } from "../domain/asked.ts";
import { canonicalJson } from "../domain/canonical-json.ts";
import { SchedulerError } from "../domain/errors.ts";
import { requireItemFilter, resolveOperationFilter, resolveOperationListFilter } from "../domain/filter.ts";
import { requireKey } from "../domain/idempotency.ts";
import { asStored, firstIdAt, isUuid, type OperationId } from "../domain/ids.ts";
import {
  OPERATION_VERBS,
  type Operation,
  type OperationFilter,
  type OperationPreview,
  type OperationRequest,
} from "../domain/operation.ts";
import { statusesFor, whyNot } from "../domain/operation-rules.ts";
import { requireId, requireMembers, requireOptions } from "../domain/require-shape.ts";
import { isGiven } from "../domain/shape.ts";
import type { TaskRun } from "../domain/task-run.ts";
import type { Pool, Transaction } from "../store/database.ts";
import { rememberAnswer, takeKey } from "../store/idempotency/keys.ts";
import { countMatching } from "../store/operations/count.ts";
import { abortOperation, insertOperation } from "../store/operations/operation.ts";
import { listOperationItems, listOperations, readOperation } from "../store/operations/read.ts";
import { listTaskRuns, loadTaskRuns } from "../store/task-runs/read.ts";
import { selectNewest } from "../store/task-runs/select.ts";
import { OPERATION_ITEM_OPTIONS, OPERATION_OPTIONS, OPERATION_REQUEST } from "./argument-shapes.ts";
import { lookByIndex } from "./bounded-pool.ts";
import type { Scheduler } from "./scheduler-face.ts";
import type { Wakeups } from "./wakeups.ts";

type Changes = Pick<Scheduler, "startOperation" | "abortOperation">;
type Reads = Pick<Scheduler, "previewOperation" | "getOperation" | "listOperations" | "listOperationItems">;

export function operationKeeper(pool: Pool, wakeups: Wakeups): Changes {
  return {
    startOperation: async (given, options) => {
      const request = resolveRequest(given);
      requireOptions("INVALID_ARGUMENT", options, OPERATION_OPTIONS);
      const { idempotencyKey, by, reason } = options ?? {};
      const asked = resolveAsked({ ...(isGiven(by) && { by }), ...(isGiven(reason) && { reason }) });
      const begin = async (tx: Transaction): Promise<OperationId> =>
        await insertOperation(tx, request, asked, await countMatching(tx, request.verb, request.filter));
      if (isGiven(idempotencyKey)) requireKey(idempotencyKey);
      const operation = await pool.transaction(async (tx) => {
        const operationId = isGiven(idempotencyKey)
          ? await oncePerKey(
              tx,
              idempotencyKey,
              canonicalJson({ operation: { ...request, ...asked } }),
              begin,
            )
          : await begin(tx);
        return await requireOperation(tx, operationId);
      });
      wakeups.send("signalbox_operation");
      return operation;
    },
    abortOperation: async (operationId, request) => {
      requireOperationId(operationId);
      const asked = resolveAsked(request);
      return await pool.transaction(async (tx) => {
        const changed = await abortOperation(tx, operationId, asked);
        if (!changed) await requireOperation(tx, operationId);
        return changed;
      });
    },
  };
}

export function operationReader(pool: Pool): Reads {
  return {
    previewOperation: async (given) => {
      const request = resolveRequest(given);
      return await lookByIndex(pool, async (tx) => await previewOnce(tx, request));
    },
    getOperation: async (operationId) => {
      requireOperationId(operationId);
      return await pool.snapshot(async (tx) => await requireOperation(tx, operationId));
    },
    listOperations: async (given) => {
      const filter = resolveOperationListFilter(given ?? {});
      return await pool.snapshot(async (tx) => await listOperations(tx, filter));
    },
    listOperationItems: async (operationId, filter) => {
      requireOperationId(operationId);
      requireOptions("INVALID_ARGUMENT", filter, OPERATION_ITEM_OPTIONS);
      requireItemFilter(filter ?? {});
      return await pool.snapshot(async (tx) => {
        await requireOperation(tx, operationId);
        return await listOperationItems(tx, operationId, filter ?? {});
      });
    },
  };
}

function resolveRequest(given: OperationRequest): OperationRequest {
  requireMembers("INVALID_ARGUMENT", "operation", given, OPERATION_REQUEST);
  const { verb, filter } = given;
  if (!OPERATION_VERBS.includes(verb))
    throw new SchedulerError("INVALID_ARGUMENT", {
      at: "verb",
      problem: `is none that there is; give ${OPERATION_VERBS.join(" or ")}`,
    });
  return { verb, filter: resolveOperationFilter(filter) };
}

/** Whoever presses twice has one operation: the second is told of the first, also where that is over by now. */
async function oncePerKey(
  tx: Transaction,
  key: string,
  request: string,
  begin: (tx: Transaction) => Promise<OperationId>,
): Promise<OperationId> {
  const hash = createHash("sha256").update(request).digest();
  const known = await takeKey<{ readonly operationId: OperationId }>(tx, key, hash);
  if (known.kind === "known") {
    if (!known.sameRequest) throw new SchedulerError("IDEMPOTENCY_KEY_REUSED", { key });
    return known.answer.operationId;
  }
  const operationId = await begin(tx);
  await rememberAnswer(tx, key, { operationId });
  return operationId;
}

async function requireOperation(tx: Transaction, operationId: OperationId): Promise<Operation> {
  const operation = await readOperation(tx, asStored(operationId));
  if (operation === null) throw new SchedulerError("OPERATION_NOT_FOUND", { operationId });
  return operation;
}

function requireOperationId(operationId: OperationId): void {
  requireId("operationId", operationId);
  if (!isUuid(operationId)) throw new SchedulerError("OPERATION_NOT_FOUND", { operationId });
}

/** So many are named in a dialog. */
const NAMED = 5;
/** Of the newest so many are looked at for them. */
const LOOKED_AT = 100;

async function previewOnce(tx: Transaction, { verb, filter }: OperationRequest): Promise<OperationPreview> {
  const expected = await countMatching(tx, verb, filter);
  const newest = await newestMatching(tx, { verb, filter });
  const last = await selectNewest(tx, [...new Set(newest.map(({ taskId }) => taskId))]);
  const isLast = new Set(last.map(({ taskRunId }) => taskRunId));
  const first = newest.filter(
    ({ taskRunId, status, cancelRequestedAt }) =>
      whyNot(verb, { status, isNewest: isLast.has(taskRunId), isCanceling: cancelRequestedAt !== null }) ===
      null,
  );
  return {
    verb,
    ...expected,
    first: first.slice(0, NAMED).map(({ taskRunId, title, status }) => ({ taskRunId, title, status })),
  };
}

async function newestMatching(
  tx: Transaction,
  { verb, filter }: OperationRequest,
): Promise<readonly TaskRun[]> {
  const { ids, enqueuedSince, ...conditions }: OperationFilter = filter;
  if (ids !== undefined) return await loadTaskRuns(tx, ids);
  const status = statusesFor(verb, filter);
  if (status.length === 0) return [];
  const { taskRuns } = await listTaskRuns(tx, { ...conditions, status, limit: LOOKED_AT });
  const sinceId = enqueuedSince === undefined ? "" : firstIdAt(enqueuedSince);
  return taskRuns.filter(({ taskRunId }) => taskRunId >= sinceId);
}
