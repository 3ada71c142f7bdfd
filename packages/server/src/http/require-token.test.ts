/** Who is let in where a token is asked for, and how often. */

import { aboutSchema, problemSchema } from "@signalbox/contract";
import type { Scheduler } from "@signalbox/core";
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from "fastify";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ApiDeps, createApi } from "./create-api.ts";
import { createSessions } from "./session-cookie.ts";

const TOKEN = "correct-horse-battery-staple";
const BEARER = { authorization: `Bearer ${TOKEN}` };
const CANCEL = { method: "POST", url: "/api/v1/task-runs/x/cancel" } as const;

/** A new one here is a decision: strangers may ask it. A refusal of another kind comes only after the door. */
/** Under the name of a good one. */
const FORGED =
  createSessions(TOKEN, "")
    .cookie(`9999999999999.${"A".repeat(43)}`, false)
    .split(";")[0] ?? "";

const OPEN_ROUTES = [
  "DELETE /api/v1/session",
  "GET /healthz",
  "GET /livez",
  "GET /readyz",
  "HEAD /healthz",
  "HEAD /livez",
  "HEAD /readyz",
  "POST /api/v1/session",
];

const METRICS = { contentType: "text/plain", render: async () => "" };
const SCHEDULER: Partial<Scheduler> = { cancel: async () => "canceled" };

let app: FastifyInstance;

function create(deps: Partial<ApiDeps> = {}): FastifyInstance {
  return createApi({
    scheduler: SCHEDULER as Scheduler,
    serverId: "server-1",
    logger: { error: () => {} },
    metrics: METRICS,
    token: TOKEN,
    ...deps,
  });
}

beforeEach(() => {
  app = create();
});
afterEach(async () => {
  await app.close();
});

async function codeOf(request: InjectOptions): Promise<string | number> {
  const response = await app.inject(request);
  return response.statusCode < 400 ? response.statusCode : problemSchema.parse(response.json()).code;
}

async function logIn(headers: Record<string, string> = {}): Promise<string> {
  const response = await login(TOKEN, headers);
  return String(response.headers["set-cookie"]).split(";")[0] ?? "";
}

function login(token: string, headers: Record<string, string> = {}): Promise<LightMyRequestResponse> {
  return app.inject({ method: "POST", url: "/api/v1/session", payload: { token }, headers });
}

describe("without the token", () => {
  test.each([
    ["no token", {}],
    ["a wrong one", { authorization: "Bearer wrong-horse-battery-staple" }],
    ["a session that nobody began", { cookie: FORGED }],
  ])("every route that the router has is refused but the open ones: %s", async (_, headers) => {
    const routes = routesOf(app.printRoutes({ commonPrefix: false }));
    const letIn: string[] = [];
    for (const [index, { method, url }] of routes.entries()) {
      const request = {
        method,
        url: url.replaceAll(/:\w+/g, "x"),
        headers,
        remoteAddress: `192.0.2.${index}`,
      };
      if ((await app.inject(request)).statusCode !== 401) letIn.push(`${method} ${url}`);
    }

    expect(routes.length).toBeGreaterThan(20);
    expect(letIn.toSorted()).toEqual(OPEN_ROUTES);
  });

  test.each([
    "/metrics",
    "/api/v1/stream?topic=overview",
    // Other spellings of the same address.
    "/%61pi/v1/overview",
    "/api/v1/%6fverview",
  ])("%s says what is wanted", async (url) => {
    const response = await app.inject({ url });

    expect(response.statusCode).toBe(401);
    expect(response.headers["www-authenticate"]).toBe('Bearer realm="signalbox"');
  });

  test.each(["/livez", "/readyz", "/healthz"])("%s answers", async (url) => {
    expect(await codeOf({ url })).toBe(200);
  });

  test("what is not there is not there", async () => {
    expect(await codeOf({ url: "/nowhere" })).toBe("NO_SUCH_ROUTE");
  });
});

describe("with a token", () => {
  test("that is right it is let in, from wherever it comes", async () => {
    const headers = { ...BEARER, host: "signalbox.example", origin: "https://elsewhere.example" };

    expect(await codeOf({ ...CANCEL, headers })).toBe(200);
    expect(await codeOf({ url: "/metrics", headers })).toBe(200);
  });

  test.each([["Bearer wrong-horse-battery-staple"], [`Basic ${TOKEN}`], [TOKEN], ["Bearer"]])(
    "that is wrong it is not: %s",
    async (authorization) => {
      expect(await codeOf({ url: "/api/v1/about", headers: { authorization } })).toBe("UNAUTHENTICATED");
    },
  );

  test("in the query nothing is won", async () => {
    expect(await codeOf({ url: `/api/v1/about?token=${TOKEN}` })).toBe("UNAUTHENTICATED");
  });

  test("the server says what it is", async () => {
    await app.close();
    app = create({ about: { mode: "serve", environmentName: "production" } });

    const { statusCode, payload } = await app.inject({ url: "/api/v1/about", headers: BEARER });

    expect(statusCode).toBe(200);
    expect(aboutSchema.parse(JSON.parse(payload))).toMatchObject({
      mode: "serve",
      environmentName: "production",
    });
  });
});

