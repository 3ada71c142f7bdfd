/** A typed client on `fetch`. Every answer is read through its schema; every failure is one of two errors. */

import type { About } from "./about.ts";
import type { Asked, Changed } from "./asked.ts";
import type { CancelAnswer, CancelCounts, CancelMany, CancelRequest } from "./cancel.ts";
import { clusterCalls, operationCalls, ruleCalls, taskRunCalls } from "./client-calls.ts";
import type { CreatedTask, CreatedTasks, CreateTasks, TaskSpec } from "./create-task.ts";
import type { DeferRequest, Deferred } from "./defer.ts";
import { createSender, openStream } from "./exchange.ts";
import type { Explanation } from "./explanation.ts";
import type { Health } from "./health.ts";
import type { InstanceDetail, InstanceList } from "./instance.ts";
import type { LogPage, LogQuery, LogSearch } from "./log.ts";
import type {
  Operation,
  OperationItemPage,
  OperationItemQuery,
  OperationPage,
  OperationPreview,
  OperationPreviewRequest,
  OperationQuery,
  OperationRequest,
} from "./operation.ts";
import type { Overview } from "./overview.ts";
import type { QueueList } from "./queue.ts";
import type { ResourceDetail, ResourcePage, ResourceQuery } from "./resource.ts";
import type { Retried, RetryCounts, RetryMany, RetryRequest } from "./retry.ts";
import type { QueueChange, Rate, RulesInForce, RulesQuery } from "./rules.ts";
import type { RunDetail, RunPage, RunQuery } from "./run.ts";
import type { AttemptPage, AttemptQuery, TaskRunDetail, TaskRunPage, TaskRunQuery } from "./task-run.ts";
import type { StreamEvent } from "./watch.ts";
import type { Pausable, Windowed, WindowSpec } from "./window.ts";

export interface ClientOptions {
  /** How long one request may take; a search in a log has at least 20 s. Default: 10000. */
  readonly timeoutMs?: number;
  /** Sent with every request as `Authorization: Bearer`. Default: none. */
  readonly token?: string;
}

export interface CreateOptions {
  /**
   * Sent as the header `Idempotency-Key`: makes the request safe to repeat, also after an `UnreachableError`. The same
   * key with the same request answers what it answered the first time.
   */
  readonly idempotencyKey?: string;
}

/**
 * What came too often (429) is sent again up to five times, as late as the server asks for; it had done nothing.
 * Every method rejects with a `ProblemError` (the server says no) or an `UnreachableError` (no answer); with a
 * `TypeError` what cannot be sent: no JSON, or a name that cannot be part of an address (empty, "." or "..").
 */
export interface Client extends TaskRunCalls, OperationCalls, RuleCalls, ClusterCalls {
  readonly baseUrl: string;
  /**
   * Follows topics: paths of GET routes without `/api/v1/`, such as "overview" or "task-runs?status=RUNNING". Each is told
   * whole at first, then what has changed. Ends with the connection, or when `signal` is aborted.
   */
  watch(topics: readonly string[], options?: { readonly signal?: AbortSignal }): AsyncIterable<StreamEvent>;
}

export interface TaskRunCalls {
  createTask(spec: TaskSpec, options?: CreateOptions): Promise<CreatedTask>;
  /** All or none. */
  createTasks(request: CreateTasks, options?: CreateOptions): Promise<CreatedTasks>;
  listTaskRuns(query?: TaskRunQuery): Promise<TaskRunPage>;
  /** Takes the id of a task or task run, or a unique prefix; so do all others that take an `id`. */
  getTaskRun(id: string): Promise<TaskRunDetail>;
  explain(id: string): Promise<Explanation>;
  /** All task runs of the same task, newest first. */
  listAttempts(id: string, query?: AttemptQuery): Promise<AttemptPage>;
  readLog(id: string, query?: Omit<LogQuery, "search">): Promise<LogPage>;
  /** The lines of the whole log that contain this text, whatever its case. */
  searchLog(id: string, search: string, query?: Omit<LogQuery, "search">): Promise<LogSearch>;
  cancel(id: string, request?: CancelRequest): Promise<CancelAnswer>;
  retry(id: string, request?: RetryRequest): Promise<Retried>;
  /** Gives it another run time while it has not started. */
  defer(id: string, request: DeferRequest): Promise<Deferred>;
  cancelRun(runId: string, request?: CancelRequest): Promise<CancelCounts>;
  /** A call that breaks off has done a part of it and can be repeated; so the next. */
  cancelMany(request: CancelMany): Promise<CancelCounts>;
  retryMany(request: RetryMany): Promise<RetryCounts>;
}

