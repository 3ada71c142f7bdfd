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
import { belowBasePath, refuseOutside } from "./base-path.ts";
import { addDashboard } from "./dashboard.ts";
import { hangUpWhenClosing } from "./hang-up.ts";
import { onlyLoopback } from "./loopback-only.ts";
import { judgeError, RequestError } from "./problem.ts";
import { readJsonBodies } from "./read-json-bodies.ts";
import { REQUEST_ID_HEADER, requestIdOf } from "./request-id.ts";
import { requireTokenOn } from "./require-token.ts";
import { type AboutServer, addAbout } from "./routes/about.ts";
import { addDocumentRoutes } from "./routes/documents.ts";
import { addInstanceRoutes } from "./routes/instances.ts";
import { addInterventionRoutes } from "./routes/interventions.ts";
import { addLogRoutes } from "./routes/logs.ts";
import { addMetrics, type ServedMetrics } from "./routes/metrics.ts";
import { addOperationRoutes } from "./routes/operations.ts";
import { addProbes, type Readiness } from "./routes/probes.ts";
import { addQueueRoutes } from "./routes/queues.ts";
import { addResourceRoutes } from "./routes/resources.ts";
import { addRuleRoutes } from "./routes/rules.ts";
import { addRunRoutes } from "./routes/runs.ts";
import { addSessionRoutes } from "./routes/session.ts";
import { addTaskRunRoutes } from "./routes/task-runs.ts";
import { cameByHttps, securityHeaders } from "./security-headers.ts";
import { refuseLongAddresses, SERVER_LIMITS } from "./server-limits.ts";
import { addStream } from "./stream/add-stream.ts";

export interface ApiDeps {
  readonly scheduler: ApiScheduler;
  /** Random per start; `/healthz` tells it. */
  readonly serverId: string;
  /** Told of what nobody foresaw, with its stack; the client is told nothing of it. */
  readonly logger: Pick<Logger, "error">;
  /** For `/readyz`. Default: ready as soon as it answers. */
  readonly readiness?: () => Readiness;
  /** For `/metrics`, which is not there without. */
  readonly metrics?: ServedMetrics;
  /** Also answers the dashboard, where it was built. Default: no. */
  readonly withDashboard?: boolean;
  /** What every caller must know. Default: none, and it answers on loopback only. */
  readonly token?: string;
  /** What stands before every address, such as /signalbox. Default: nothing. */
  readonly basePath?: string;
  /** Addresses or networks whose X-Forwarded headers are believed. Default: none. */
  readonly trustedProxies?: string;
  /** Default: of `dev`, without a name. */
  readonly about?: AboutServer;
}

/** Pages ask every second, and nobody reads more digits. */
const COUNTED_FOR_A_PAGE = 10_000;
const LONGEST_NAME_IN_ADDRESS = 4_096;
/** A topic is read for all who follow it: by a new id each time the same trouble would be told again and again. */
const STREAM_ID = "stream";

export function createApi(deps: ApiDeps): FastifyInstance {
  const { serverId } = deps;
  const app = createApp(deps);
  hangUpWhenClosing(app);
  admit(app, deps);
  addRoutes(app, deps);
  // Topics are addresses as the routes know them.
  addStream(app, {
    serverId,
    routes: addRoutes(
      createApp({ ...deps, basePath: "" }, () => STREAM_ID),
      deps,
    ),
  });
  addDocumentRoutes(app);
  addAbout(app, deps.about ?? { mode: "dev", environmentName: null });
  const probe = { config: { access: "probe" } } as const;
  app.get(
    "/healthz",
    probe,
    (): Health => ({ status: "ok", product: "signalbox", version: VERSION, serverId }),
  );
  addProbes(app, deps.readiness);
  if (deps.metrics !== undefined) addMetrics(app, deps.metrics);
  if (deps.withDashboard === true) addDashboard(app, { basePath: deps.basePath ?? "" });
  return app;
}

/** Who is let in, in the order in which it is asked. */
function admit(app: FastifyInstance, { token, basePath = "" }: ApiDeps): void {
  refuseLongAddresses(app);
  refuseOutside(app, basePath);
  if (token === undefined) onlyLoopback(app);
  else addSessionRoutes(app, requireTokenOn(app, token, basePath));
}

function addRoutes(app: FastifyInstance, { scheduler }: ApiDeps): FastifyInstance {
  addTaskRunRoutes(app, scheduler);
  addInterventionRoutes(app, scheduler);
  addOperationRoutes(app, scheduler);
  addLogRoutes(app, scheduler);
  addRunRoutes(app, scheduler);
  addRuleRoutes(app, scheduler);
  addQueueRoutes(app, scheduler);
  addResourceRoutes(app, scheduler);
  addInstanceRoutes(app, scheduler);
  app.get("/api/v1/overview", async () => await scheduler.overview({ countUpTo: COUNTED_FOR_A_PAGE }));
  return app;
}

/** Without routes: how requests are read, and how errors are answered. */
function createApp(
  { logger, basePath = "", trustedProxies }: ApiDeps,
  idOf: typeof requestIdOf = requestIdOf,
): FastifyInstance {
  const answerError = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const { id: requestId, method, url } = request;
    const { problem, unexpected } = judgeError(error);
    protect(request, reply);
    if (unexpected) logger.error({ error, requestId, method, url }, "request failed");
    const answer = JSON.stringify({ ...problem, requestId });
    return reply.code(problem.status).type("application/problem+json").send(answer);
  };
  const app = fastify({
    ...SERVER_LIMITS,
    // Names are part of addresses, and every character of one may be written as nine.
    routerOptions: { maxParamLength: LONGEST_NAME_IN_ADDRESS },
    ...(trustedProxies === undefined ? {} : { trustProxy: trustedProxies }),
    genReqId: ({ headers }) => idOf(headers),
    rewriteUrl: ({ url = "/" }) => belowBasePath(basePath, url) ?? url,
    // Who came before the server began to leave is answered by the routes, `/readyz` too.
    return503OnClosing: false,
    // Addresses that the router itself refuses never reach the error handler below.
    frameworkErrors: (error: FastifyError, request, reply) => void answerError(error, request, reply),
  });
  app.decorateRequest("bySession", false);
  app.addHook("onRequest", async (request, reply) => protect(request, reply));
  // A form can send text/plain without asking first; nothing here reads it.
  app.removeContentTypeParser("text/plain");
  readJsonBodies(app);
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

function protect({ id, protocol, headers }: FastifyRequest, reply: FastifyReply): void {
  void reply.headers(securityHeaders(cameByHttps(protocol, headers["x-forwarded-proto"])));
  void reply.header(REQUEST_ID_HEADER, id);
}

function pathOf({ url }: FastifyRequest): string {
  return url.split("?")[0] ?? url;
}
