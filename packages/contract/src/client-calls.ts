/** The methods of the client, one request each. */

import { aboutSchema } from "./about.ts";
import { changedSchema } from "./asked.ts";
import { cancelAnswerSchema, cancelCountsSchema } from "./cancel.ts";
import type { ClusterCalls, OperationCalls, RuleCalls, TaskRunCalls } from "./client.ts";
import { createdTaskSchema, createdTasksSchema } from "./create-task.ts";
import { deferredSchema } from "./defer.ts";
import { addressOf, NOTHING, type Send } from "./exchange.ts";
import { explanationSchema } from "./explanation.ts";
import { healthSchema } from "./health.ts";
import { instanceDetailSchema, instanceListSchema } from "./instance.ts";
import { logPageSchema, logSearchSchema } from "./log.ts";
import {
  operationItemPageSchema,
  operationPageSchema,
  operationPreviewSchema,
  operationSchema,
} from "./operation.ts";
import { overviewSchema } from "./overview.ts";
import { queueListSchema } from "./queue.ts";
import { resourceDetailSchema, resourcePageSchema } from "./resource.ts";
import { retriedSchema, retryCountsSchema } from "./retry.ts";
import { rulesInForceSchema } from "./rules.ts";
import { runDetailSchema, runPageSchema } from "./run.ts";
import { attemptPageSchema, taskRunDetailSchema, taskRunPageSchema } from "./task-run.ts";

const TASK_RUNS = "/api/v1/task-runs";
const OPERATIONS = "/api/v1/operations";
const RUNS = "/api/v1/runs";
const RESOURCES = "/api/v1/resources";
const DRAIN = "/api/v1/instances/:id/drain";
const STOP = "/api/v1/tasks/:id/stops/:code";

/** The server searches for up to 15 s. */
const SEARCH_MS = 20_000;

export function taskRunCalls(send: Send): TaskRunCalls {
  const ofOne = (id: string, part = "", query = {}): string =>
    addressOf(`${TASK_RUNS}/:id${part}`, [id], query);
  return {
    createTask: async (spec, { idempotencyKey } = {}) =>
      await send(createdTaskSchema, { path: TASK_RUNS, body: spec, idempotencyKey }),
    createTasks: async (request, { idempotencyKey } = {}) =>
      await send(createdTasksSchema, { path: TASK_RUNS, body: request, idempotencyKey }),
    listTaskRuns: async (query) => await send(taskRunPageSchema, { path: addressOf(TASK_RUNS, [], query) }),
    getTaskRun: async (id) => await send(taskRunDetailSchema, { path: ofOne(id) }),
    explain: async (id) => await send(explanationSchema, { path: ofOne(id, "/explanation") }),
    listAttempts: async (id, query) => await send(attemptPageSchema, { path: ofOne(id, "/attempts", query) }),
    readLog: async (id, query) => await send(logPageSchema, { path: ofOne(id, "/log", query) }),
    searchLog: async (id, search, query) =>
      await send(logSearchSchema, { path: ofOne(id, "/log", { ...query, search }), atLeastMs: SEARCH_MS }),
    cancel: async (id, request = {}) =>
      await send(cancelAnswerSchema, { path: ofOne(id, "/cancel"), body: request }),
    retry: async (id, request = {}) =>
      await send(retriedSchema, { path: ofOne(id, "/retry"), body: request }),
    defer: async (id, request) => await send(deferredSchema, { path: ofOne(id, "/defer"), body: request }),
    cancelRun: async (runId, request = {}) =>
      await send(cancelCountsSchema, { path: addressOf(`${RUNS}/:id/cancel`, [runId]), body: request }),
    cancelMany: async (request) =>
      await send(cancelCountsSchema, { path: `${TASK_RUNS}/cancel`, body: request }),
    retryMany: async (request) =>
      await send(retryCountsSchema, { path: `${TASK_RUNS}/retry`, body: request }),
  };
}

