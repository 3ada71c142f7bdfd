/** Cancels and retries of many, as operations that instances carry on. */

import {
  askedSchema,
  type OperationPreviewRequest,
  operationItemQuerySchema,
  operationPreviewRequestSchema,
  operationQuerySchema,
  operationRequestSchema,
} from "@signalbox/contract";
import type { OperationFilter, OperationId, OperationListFilter, RunId, TaskRunId } from "@signalbox/core";
import type { FastifyInstance } from "fastify";
import type { ApiScheduler } from "../api-scheduler.ts";
import { idempotencyKeyOf } from "../idempotency-key.ts";
import { readRequest } from "../read-request.ts";

interface ById {
  readonly Params: { readonly id: string };
}

export function addOperationRoutes(app: FastifyInstance, scheduler: ApiScheduler): void {
  app.post("/api/v1/operations", async ({ body, headers }, reply) => {
    const { verb, filter, ...asked } = readRequest(operationRequestSchema, "body", body);
    const request = { verb, filter: filterOf(filter) };
    const operation = await scheduler.startOperation(request, { ...asked, ...idempotencyKeyOf(headers) });
    return reply.code(201).send(operation);
  });
  app.post("/api/v1/operations/preview", async ({ body }) => {
    const { verb, filter } = readRequest(operationPreviewRequestSchema, "body", body);
    return await scheduler.previewOperation({ verb, filter: filterOf(filter) });
  });
  app.get("/api/v1/operations", async ({ query }) => await scheduler.listOperations(listFilterOf(query)));
  app.get<ById>("/api/v1/operations/:id", async ({ params }) => await scheduler.getOperation(idOf(params)));
  app.get<ById>("/api/v1/operations/:id/items", async ({ params, query }) => {
    const filter = readRequest(operationItemQuerySchema, "query", query);
    return await scheduler.listOperationItems(idOf(params), filter);
  });
  app.post<ById>("/api/v1/operations/:id/abort", async ({ params, body }) => {
    const asked = readRequest(askedSchema, "body", body ?? {});
    return { changed: await scheduler.abortOperation(idOf(params), asked) };
  });
}

// Ids are branded where they are minted; what a client sends is looked up as it is.
function idOf({ id }: ById["Params"]): OperationId {
  return id as OperationId;
}

function filterOf({
  ids,
  runId,
  enqueuedSince,
  ...rest
}: OperationPreviewRequest["filter"]): OperationFilter {
  return {
    ...rest,
    ...(ids === undefined ? {} : { ids: ids as TaskRunId[] }),
    ...(runId === undefined ? {} : { runId: runId as RunId }),
    ...(enqueuedSince === undefined ? {} : { enqueuedSince: new Date(enqueuedSince) }),
  };
}

function listFilterOf(query: unknown): OperationListFilter {
  const { before, ...rest } = readRequest(operationQuerySchema, "query", query);
  return before === undefined ? rest : { ...rest, before: before as OperationId };
}
