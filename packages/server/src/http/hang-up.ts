import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";

/**
 * A server that closes hangs up on those who ask nothing in that moment, and waits for the others: they are told with
 * their answer that it is the last one, or their connection would stay open for as long as they like. Node counts who is
 * connected and has not asked yet among the others; browsers and load balancers connect ahead.
 */
export function hangUpWhenClosing(app: FastifyInstance): void {
  let closing = false;
  const silent = new Set<Socket>();
  app.server.on("connection", (socket: Socket) => {
    silent.add(socket);
    socket.once("close", () => silent.delete(socket));
    // The first byte of a request: what has begun goes to its end.
    socket.once("data", () => silent.delete(socket));
  });
  app.addHook("preClose", async () => {
    closing = true;
    for (const socket of silent) socket.destroy();
  });
  app.addHook("onSend", async (_, reply) => {
    if (closing) void reply.header("connection", "close");
  });
}
