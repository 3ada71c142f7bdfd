import { runLimitSchema, runQuerySchema } from "@signalbox/contract";
import type { RunFilter, RunId } from "@signalbox/core";
import type { FastifyInstance } from "fastify";
import type { ApiScheduler } from "../api-scheduler.ts";
import { readRequest } from "../read-request.ts";

interface ById {
  readonly Params: { readonly id: string };
}

export function addRunRoutes(app: FastifyInstance, scheduler: ApiScheduler): void {
  app.get("/api/v1/runs", async ({ query }) => await scheduler.listRuns(filterOf(query)));
  // Ids are branded where they are minted; what a client sends is looked up as it is.
  app.get<ById>("/api/v1/runs/:id", async ({ params }) => await scheduler.getRun(params.id as RunId));
  app.put<ById>("/api/v1/runs/:id/limit", async ({ params, body }, reply) => {
    const { limit } = readRequest(runLimitSchema, "body", body);
    await scheduler.setRunLimit(params.id as RunId, limit);
    return reply.code(204).send();
  });
}

function filterOf(query: unknown): RunFilter {
  const { before, ...rest } = readRequest(runQuerySchema, "query", query);
  return before === undefined ? rest : { ...rest, before: before as RunId };
}
