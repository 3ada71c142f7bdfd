/** A typed client on `fetch`. Every answer is read through its schema; every failure is one of two errors. */

import type { z } from "zod";
import {
  type CancelAnswer,
  type CancelCounts,
  type CancelMany,
  type CancelRequest,
  cancelAnswerSchema,
  cancelCountsSchema,
} from "./cancel.ts";
import { ProblemError, UnreachableError } from "./client-error.ts";
import {
  type CreatedTask,
  type CreatedTasks,
  type CreateTasks,
  createdTaskSchema,
  createdTasksSchema,
  type TaskSpec,
} from "./create-task.ts";
import { type Explanation, explanationSchema } from "./explanation.ts";
import { type Health, healthSchema } from "./health.ts";
import { type Overview, overviewSchema } from "./overview.ts";
import { problemSchema } from "./problem.ts";
import {
  type Retried,
  type RetryCounts,
  type RetryMany,
  type RetryRequest,
  retriedSchema,
  retryCountsSchema,
} from "./retry.ts";
import {
  type TaskRunDetail,
  type TaskRunPage,
  type TaskRunQuery,
  taskRunDetailSchema,
  taskRunPageSchema,
} from "./task-run.ts";
import { eventsOf, type StreamEvent } from "./watch.ts";

export interface ClientOptions {
  /** How long one request may take. Default: 10000. */
  readonly timeoutMs?: number;
}

export interface CreateOptions {
  /**
   * Sent as the header `Idempotency-Key`: makes the request safe to repeat, also after an `UnreachableError`. The same
   * key with the same request answers what it answered the first time.
   */
  readonly idempotencyKey?: string;
}

/**
 * Every method rejects with a `ProblemError` (the server says no) or an `UnreachableError` (no answer); with a
 * `TypeError` what cannot be sent as JSON.
 */
export interface Client {
  readonly baseUrl: string;
  createTask(spec: TaskSpec, options?: CreateOptions): Promise<CreatedTask>;
  /** All or none. */
  createTasks(request: CreateTasks, options?: CreateOptions): Promise<CreatedTasks>;
  listTaskRuns(query?: TaskRunQuery): Promise<TaskRunPage>;
  /** Takes the id of a task or task run, or a unique prefix; so do the next three. */
  getTaskRun(id: string): Promise<TaskRunDetail>;
  explain(id: string): Promise<Explanation>;
  cancel(id: string, request?: CancelRequest): Promise<CancelAnswer>;
  retry(id: string, request?: RetryRequest): Promise<Retried>;
  cancelRun(runId: string, request?: CancelRequest): Promise<CancelCounts>;
  /** A call that breaks off has done a part of it and can be repeated; so the next. */
  cancelMany(request: CancelMany): Promise<CancelCounts>;
  retryMany(request: RetryMany): Promise<RetryCounts>;
  overview(): Promise<Overview>;
  health(): Promise<Health>;
  /**
   * Follows topics: paths of GET routes without `/api/v1/`, such as "overview" or "task-runs?status=RUNNING". Each is told
   * whole at first, then what has changed. Ends with the connection, or when `signal` is aborted.
   */
  watch(topics: readonly string[], options?: { readonly signal?: AbortSignal }): AsyncIterable<StreamEvent>;
}

interface Call {
  readonly path: string;
  readonly body?: unknown;
  readonly idempotencyKey?: string | undefined;
}

type Send = <Schema extends z.ZodType>(schema: Schema, call: Call) => Promise<z.infer<Schema>>;

const TASK_RUNS = "/api/v1/task-runs";

