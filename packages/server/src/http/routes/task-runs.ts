import {
  createTasksSchema,
  type TaskSpec as TaskSpecJson,
  taskRunQuerySchema,
  taskSpecSchema,
} from "@signalbox/contract";
import type { RunId, TaskRunFilter, TaskRunId, TaskSpec } from "@signalbox/core";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ApiScheduler } from "../api-scheduler.ts";
import { idempotencyKeyOf } from "../idempotency-key.ts";
import { readRequest } from "../read-request.ts";

interface ById {
  readonly Params: { readonly id: string };
}

export function addTaskRunRoutes(app: FastifyInstance, scheduler: ApiScheduler): void {
  app.post("/api/v1/task-runs", async (request, reply) => {
    const created = await (isMany(request.body) ? createMany : createOne)(scheduler, request);
    return reply.code(201).send(created);
  });
  app.get("/api/v1/task-runs", ({ query }) => scheduler.list(filterOf(query)));
  app.get<ById>("/api/v1/task-runs/:id", ({ params }) => scheduler.get(params.id));
  app.get<ById>("/api/v1/task-runs/:id/explanation", ({ params }) => scheduler.explain(params.id));
}

function isMany(body: unknown): boolean {
  return typeof body === "object" && body !== null && "tasks" in body;
}

function createOne(scheduler: ApiScheduler, { body, headers }: FastifyRequest) {
  return scheduler.enqueue(specOf(readRequest(taskSpecSchema, "body", body)), idempotencyKeyOf(headers));
}

function createMany(scheduler: ApiScheduler, { body, headers }: FastifyRequest) {
  const { tasks, run } = readRequest(createTasksSchema, "body", body);
  return scheduler.enqueueMany(tasks.map(specOf), {
    ...(run === undefined ? {} : { run }),
    ...idempotencyKeyOf(headers),
  });
}

function specOf({ runAt, ...rest }: TaskSpecJson): TaskSpec {
  return runAt === undefined ? rest : { ...rest, runAt: new Date(runAt) };
}

function filterOf(query: unknown): TaskRunFilter {
  const { runId, before, ...rest } = readRequest(taskRunQuerySchema, "query", query);
  return {
    ...rest,
    // Ids are branded where they are minted; what a client sends is looked up as it is.
    ...(runId === undefined ? {} : { runId: runId as RunId }),
    ...(before === undefined ? {} : { before: before as TaskRunId }),
  };
}
