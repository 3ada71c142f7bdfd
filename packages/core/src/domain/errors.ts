/**
 * Every error a caller can get, with a stable code, typed details and its sentence in one table.
 * Anything else that is thrown is a bug.
 */

import { numberOrCalled } from "./called.ts";
import { shownName } from "./json-value.ts";

/** What each code carries. */
export interface ErrorDetails {
  /** `wanted`: only a task would do, no task run. */
  TASK_NOT_FOUND: { readonly id: string; readonly wanted?: "task" };
  AMBIGUOUS_ID: { readonly prefix: string; readonly matches: readonly string[] };
  RUN_NOT_FOUND: { readonly runId: string };
  INSTANCE_NOT_FOUND: { readonly instanceId: string };
  OPERATION_NOT_FOUND: { readonly operationId: string };
  UNKNOWN_EXECUTOR: { readonly kind: string; readonly known: readonly string[] };
  DUPLICATE_EXECUTOR: { readonly kind: string };
  INVALID_ARGUMENT: { readonly at: string; readonly problem: string };
  INVALID_TASK: { readonly at: string; readonly problem: string };
  INVALID_INPUT: { readonly kind: string; readonly at: string; readonly problem: string };
  INVALID_VERSION: { readonly version: string };
  INVALID_LIMIT: { readonly limit: unknown };
  INVALID_RULE: { readonly at: string; readonly problem: string };
  UNKNOWN_RATE: { readonly rates: readonly string[] };
  INVALID_WINDOW: { readonly at: string; readonly problem: string };
  IDEMPOTENCY_KEY_REUSED: { readonly key: string };
  INVALID_FILTER: { readonly problem: string };
  EMPTY_FILTER: { readonly conditions: string };
  INVALID_TEXT: { readonly at: string; readonly problem: string };
  NOT_RETRYABLE: { readonly id: string; readonly problem: string };
  NOT_DEFERRABLE: { readonly id: string; readonly problem: string };
  ALREADY_STARTED: { readonly instanceName: string };
  SCHEDULER_STOPPED: { readonly instanceName: string };
  /** `place`: host, port and database, never more of the URL. */
  DATABASE_UNREACHABLE: { readonly place: string; readonly problem: string };
  DATABASE_REFUSED: { readonly place: string; readonly problem: string };
  ANSWER_LOST: { readonly place: string; readonly problem: string };
  /** `remedy`: what to ask for instead. */
  TOO_SLOW: { readonly withinMs: number; readonly remedy: string };
  DATABASE_TOO_OLD: { readonly version: string };
  /** `timeline` is null on a standby. */
  NOT_THE_PRIMARY: { readonly timeline: number | null; readonly newest: number };
  SCHEMA_NOT_CURRENT: { readonly found: number; readonly needed: number };
  SCHEMA_TOO_NEW: { readonly found: number; readonly known: number };
  MIGRATION_CHANGED: { readonly name: string };
}

/** Stable: a code never changes its meaning. docs/reference/errors.md says what to do about each. */
export type ErrorCode = keyof ErrorDetails;

