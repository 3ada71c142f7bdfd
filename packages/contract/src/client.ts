/** A typed client on `fetch`. Every answer is read through its schema; every failure is one of two errors. */

import type { z } from "zod";
import { type CancelAnswer, type CancelRequest, cancelAnswerSchema } from "./cancel.ts";
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
  type TaskRunDetail,
  type TaskRunPage,
  type TaskRunQuery,
  taskRunDetailSchema,
  taskRunPageSchema,
} from "./task-run.ts";

export interface ClientOptions {
  /** How long one request may take. Default: 10000. */
  readonly timeoutMs?: number;
}

/** Every method rejects with a `ProblemError` (the server says no) or an `UnreachableError` (no answer). */
export interface Client {
  readonly baseUrl: string;
  createTask(spec: TaskSpec): Promise<CreatedTask>;
  /** All or none. */
  createTasks(request: CreateTasks): Promise<CreatedTasks>;
  listTaskRuns(query?: TaskRunQuery): Promise<TaskRunPage>;
  /** Takes the id of a task or task run, or a unique prefix; so do the next two. */
  getTaskRun(id: string): Promise<TaskRunDetail>;
  explain(id: string): Promise<Explanation>;
  cancel(id: string, request?: CancelRequest): Promise<CancelAnswer>;
  overview(): Promise<Overview>;
  health(): Promise<Health>;
}

interface Call {
  readonly path: string;
  readonly body?: unknown;
}

type Send = <Schema extends z.ZodType>(schema: Schema, call: Call) => Promise<z.infer<Schema>>;

const TASK_RUNS = "/api/v1/task-runs";

/** `baseUrl` is the server's address without a path: http://127.0.0.1:7410 */
export function createClient(baseUrl: string, options: ClientOptions = {}): Client {
  const base = baseUrl.replace(/\/+$/, "");
  const send = sender(base, options.timeoutMs ?? 10_000);
  return {
    baseUrl: base,
    createTask: (spec) => send(createdTaskSchema, { path: TASK_RUNS, body: spec }),
    createTasks: (request) => send(createdTasksSchema, { path: TASK_RUNS, body: request }),
    listTaskRuns: (query = {}) => send(taskRunPageSchema, { path: `${TASK_RUNS}${queryString(query)}` }),
    getTaskRun: (id) => send(taskRunDetailSchema, { path: `${TASK_RUNS}/${encodeURIComponent(id)}` }),
    explain: (id) => send(explanationSchema, { path: `${TASK_RUNS}/${encodeURIComponent(id)}/explanation` }),
    cancel: (id, request = {}) =>
      send(cancelAnswerSchema, { path: `${TASK_RUNS}/${encodeURIComponent(id)}/cancel`, body: request }),
    overview: () => send(overviewSchema, { path: "/api/v1/overview" }),
    health: () => send(healthSchema, { path: "/healthz" }),
  };
}

function sender(base: string, timeoutMs: number): Send {
  return async (schema, { path, body }) => {
    const { status, json } = await exchange(base, path, {
      ...requestOf(body),
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

function requestOf(body: unknown): RequestInit {
  if (body === undefined) return {};
  return { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
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
