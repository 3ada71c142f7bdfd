/** Cancel, retry and defer: one by its id, a whole run, or all that a filter names. */

import {
  type CancelMany,
  cancelManySchema,
  cancelRequestSchema,
  deferRequestSchema,
  type RetryMany,
  retryManySchema,
  retryRequestSchema,
} from "@signalbox/contract";
import type { CancelFilter, RetryFilter, RunId } from "@signalbox/core";
import type { FastifyInstance } from "fastify";
import type { ApiScheduler } from "../api-scheduler.ts";
import { readRequest } from "../read-request.ts";

interface ById {
  readonly Params: { readonly id: string };
}

export function addInterventionRoutes(app: FastifyInstance, scheduler: ApiScheduler): void {
  app.post<ById>("/api/v1/task-runs/:id/cancel", async ({ params, body }) => {
    const request = readRequest(cancelRequestSchema, "body", body ?? {});
    return { answer: await scheduler.cancel(params.id, request) };
  });
  app.post<ById>("/api/v1/task-runs/:id/retry", async ({ params, body }) =>
    scheduler.retry(params.id, readRequest(retryRequestSchema, "body", body ?? {})),
  );
  app.post<ById>("/api/v1/task-runs/:id/defer", async ({ params, body }) => {
    const { runAt, ...rest } = readRequest(deferRequestSchema, "body", body);
    return await scheduler.defer(params.id, runAt === undefined ? rest : { ...rest, runAt: new Date(runAt) });
  });
  app.post<ById>("/api/v1/runs/:id/cancel", async ({ params, body }) =>
    // Ids are branded where they are minted; what a client sends is looked up as it is.
    scheduler.cancelRun(params.id as RunId, readRequest(cancelRequestSchema, "body", body ?? {})),
  );
  app.post("/api/v1/task-runs/cancel", async ({ body }) => {
    const { filter, ...request } = readRequest(cancelManySchema, "body", body);
    return scheduler.cancelMany(cancelFilterOf(filter), request);
  });
  app.post("/api/v1/task-runs/retry", async ({ body }) => {
    const { filter, ...request } = readRequest(retryManySchema, "body", body);
    return scheduler.retryMany(retryFilterOf(filter), request);
  });
}

function cancelFilterOf({ runId, ...rest }: CancelMany["filter"]): CancelFilter {
  return runId === undefined ? rest : { ...rest, runId: runId as RunId };
}

function retryFilterOf({ runId, enqueuedSince, ...rest }: RetryMany["filter"]): RetryFilter {
  return {
    ...rest,
    ...(runId === undefined ? {} : { runId: runId as RunId }),
    ...(enqueuedSince === undefined ? {} : { enqueuedSince: new Date(enqueuedSince) }),
  };
}
