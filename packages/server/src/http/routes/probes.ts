/** Whether the process lives and whether it is ready: a status and a word, nothing that helps a stranger. */

import type { FastifyInstance } from "fastify";

export function addProbes(app: FastifyInstance, isReady: () => boolean = () => true): void {
  app.get("/livez", (_, reply) => reply.header("cache-control", "no-store").type("text/plain").send("ok\n"));
  app.get("/readyz", (_, reply) => {
    const ready = isReady();
    return reply
      .code(ready ? 200 : 503)
      .header("cache-control", "no-store")
      .type("text/plain")
      .send(ready ? "ok\n" : "not ready\n");
  });
}
