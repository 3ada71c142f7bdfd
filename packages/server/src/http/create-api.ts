/** The HTTP API as a Fastify application, not yet listening. It decides nothing: the scheduler does. */

import type { Health } from "@signalbox/contract";
import {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
} from "fastify";
import type { Logger } from "pino";
import { VERSION } from "../version.ts";
import type { ApiScheduler } from "./api-scheduler.ts";
import { refuseForeign } from "./loopback-only.ts";
import { judgeError, RequestError } from "./problem.ts";
import { addInterventionRoutes } from "./routes/interventions.ts";
import { addMetrics, type ServedMetrics } from "./routes/metrics.ts";
import { addProbes } from "./routes/probes.ts";
import { addTaskRunRoutes } from "./routes/task-runs.ts";
import { addStream } from "./stream/add-stream.ts";

export interface ApiDeps {
  readonly scheduler: ApiScheduler;
  /** Random per start; `/healthz` tells it. */
  readonly serverId: string;
  /** Told of what nobody foresaw, with its stack; the client is told nothing of it. */
  readonly logger: Pick<Logger, "error">;
  /** For `/readyz`. Default: ready as soon as it answers. */
  readonly isReady?: () => boolean;
  /** For `/metrics`, which is not there without. */
  readonly metrics?: ServedMetrics;
}

const BODY_LIMIT_BYTES = 1_048_576;
/** Pages ask every second, and nobody reads more digits. */
const COUNTED_FOR_A_PAGE = 10_000;

export function createApi(deps: ApiDeps): FastifyInstance {
  const { serverId } = deps;
  const app = createApp(deps);
  app.addHook("onRequest", async ({ method, headers }) => {
    refuseForeign({ method, host: headers.host, origin: headers.origin });
  });
  addRoutes(app, deps);
  addStream(app, { serverId, routes: addRoutes(createApp(deps), deps) });
  app.get("/healthz", (): Health => ({ status: "ok", product: "signalbox", version: VERSION, serverId }));
  addProbes(app, deps.isReady);
  if (deps.metrics !== undefined) addMetrics(app, deps.metrics);
  return app;
}

function addRoutes(app: FastifyInstance, { scheduler }: ApiDeps): FastifyInstance {
  addTaskRunRoutes(app, scheduler);
  addInterventionRoutes(app, scheduler);
  app.get("/api/v1/overview", async () => await scheduler.overview({ countUpTo: COUNTED_FOR_A_PAGE }));
  return app;
}

/** Without routes: how requests are read, and how errors are answered. */
function createApp({ logger }: Pick<ApiDeps, "logger">): FastifyInstance {
  const answerError = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const { problem, unexpected } = judgeError(error);
    if (unexpected) logger.error({ error, method: request.method, url: request.url }, "request failed");
    return reply.code(problem.status).type("application/problem+json").send(JSON.stringify(problem));
  };
  const app = fastify({
    bodyLimit: BODY_LIMIT_BYTES,
    // Addresses that the router itself refuses never reach the error handler below.
    frameworkErrors: (error: FastifyError, request, reply) => void answerError(error, request, reply),
  });
  // A form can send text/plain without asking first; nothing here reads it.
  app.removeContentTypeParser("text/plain");
  readOnlyUtf8(app);
  app.setErrorHandler(answerError);
  app.setNotFoundHandler((request, reply) =>
    answerError(
      new RequestError("NO_SUCH_ROUTE", `There is no ${request.method} ${pathOf(request)}`),
      request,
      reply,
    ),
  );
  return app;
}

function pathOf({ url }: FastifyRequest): string {
  return url.split("?")[0] ?? url;
}

/** By default bytes that are no UTF-8 become other characters, and the client would never know. */
function readOnlyUtf8(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  app.removeContentTypeParser("application/json");
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body: Buffer, done) => {
    let text: string;
    try {
      text = utf8.decode(body);
    } catch {
      done(new RequestError("INVALID_REQUEST", "The body is not UTF-8"));
      return;
    }
    void parse(request, text, done);
  });
}
