import { askedSchema } from "@signalbox/contract";
import type { InstanceId } from "@signalbox/core";
import type { FastifyInstance } from "fastify";
import type { ApiScheduler } from "../api-scheduler.ts";
import { readRequest } from "../read-request.ts";

interface ById {
  readonly Params: { readonly id: string };
}

export function addInstanceRoutes(app: FastifyInstance, scheduler: ApiScheduler): void {
  app.get("/api/v1/instances", async () => await scheduler.listInstances());
  app.get<ById>(
    "/api/v1/instances/:id",
    // Ids are branded where they are minted; what a client sends is looked up as it is.
    async ({ params }) => await scheduler.getInstance(params.id as InstanceId),
  );
  app.post<ById>("/api/v1/instances/:id/drain", async ({ params, body }) => {
    const request = readRequest(askedSchema, "body", body ?? {});
    return { changed: await scheduler.drainInstance(params.id as InstanceId, request) };
  });
  app.delete<ById>("/api/v1/instances/:id/drain", async ({ params }) => ({
    changed: await scheduler.callInstanceBack(params.id as InstanceId),
  }));
}
