/** What the last arguments of the calls look like; those of specs, rules and filters are with their domain. */

import type { AttemptFilter } from "../domain/attempts.ts";
import type { LogSearchOptions } from "../domain/log-search.ts";
import type { OperationItemFilter, OperationRequest } from "../domain/operation.ts";
import {
  abortSignal,
  anything,
  having,
  instant,
  number,
  objectOf,
  type Shape,
  text,
} from "../domain/shape.ts";
import type {
  DeferOptions,
  EnqueueManyOptions,
  EnqueueOptions,
  FollowLogOptions,
  OperationOptions,
  OverviewOptions,
  ReadLogOptions,
  ReadRulesOptions,
} from "./scheduler-face.ts";

const client = having("query", "function", "a pg client on which you sent BEGIN");

/** A pool sends each statement by whichever connection is free: what is enqueued would not be part of the transaction. */
const transaction: Shape = (value) => client(value) ?? (isPool(value) ? A_POOL : null);
const A_POOL = { at: "", problem: "is a pool; give the client of it on which you sent BEGIN" };

function isPool(value: unknown): boolean {
  return typeof value === "object" && value !== null && "totalCount" in value && "idleCount" in value;
}

export const ENQUEUE_OPTIONS: Shape = objectOf<EnqueueOptions>({ transaction, idempotencyKey: text });
export const ENQUEUE_MANY_OPTIONS: Shape = objectOf<EnqueueManyOptions>({
  transaction,
  idempotencyKey: text,
  run: objectOf<NonNullable<EnqueueManyOptions["run"]>>({ title: text, limit: number }, ["title"]),
});
export const READ_LOG_OPTIONS: Shape = objectOf<ReadLogOptions>({ from: number, limit: number });
export const SEARCH_LOG_OPTIONS: Shape = objectOf<LogSearchOptions>(
  { search: text, from: number, limit: number },
  ["search"],
);
export const ATTEMPT_OPTIONS: Shape = objectOf<AttemptFilter>({ limit: number, before: number });
export const READ_RULES_OPTIONS: Shape = objectOf<ReadRulesOptions>({ limit: number });
export const OVERVIEW_OPTIONS: Shape = objectOf<OverviewOptions>({ countUpTo: number });
export const FOLLOW_LOG_OPTIONS: Shape = objectOf<FollowLogOptions>({ from: number, signal: abortSignal });
export const CHECK_OPTIONS: Shape = objectOf<{ readonly since?: Date }>({ since: instant });
export const DEFER_OPTIONS: Shape = objectOf<DeferOptions>({
  runAt: instant,
  delayMs: number,
  by: text,
  reason: text,
});
export const OPERATION_REQUEST: Shape = objectOf<OperationRequest>({ verb: text, filter: anything }, [
  "verb",
  "filter",
]);
export const OPERATION_OPTIONS: Shape = objectOf<OperationOptions>({
  idempotencyKey: text,
  by: text,
  reason: text,
});
export const OPERATION_ITEM_OPTIONS: Shape = objectOf<OperationItemFilter>({
  result: text,
  limit: number,
  after: number,
});