describe("a session", () => {
  const HOST = "signalbox.example";
  const SAME = { host: HOST, origin: `http://${HOST}` };

  test("lets a browser in by its cookie, which is not the token", async () => {
    const cookie = await logIn(SAME);

    expect(cookie).not.toContain(TOKEN);
    expect(await codeOf({ url: "/api/v1/about", headers: { cookie } })).toBe(200);
  });

  test("changes something only from a page of this server", async () => {
    const cookie = await logIn(SAME);
    const cancel = async (headers: Record<string, string>): Promise<string | number> =>
      await codeOf({ ...CANCEL, headers: { cookie, host: HOST, ...headers } });

    expect(await cancel({ origin: `http://${HOST}` })).toBe(200);
    expect(await cancel({ "sec-fetch-site": "same-origin" })).toBe(200);
    expect(await cancel({ origin: `https://${HOST}`, "x-forwarded-proto": "https" })).toBe(200);
    expect(await cancel({})).toBe("FOREIGN_ORIGIN");
    expect(await cancel({ origin: "null" })).toBe("FOREIGN_ORIGIN");
    expect(await cancel({ origin: "http://evil.example" })).toBe("FOREIGN_ORIGIN");
    expect(await cancel({ origin: `http://${HOST}:81` })).toBe("FOREIGN_ORIGIN");
    expect(await cancel({ "sec-fetch-site": "same-site", origin: `http://${HOST}` })).toBe("FOREIGN_ORIGIN");
    expect(await cancel({ "sec-fetch-site": "cross-site" })).toBe("FOREIGN_ORIGIN");
  });

  test("is not begun with a wrong token, nor by a page of somebody else", async () => {
    const wrong = await login("wrong-horse-battery-staple");

    expect(wrong.statusCode).toBe(401);
    expect(wrong.headers["set-cookie"]).toBeUndefined();
    expect((await login(TOKEN, { host: HOST, origin: "http://evil.example" })).statusCode).toBe(403);
  });

  test("is ended by taking the cookie back", async () => {
    const response = await app.inject({ method: "DELETE", url: "/api/v1/session" });

    expect(response.statusCode).toBe(204);
    expect(response.headers["set-cookie"]).toContain("Max-Age=0");
  });

  test("does not help a wrong token", async () => {
    const headers = { cookie: await logIn(SAME), authorization: "Bearer wrong-horse-battery-staple" };

    expect(await codeOf({ url: "/api/v1/about", headers })).toBe("UNAUTHENTICATED");
  });

  test("is only sent by https where it was begun so", async () => {
    const response = await login(TOKEN, { "x-forwarded-proto": "https" });

    expect(response.headers["set-cookie"]).toContain("; Secure");
    expect((await login(TOKEN)).headers["set-cookie"]).not.toContain("Secure");
  });
});

describe("who asks too often", () => {
  test("hears when to come again; others and probes go on", async () => {
    const cookie = await logIn();
    const ask = (remoteAddress: string) =>
      app.inject({ url: "/api/v1/about", headers: { cookie }, remoteAddress });
    const answers = await Promise.all(Array.from({ length: 400 }, () => ask("192.0.2.1")));
    const refused = answers.filter(({ statusCode }) => statusCode === 429);

    expect(refused.length).toBeGreaterThan(20);
    expect(refused[0]?.headers["retry-after"]).toBe("1");
    expect(refused[0]?.json()).toMatchObject({ code: "TOO_MANY_REQUESTS" });
    expect((await ask("192.0.2.2")).statusCode).toBe(200);
    expect((await app.inject({ url: "/readyz", remoteAddress: "192.0.2.1" })).statusCode).toBe(200);
  });

  test("by the token itself is a service, and may do so ten times as often", async () => {
    const ask = () => app.inject({ url: "/api/v1/about", headers: BEARER });
    const answers = await Promise.all(Array.from({ length: 3_000 }, ask));

    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
  });

  test("with wrong tokens does not keep out who has the right one", async () => {
    const guess = () => app.inject({ url: "/api/v1/about", headers: { authorization: "Bearer guess" } });
    const answers = await Promise.all(Array.from({ length: 40 }, guess));

    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([401, 429]));
    expect(await codeOf({ url: "/api/v1/about", headers: BEARER })).toBe(200);
  });

  test("to log in is stopped after a few, right or wrong", async () => {
    const guesses = await Promise.all(Array.from({ length: 5 }, () => login("wrong-horse-battery-staple")));

    expect(guesses.map(({ statusCode }) => statusCode)).toEqual([401, 401, 401, 401, 401]);
    const right = await login(TOKEN);
    expect(right.statusCode).toBe(429);
    expect(Number(right.headers["retry-after"])).toBeGreaterThan(1);
  });

  test("is known by the address that a trusted proxy tells, and no other", async () => {
    await app.close();
    app = create({ trustedProxies: "10.0.0.0/8" });
    const ask = (remoteAddress: string, client: number) =>
      app.inject({
        url: "/api/v1/about",
        headers: { "x-forwarded-for": `192.0.2.${client % 250}` },
        remoteAddress,
      });
    const flood = async (remoteAddress: string): Promise<boolean> => {
      const answers = await Promise.all(
        Array.from({ length: 400 }, (_, client) => ask(remoteAddress, client)),
      );
      return answers.some(({ statusCode }) => statusCode === 429);
    };

    expect(await flood("10.1.2.3")).toBe(false);
    expect(await flood("203.0.113.9")).toBe(true);
  });
});

type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The router draws a tree; each line has a part of the address and perhaps its methods. */
function routesOf(tree: string): readonly { readonly method: Method; readonly url: string }[] {
  const parts: string[] = [];
  return tree.split("\n").flatMap((line) => {
    const [, indent = "", part = "", methods = ""] =
      /^([│ ]*)[├└]── (\S+)(?: \(([A-Z, ]+)\))?/.exec(line) ?? [];
    parts.splice(indent.length / 4, Infinity, part);
    const url = parts.join("");
    return methods === "" ? [] : methods.split(", ").map((method) => ({ method: method as Method, url }));
  });
}
