/**
 * What goes wrong, as the client sees it: a stable code, an HTTP status and one sentence.
 *
 * Whatever is not listed here is a bug: it is answered without details, and the caller logs it.
 */

import { STATUS_CODES } from "node:http";
import type { Problem } from "@signalbox/contract";
import { type ErrorCode, SchedulerError } from "@signalbox/core";

const HTTP_STATUS = {
  TASK_NOT_FOUND: 404,
  AMBIGUOUS_ID: 400,
  RUN_NOT_FOUND: 404,
  INSTANCE_NOT_FOUND: 404,
  OPERATION_NOT_FOUND: 404,
  UNKNOWN_EXECUTOR: 422,
  DUPLICATE_EXECUTOR: 500,
  INVALID_ARGUMENT: 422,
  INVALID_TASK: 422,
  INVALID_INPUT: 422,
  INVALID_VERSION: 422,
  INVALID_LIMIT: 422,
  INVALID_RULE: 422,
  UNKNOWN_RATE: 422,
  INVALID_WINDOW: 422,
  IDEMPOTENCY_KEY_REUSED: 409,
  INVALID_FILTER: 422,
  EMPTY_FILTER: 400,
  INVALID_TEXT: 422,
  NOT_RETRYABLE: 409,
  NOT_DEFERRABLE: 409,
  ALREADY_STARTED: 409,
  SCHEDULER_STOPPED: 503,
  DATABASE_UNREACHABLE: 503,
  DATABASE_REFUSED: 503,
  ANSWER_LOST: 503,
  TOO_SLOW: 503,
  DATABASE_TOO_OLD: 503,
  NOT_THE_PRIMARY: 503,
  SCHEMA_NOT_CURRENT: 503,
  SCHEMA_TOO_NEW: 503,
  MIGRATION_CHANGED: 503,
} as const satisfies Record<ErrorCode, number>;

const REQUEST_STATUS = {
  INVALID_REQUEST: 400,
  UNAUTHENTICATED: 401,
  FOREIGN_ORIGIN: 403,
  NO_SUCH_ROUTE: 404,
  REQUEST_TOO_SLOW: 408,
  BODY_TOO_LARGE: 413,
  ADDRESS_TOO_LONG: 414,
  UNSUPPORTED_MEDIA_TYPE: 415,
  FOREIGN_HOST: 421,
  TOO_MANY_REQUESTS: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL: 500,
  TOO_MANY_STREAMS: 503,
} as const;

type RequestErrorCode = keyof typeof REQUEST_STATUS;

/** A request that is refused before the scheduler sees it. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly code: RequestErrorCode;

  constructor(code: RequestErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

export interface JudgedError {
  readonly problem: Problem;
  /** Nobody foresaw it: log it with its stack. */
  readonly unexpected: boolean;
}

/** A sentence names what was sent, which may be as long as an address. */
const LONGEST_DETAIL = 1_000;

export function judgeError(error: unknown): JudgedError {
  if (error instanceof SchedulerError) {
    const code: ErrorCode = error.code;
    return foreseen(HTTP_STATUS[code], code, error.message);
  }
  if (error instanceof RequestError) return foreseen(REQUEST_STATUS[error.code], error.code, error.message);
  const ofServer = requestErrorOf(error);
  if (ofServer !== null) return judgeError(ofServer);
  const detail = "Something went wrong that nobody foresaw; the server's log says what";
  return { ...foreseen(500, "INTERNAL", detail), unexpected: true };
}

function foreseen(status: number, code: string, sentence: string): JudgedError {
  const title = STATUS_CODES[status] ?? "Error";
  const detail = sentence.length > LONGEST_DETAIL ? `${sentence.slice(0, LONGEST_DETAIL)}…` : sentence;
  return { problem: { type: "about:blank", title, status, code, detail }, unexpected: false };
}

/** Fastify refuses some requests by itself; its errors carry the HTTP status. */
function requestErrorOf(error: unknown): RequestError | null {
  if (!(error instanceof Error) || !("statusCode" in error)) return null;
  const { statusCode } = error;
  if (typeof statusCode !== "number" || statusCode < 400 || statusCode > 499) return null;
  if (statusCode === 413) return new RequestError("BODY_TOO_LARGE", "The body is larger than 1 MB");
  if (statusCode === 415) {
    return new RequestError(
      "UNSUPPORTED_MEDIA_TYPE",
      "The body must be JSON, with content-type: application/json",
    );
  }
  return new RequestError("INVALID_REQUEST", error.message);
}