export function operationCalls(send: Send): OperationCalls {
  const ofOne = (id: string, part = "", query = {}): string =>
    addressOf(`${OPERATIONS}/:id${part}`, [id], query);
  return {
    startOperation: async (request, { idempotencyKey } = {}) =>
      await send(operationSchema, { path: OPERATIONS, body: request, idempotencyKey }),
    previewOperation: async (request) =>
      await send(operationPreviewSchema, { path: `${OPERATIONS}/preview`, body: request }),
    listOperations: async (query) =>
      await send(operationPageSchema, { path: addressOf(OPERATIONS, [], query) }),
    getOperation: async (operationId) => await send(operationSchema, { path: ofOne(operationId) }),
    listOperationItems: async (operationId, query) =>
      await send(operationItemPageSchema, { path: ofOne(operationId, "/items", query) }),
    abortOperation: async (operationId, request = {}) =>
      await send(changedSchema, { path: ofOne(operationId, "/abort"), body: request }),
  };
}

export function ruleCalls(send: Send): RuleCalls {
  const put = async (path: string, body: object): Promise<void> =>
    await send(NOTHING, { method: "PUT", path, body });
  return {
    setRunLimit: async (runId, limit) => await put(addressOf(`${RUNS}/:id/limit`, [runId]), { limit }),
    setQueue: async (queue, change) => await put(addressOf("/api/v1/queues/:name", [queue]), change),
    setKeyLimit: async (concurrencyKey, limit) =>
      await put(addressOf("/api/v1/key-limits/:key", [concurrencyKey]), { limit }),
    setRate: async (rate, change) => await put(addressOf("/api/v1/rates/:name", [rate]), change),
    setWindows: async (what, windows) => await put("/api/v1/windows", { what, windows }),
    pause: async (what, request = {}) =>
      await send(changedSchema, { path: "/api/v1/pauses", body: { ...request, what } }),
    resume: async (what, request = {}) =>
      await send(changedSchema, { path: "/api/v1/pauses/end", body: { ...request, what } }),
    putStop: async (taskId, code, detail) =>
      await put(addressOf(STOP, [taskId, code]), detail === undefined ? {} : { detail }),
    takeOffStop: async (taskId, code) =>
      await send(changedSchema, { method: "DELETE", path: addressOf(STOP, [taskId, code]) }),
    releaseReservation: async (resource, request = {}) =>
      await send(changedSchema, {
        method: "DELETE",
        path: addressOf(`${RESOURCES}/:name/reservation`, [resource]),
        body: request,
      }),
  };
}

export function clusterCalls(send: Send): ClusterCalls {
  return {
    listRuns: async (query) => await send(runPageSchema, { path: addressOf(RUNS, [], query) }),
    getRun: async (runId) => await send(runDetailSchema, { path: addressOf(`${RUNS}/:id`, [runId]) }),
    readRules: async (query) =>
      await send(rulesInForceSchema, { path: addressOf("/api/v1/rules", [], query) }),
    listQueues: async () => await send(queueListSchema, { path: "/api/v1/queues" }),
    listResources: async (query) => await send(resourcePageSchema, { path: addressOf(RESOURCES, [], query) }),
    getResource: async (resource) =>
      await send(resourceDetailSchema, { path: addressOf(`${RESOURCES}/:name`, [resource]) }),
    listInstances: async () => await send(instanceListSchema, { path: "/api/v1/instances" }),
    getInstance: async (instanceId) =>
      await send(instanceDetailSchema, { path: addressOf("/api/v1/instances/:id", [instanceId]) }),
    drainInstance: async (instanceId, request = {}) =>
      await send(changedSchema, { path: addressOf(DRAIN, [instanceId]), body: request }),
    callInstanceBack: async (instanceId) =>
      await send(changedSchema, { method: "DELETE", path: addressOf(DRAIN, [instanceId]) }),
    about: async () => await send(aboutSchema, { path: "/api/v1/about" }),
    overview: async () => await send(overviewSchema, { path: "/api/v1/overview" }),
    health: async () => await send(healthSchema, { path: "/healthz" }),
  };
}
