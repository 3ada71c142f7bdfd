import type { FastifyInstance } from "fastify";

/**
 * A server that closes hangs up on those who ask nothing in that moment, and waits for the others: they are told with
 * their answer that it is the last one, or their connection would stay open for as long as they like.
 */
export function hangUpWhenClosing(app: FastifyInstance): void {
  let closing = false;
  app.addHook("preClose", async () => {
    closing = true;
  });
  app.addHook("onSend", async (_, reply) => {
    if (closing) void reply.header("connection", "close");
  });
}
