/** What a page of somebody else can make a browser send with the cookie of who looks at it: forms, and JSON in disguise. */

import { problemSchema, ROUTES } from "@signalbox/contract";
import type { Scheduler } from "@signalbox/core";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApi } from "./create-api.ts";

const TOKEN = "correct-horse-battery-staple";
const HOST = "signalbox.example";
const CHANGES = ROUTES.filter(({ method, path }) => method !== "GET" && path !== "/api/v1/session");

const calls: string[] = [];
/** Every call of it is one that a forged request has reached. */
const scheduler = new Proxy({} as Scheduler, {
  get: (_, name) => () => {
    calls.push(String(name));
  },
});

let app: FastifyInstance;
let cookie: string;

beforeAll(async () => {
  app = createApi({ scheduler, serverId: "server-1", logger: { error: () => {} }, token: TOKEN });
  const begun = await app.inject({ method: "POST", url: "/api/v1/session", payload: { token: TOKEN } });
  cookie = String(begun.headers["set-cookie"]).split(";")[0] ?? "";
});
afterAll(async () => {
  await app.close();
});

const FORGED = [
  ["a form", { "content-type": "application/x-www-form-urlencoded", origin: "http://evil.example" }],
  ["a form with files", { "content-type": "multipart/form-data; boundary=x", origin: "http://evil.example" }],
  ["JSON as plain text", { "content-type": "text/plain", origin: "http://evil.example" }],
  ["JSON as plain text, from a frame without an origin", { "content-type": "text/plain", origin: "null" }],
  ["JSON without an origin", { "content-type": "application/json" }],
  [
    "JSON without an origin, from another site",
    { "content-type": "application/json", "sec-fetch-site": "cross-site" },
  ],
  ["JSON without a type", { origin: "http://evil.example" }],
  ["another spelling of JSON", { "content-type": "text/json", origin: "http://evil.example" }],
] as const satisfies readonly (readonly [string, Readonly<Record<string, string>>])[];

describe.each(FORGED)("%s, with the cookie", (_, headers) => {
  test.each(CHANGES)("changes nothing by $method $path", async ({ method, path }) => {
    const response = await app.inject({
      method,
      url: path.replaceAll(/:\w+/g, "x"),
      headers: { host: HOST, cookie, ...headers },
      remoteAddress: addressFor(path),
      payload: '{"kind":"x"}',
    });

    expect([403, 415]).toContain(response.statusCode);
    expect(["FOREIGN_ORIGIN", "UNSUPPORTED_MEDIA_TYPE"]).toContain(problemSchema.parse(response.json()).code);
    expect(calls).toEqual([]);
  });
});

test("a form of a page of this server is not read either", async () => {
  const response = await app.inject({
    method: "POST",
    url: "/api/v1/task-runs",
    headers: {
      host: HOST,
      cookie,
      origin: `http://${HOST}`,
      "content-type": "application/x-www-form-urlencoded",
    },
    payload: "kind=x",
  });

  expect(response.json()).toMatchObject({ code: "UNSUPPORTED_MEDIA_TYPE" });
  expect(calls).toEqual([]);
});

test("a page of somebody else may read nothing: no answer allows another origin", async () => {
  const headers = { host: HOST, cookie, origin: "http://evil.example" };
  const read = await app.inject({ url: "/api/v1/about", headers });
  const preflight = await app.inject({
    method: "OPTIONS",
    url: "/api/v1/task-runs",
    headers: { ...headers, "access-control-request-method": "POST" },
  });

  for (const answer of [read, preflight]) {
    expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
  }
  expect(preflight.statusCode).toBe(404);
});

/** Else the next ones would be refused for coming too often. */
function addressFor(path: string): string {
  return `192.0.2.${CHANGES.findIndex((route) => route.path === path)}`;
}
