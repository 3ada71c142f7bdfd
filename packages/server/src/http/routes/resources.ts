import { askedSchema, resourceQuerySchema } from "@signalbox/contract";
import type { FastifyInstance } from "fastify";
import type { ApiScheduler } from "../api-scheduler.ts";
import { readRequest } from "../read-request.ts";

interface ByName {
  readonly Params: { readonly name: string };
}

export function addResourceRoutes(app: FastifyInstance, scheduler: ApiScheduler): void {
  app.get(
    "/api/v1/resources",
    async ({ query }) => await scheduler.listResources(readRequest(resourceQuerySchema, "query", query)),
  );
  app.get<ByName>("/api/v1/resources/:name", async ({ params }) => await scheduler.getResource(params.name));
  app.delete<ByName>("/api/v1/resources/:name/reservation", async ({ params, body }) => {
    const request = readRequest(askedSchema, "body", body ?? {});
    return { changed: await scheduler.releaseReservation(params.name, request) };
  });
}