/** `baseUrl` is the server's address without a path: http://127.0.0.1:7410 */
export function createClient(baseUrl: string, options: ClientOptions = {}): Client {
  const base = baseUrl.replace(/\/+$/, "");
  const send = sender(base, options.timeoutMs ?? 10_000);
  return {
    baseUrl: base,
    createTask: (spec, { idempotencyKey } = {}) =>
      send(createdTaskSchema, { path: TASK_RUNS, body: spec, idempotencyKey }),
    createTasks: (request, { idempotencyKey } = {}) =>
      send(createdTasksSchema, { path: TASK_RUNS, body: request, idempotencyKey }),
    listTaskRuns: (query = {}) => send(taskRunPageSchema, { path: `${TASK_RUNS}${queryString(query)}` }),
    getTaskRun: (id) => send(taskRunDetailSchema, { path: `${TASK_RUNS}/${encodeURIComponent(id)}` }),
    explain: (id) => send(explanationSchema, { path: `${TASK_RUNS}/${encodeURIComponent(id)}/explanation` }),
    cancel: (id, request = {}) =>
      send(cancelAnswerSchema, { path: `${TASK_RUNS}/${encodeURIComponent(id)}/cancel`, body: request }),
    retry: (id, request = {}) =>
      send(retriedSchema, { path: `${TASK_RUNS}/${encodeURIComponent(id)}/retry`, body: request }),
    cancelRun: (runId, request = {}) =>
      send(cancelCountsSchema, { path: `/api/v1/runs/${encodeURIComponent(runId)}/cancel`, body: request }),
    cancelMany: (request) => send(cancelCountsSchema, { path: `${TASK_RUNS}/cancel`, body: request }),
    retryMany: (request) => send(retryCountsSchema, { path: `${TASK_RUNS}/retry`, body: request }),
    overview: () => send(overviewSchema, { path: "/api/v1/overview" }),
    health: () => send(healthSchema, { path: "/healthz" }),
    watch: (topics, { signal } = {}) => watch(base, topics, signal),
  };
}

async function* watch(
  base: string,
  topics: readonly string[],
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamEvent> {
  const query = new URLSearchParams(topics.map((topic): [string, string] => ["topic", topic]));
  const response = await answerOf(
    base,
    `/api/v1/stream?${query.toString()}`,
    signal === undefined ? {} : { signal },
  );
  if (!response.ok || response.body === null) throw refusal(base, response.status, await response.json());
  yield* eventsOf(base, response.body);
}

async function answerOf(base: string, path: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(new URL(path, base), request);
  } catch (cause) {
    throw new UnreachableError(base, whyNoAnswer(cause), { cause });
  }
}

function sender(base: string, timeoutMs: number): Send {
  return async (schema, { path, ...call }) => {
    const { status, json } = await exchange(base, path, {
      ...requestOf(call),
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (status >= 400) throw refusal(base, status, json);
    const answer = schema.safeParse(json);
    if (answer.success) return answer.data;
    throw new UnreachableError(base, "what answers there is not this version of Signalbox", {
      cause: answer.error,
    });
  };
}

function requestOf({ body, idempotencyKey }: Omit<Call, "path">): RequestInit {
  if (body === undefined) return {};
  const headers = {
    "content-type": "application/json",
    ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
  };
  return { method: "POST", headers, body: JSON.stringify(body, finite) };
}

/** JSON has no such number: null would arrive, and nobody would know. */
function finite(_: string, value: unknown): unknown {
  if (typeof value !== "number" || Number.isFinite(value)) return value;
  throw new TypeError(`${value} is not a JSON number; it would be sent as null`);
}

async function exchange(
  base: string,
  path: string,
  request: RequestInit,
): Promise<{ readonly status: number; readonly json: unknown }> {
  try {
    const response = await fetch(new URL(path, base), request);
    return { status: response.status, json: await response.json() };
  } catch (cause) {
    throw new UnreachableError(base, whyNoAnswer(cause), { cause });
  }
}

function refusal(base: string, status: number, json: unknown): Error {
  const problem = problemSchema.safeParse(json);
  if (problem.success) return new ProblemError(problem.data);
  return new UnreachableError(base, `what answers there is not Signalbox (HTTP ${status})`);
}

function whyNoAnswer(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return "no answer in time";
  if (error instanceof SyntaxError) return "what answers there is not Signalbox (no JSON)";
  // fetch says only "fetch failed"; what failed is its cause.
  const { cause } = error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return code === "ECONNREFUSED" ? "nothing listens there" : code || error.message;
}

function queryString(query: TaskRunQuery): string {
  const given = Object.entries(query).map(([name, value]) => [name, String(value)]);
  return given.length === 0 ? "" : `?${new URLSearchParams(Object.fromEntries(given)).toString()}`;
}
