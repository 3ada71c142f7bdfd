/** What a task run printed, and the attempts of its task. */

import { attemptQuerySchema, logQuerySchema } from "@signalbox/contract";
import type { FastifyInstance } from "fastify";
import type { ApiScheduler } from "../api-scheduler.ts";
import { readRequest } from "../read-request.ts";

interface ById {
  readonly Params: { readonly id: string };
}

export function addLogRoutes(app: FastifyInstance, scheduler: ApiScheduler): void {
  app.get<ById>("/api/v1/task-runs/:id/log", async ({ params, query }) => {
    const { search, ...place } = readRequest(logQuerySchema, "query", query);
    return search === undefined
      ? await scheduler.readLog(params.id, place)
      : await scheduler.searchLog(params.id, { search, ...place });
  });
  app.get<ById>(
    "/api/v1/task-runs/:id/attempts",
    async ({ params, query }) =>
      await scheduler.listAttempts(params.id, readRequest(attemptQuerySchema, "query", query)),
  );
}
