/** For browsers: the token is given once, and a cookie that is not it comes back. */

import { sessionRequestSchema } from "@signalbox/contract";
import type { FastifyInstance } from "fastify";
import { readRequest } from "../read-request.ts";
import type { Login } from "../require-token.ts";

const OPEN = { config: { access: "open" } } as const;

export function addSessionRoutes(app: FastifyInstance, login: Login): void {
  app.post("/api/v1/session", OPEN, (request, reply) => {
    login.begin(readRequest(sessionRequestSchema, "body", request.body).token, request, reply);
    return reply.code(204).send();
  });
  app.delete("/api/v1/session", OPEN, (request, reply) => {
    login.end(request, reply);
    return reply.code(204).send();
  });
}