const MESSAGES: { readonly [Code in ErrorCode]: (details: ErrorDetails[Code]) => string } = {
  TASK_NOT_FOUND: ({ id, wanted }) =>
    wanted === "task"
      ? `No task has the id ${shownName(id)}; the id of a task is wanted, not of a task run`
      : `No task or task run has the id ${shownName(id)}`,
  AMBIGUOUS_ID: ({ prefix, matches }) =>
    `More than one task run begins with ${prefix} (${matches.join(", ")}); give more of the id`,
  RUN_NOT_FOUND: ({ runId }) => `No run has the id ${shownName(runId)}`,
  INSTANCE_NOT_FOUND: ({ instanceId }) =>
    `No instance has the id ${shownName(instanceId)}; a dead one is forgotten after a while`,
  OPERATION_NOT_FOUND: ({ operationId }) =>
    `No operation has the id ${shownName(operationId)}; one that has ended is forgotten after 30 days`,
  UNKNOWN_EXECUTOR: ({ kind, known }) =>
    `No executor is registered for "${kind}" (known: ${known.join(", ") || "none"})`,
  DUPLICATE_EXECUTOR: ({ kind }) =>
    `Two executors are registered for "${kind}"; give one of them another kind`,
  INVALID_ARGUMENT: ({ at, problem }) => `${at}: ${problem}`,
  INVALID_TASK: ({ at, problem }) => `${at}: ${problem}`,
  INVALID_INPUT: ({ kind, at, problem }) =>
    `The input of "${kind}" is not valid${at === "" ? "" : ` at ${at}`}: ${problem}`,
  INVALID_VERSION: ({ version }) =>
    `"${shownName(version)}" is not a version; use dotted integers such as 3 or 20261115.2`,
  INVALID_LIMIT: ({ limit }) =>
    `${numberOrCalled(limit)} is not a parallel limit; use a whole number, 0 for unlimited`,
  INVALID_RULE: ({ at, problem }) => `${at}: ${problem}`,
  UNKNOWN_RATE: ({ rates }) =>
    `No rate is called ${rates.map((rate) => `"${rate}"`).join(" or ")}; call setRate() before tasks name it`,
  INVALID_WINDOW: ({ at, problem }) => `${at}: ${problem}`,
  IDEMPOTENCY_KEY_REUSED: ({ key }) =>
    `The idempotency key ${key} was used for another request; use a new key for a new request`,
  INVALID_FILTER: ({ problem }) => `The filter ${problem}`,
  EMPTY_FILTER: ({ conditions }) =>
    `The filter of an operation is empty, which would mean everything; give ${conditions}`,
  INVALID_TEXT: ({ at, problem }) => `${at}: ${problem}`,
  NOT_RETRYABLE: ({ id, problem }) => `${id} cannot be retried: ${problem}`,
  NOT_DEFERRABLE: ({ id, problem }) => `${id} cannot be deferred: ${problem}`,
  ALREADY_STARTED: ({ instanceName }) =>
    `${instanceName} was started before; a scheduler starts once, so create a new one`,
  SCHEDULER_STOPPED: ({ instanceName }) => `${instanceName} was stopped; create a new scheduler`,
  DATABASE_UNREACHABLE: ({ place, problem }) => `The database at ${place} does not answer: ${problem}`,
  DATABASE_REFUSED: ({ place, problem }) => `The database at ${place} refuses: ${problem}`,
  ANSWER_LOST: ({ place, problem }) =>
    `The answer of the database at ${place} was lost (${problem}), so it is not known whether it happened; repeat the call, but an enqueue only with the idempotency key that it had, or look first`,
  TOO_SLOW: ({ withinMs, remedy }) =>
    `It took the database longer than ${withinMs / 1_000} s and was given up; ${remedy}`,
  DATABASE_TOO_OLD: ({ version }) => `PostgreSQL ${version} is too old; 14 or newer is needed`,
  NOT_THE_PRIMARY: ({ timeline, newest }) =>
    timeline === null
      ? "The database that answers is a standby; it can be used once it is promoted"
      : `The database that answers is an old primary (timeline ${timeline}, the newest is ${newest}); stop it or lead its name to the new one`,
  SCHEMA_NOT_CURRENT: ({ found, needed }) =>
    `The schema is at migration ${found} and ${needed} is needed; call migrate() first`,
  SCHEMA_TOO_NEW: ({ found, known }) =>
    `The schema is at migration ${found}, newer than the ${known} this version knows; upgrade this instance`,
  MIGRATION_CHANGED: ({ name }) =>
    `Migration ${name} was applied with another text than this version has; migrations are never edited`,
};

/** What a caller gave goes into a sentence only as far as it can be read. */

/** What the library throws: a stable `code`, its typed `details`, and one sentence. Anything else that is thrown is a bug. */
export class SchedulerError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = "SchedulerError";
  readonly code: Code;
  readonly details: ErrorDetails[Code];

  constructor(code: Code, details: ErrorDetails[Code], options?: ErrorOptions) {
    super(MESSAGES[code](details), options);
    this.code = code;
    this.details = details;
  }
}

export const ERROR_CODES: readonly ErrorCode[] = Object.keys(MESSAGES) as ErrorCode[];
