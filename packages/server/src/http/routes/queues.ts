import { queueChangeSchema } from "@signalbox/contract";
import type { FastifyInstance } from "fastify";
import type { ApiScheduler } from "../api-scheduler.ts";
import { readRequest } from "../read-request.ts";

interface ByName {
  readonly Params: { readonly name: string };
}

export function addQueueRoutes(app: FastifyInstance, scheduler: ApiScheduler): void {
  app.get("/api/v1/queues", async () => await scheduler.listQueues());
  app.put<ByName>("/api/v1/queues/:name", async ({ params, body }, reply) => {
    await scheduler.setQueue(params.name, readRequest(queueChangeSchema, "body", body));
    return reply.code(204).send();
  });
}
