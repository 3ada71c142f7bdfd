import type { FastifyInstance } from "fastify";
import type { Metrics } from "../../telemetry/metrics.ts";

export type ServedMetrics = Pick<Metrics, "contentType" | "render">;

export function addMetrics(app: FastifyInstance, metrics: ServedMetrics): void {
  app.get("/metrics", async (_, reply) => {
    const text = await metrics.render();
    return reply.header("cache-control", "no-store").type(metrics.contentType).send(text);
  });
}
