import type { InstanceId } from "@signalbox/core";
import type { FastifyInstance } from "fastify";
import type { ApiScheduler } from "../api-scheduler.ts";

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
}