/** A cancel or a retry of many, which instances carry on. */
export interface OperationCalls {
  /** With a key it may be repeated: the same request is one operation. */
  startOperation(request: OperationRequest, options?: CreateOptions): Promise<Operation>;
  /** What it would be about now. */
  previewOperation(request: OperationPreviewRequest): Promise<OperationPreview>;
  listOperations(query?: OperationQuery): Promise<OperationPage>;
  /** Takes a full id; so do the next two. */
  getOperation(operationId: string): Promise<Operation>;
  listOperationItems(operationId: string, query?: OperationItemQuery): Promise<OperationItemPage>;
  /** It goes on no further; what it has done stays. */
  abortOperation(operationId: string, request?: Asked): Promise<Changed>;
}

/** All of these may be repeated. */
export interface RuleCalls {
  /** 0: unlimited. */
  setRunLimit(runId: string, limit: number): Promise<void>;
  setQueue(queue: string, change: QueueChange): Promise<void>;
  /** Of one concurrency key, or with "customer:*" of every key that begins with "customer:". */
  setKeyLimit(concurrencyKey: string, limit: number): Promise<void>;
  setRate(rate: string, change: Rate): Promise<void>;
  /** Replaces all windows; an empty list takes them off. */
  setWindows(what: Windowed, windows: readonly WindowSpec[]): Promise<void>;
  pause(what: Pausable, request?: Asked): Promise<Changed>;
  resume(what: Pausable, request?: Asked): Promise<Changed>;
  /** Takes the full id of a task; so does the next. */
  putStop(taskId: string, code: string, detail?: string): Promise<void>;
  takeOffStop(taskId: string, code: string): Promise<Changed>;
  releaseReservation(resource: string, request?: Asked): Promise<Changed>;
}

export interface ClusterCalls {
  listRuns(query?: RunQuery): Promise<RunPage>;
  /** Takes a full id; so does `getInstance`. */
  getRun(runId: string): Promise<RunDetail>;
  readRules(query?: RulesQuery): Promise<RulesInForce>;
  listQueues(): Promise<QueueList>;
  listResources(query?: ResourceQuery): Promise<ResourcePage>;
  /** Any name is a resource: one that nobody has named is free. */
  getResource(resource: string): Promise<ResourceDetail>;
  listInstances(): Promise<InstanceList>;
  getInstance(instanceId: string): Promise<InstanceDetail>;
  /** Asks it to claim nothing more; what it runs goes on. */
  drainInstance(instanceId: string, request?: Asked): Promise<Changed>;
  callInstanceBack(instanceId: string): Promise<Changed>;
  overview(): Promise<Overview>;
  about(): Promise<About>;
  health(): Promise<Health>;
}

/** `baseUrl` is the server's address, with the path below which it serves if there is one: http://127.0.0.1:7410 */
export function createClient(baseUrl: string, options: ClientOptions = {}): Client {
  const base = baseUrl.replace(/\/+$/, "");
  const sender = { base, timeoutMs: options.timeoutMs ?? 10_000, token: options.token ?? null };
  const send = createSender(sender);
  return {
    baseUrl: base,
    ...taskRunCalls(send),
    ...operationCalls(send),
    ...ruleCalls(send),
    ...clusterCalls(send),
    watch: (topics, { signal } = {}) => openStream(sender, topics, signal),
  };
}
