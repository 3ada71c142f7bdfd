/**
 * Lets in who knows the token, by header or by a session's cookie, and not too often. Every route asks for it, unless
 * it says of itself that it is open: a new one cannot be forgotten. What asks is the route that was found, not the
 * address: an address has many spellings.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { RequestError } from "./problem.ts";
import { clientOf, createRateLimit, type Rate, type RateLimit } from "./rate-limit.ts";
import { isSameOrigin, type PageOfRequest, requireSameOrigin } from "./same-origin.ts";
import { cameByHttps } from "./security-headers.ts";
import { createSessions, type Sessions } from "./session-cookie.ts";
import { bearerOf, createTokenCheck, type TokenCheck } from "./token.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** `open`: needs no token. `probe`: and is never refused for being asked too often. Default: needs a token. */
    access?: "open" | "probe";
  }

  interface FastifyRequest {
    /** Let in by a cookie, which can run out or be taken back. */
    bySession: boolean;
  }
}

/** Generous: a dashboard that opens asks for many things at once. */
const SESSION_RATE: Rate = { perSecond: 100, burst: 300 };
/** A service brings its tasks one by one, and all of it comes from one address. */
const TOKEN_RATE: Rate = { perSecond: 1_000, burst: 3_000 };
/** Those who bring no token, for what is open. */
const UNKNOWN_RATE: Rate = { perSecond: 100, burst: 300 };
/** Those who bring a wrong one. */
const WRONG_RATE: Rate = { perSecond: 1, burst: 20 };
const LOGIN_RATE: Rate = { perSecond: 0.2, burst: 5 };

const READS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

type Caller = "by_token" | "by_cookie" | "unknown" | "wrong";

interface Doorkeeper {
  readonly isToken: TokenCheck;
  readonly sessions: Sessions;
  readonly limits: Readonly<Record<Caller | "login", RateLimit>>;
}

export interface Login {
  /** Sets the cookie where `token` is right. Throws UNAUTHENTICATED where it is not. */
  begin(token: string, request: FastifyRequest, reply: FastifyReply): void;
  end(request: FastifyRequest, reply: FastifyReply): void;
}

/** `basePath` is what stands before every address as the browser sees it. */
export function requireTokenOn(app: FastifyInstance, token: string, basePath: string): Login {
  const keeper = createDoorkeeper(token, basePath);
  app.addHook("onRequest", async (request, reply) => {
    const { access } = request.routeOptions.config;
    if (access === "probe") return;
    const caller = callerOf(keeper, request);
    take(keeper.limits[caller], request, reply);
    if (access === "open" || request.is404) return;
    if (caller === "unknown" || caller === "wrong") refuseUnknown(reply, caller);
    request.bySession = caller === "by_cookie";
    if (caller === "by_cookie" && !READS.has(request.method)) requireSameOrigin(pageOf(request));
  });
  return loginWith(keeper);
}

function createDoorkeeper(token: string, basePath: string): Doorkeeper {
  return {
    isToken: createTokenCheck(token),
    sessions: createSessions(token, basePath),
    limits: {
      by_token: createRateLimit(TOKEN_RATE),
      by_cookie: createRateLimit(SESSION_RATE),
      unknown: createRateLimit(UNKNOWN_RATE),
      wrong: createRateLimit(WRONG_RATE),
      login: createRateLimit(LOGIN_RATE),
    },
  };
}

function loginWith({ isToken, sessions, limits }: Doorkeeper): Login {
  return {
    begin: (token, request, reply) => {
      refuseOtherPages(request);
      // Before it is looked at: a right guess must not be told from a wrong one once there were too many.
      take(limits.login, request, reply);
      if (!isToken(token)) refuseUnknown(reply, "wrong");
      void reply.header("set-cookie", sessions.cookie(sessions.begin(Date.now()), isHttps(request)));
    },
    end: (request, reply) => {
      refuseOtherPages(request);
      void reply.header("set-cookie", sessions.cookie(null, isHttps(request)));
    },
  };
}

/** A header is said on purpose, a cookie comes by itself: where both are there, the header counts. */
function callerOf({ isToken, sessions }: Doorkeeper, { headers }: FastifyRequest): Caller {
  const bearer = bearerOf(headers.authorization);
  if (bearer !== null) return isToken(bearer) ? "by_token" : "wrong";
  const session = sessions.sessionIn(headers.cookie);
  return session !== null && sessions.isGood(session, Date.now()) ? "by_cookie" : "unknown";
}

function take(limit: RateLimit, request: FastifyRequest, reply: FastifyReply): void {
  const waitMs = limit.take(clientOf(request.ip), performance.now());
  if (waitMs === null) return;
  const seconds = Math.ceil(waitMs / 1_000);
  void reply.header("retry-after", String(seconds));
  throw new RequestError("TOO_MANY_REQUESTS", `That was too often; try again in ${seconds} s`);
}

function refuseUnknown(reply: FastifyReply, caller: "unknown" | "wrong"): never {
  void reply.header("www-authenticate", 'Bearer realm="signalbox"');
  throw new RequestError(
    "UNAUTHENTICATED",
    caller === "wrong"
      ? "The token is not the one of this server; it is in its SIGNALBOX_TOKEN or SIGNALBOX_TOKEN_FILE"
      : "This server wants a token: send it as Authorization: Bearer, or begin a session",
  );
}

/** Tools that are no browser say nothing of pages. */
function refuseOtherPages(request: FastifyRequest): void {
  const page = pageOf(request);
  const isPage = page.origin !== undefined || page.fetchSite !== undefined;
  if (isPage && !isSameOrigin(page)) requireSameOrigin(page);
}

function pageOf(request: FastifyRequest): PageOfRequest {
  const fetchSite = request.headers["sec-fetch-site"];
  return {
    isHttps: isHttps(request),
    host: request.host,
    origin: request.headers.origin,
    fetchSite: typeof fetchSite === "string" ? fetchSite : undefined,
  };
}

function isHttps({ protocol, headers }: FastifyRequest): boolean {
  return cameByHttps(protocol, headers["x-forwarded-proto"]);
}
