/** Every header of every sort of answer: one that appears, changes or is gone is a decision. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Scheduler } from "@signalbox/core";
import type { FastifyInstance, InjectOptions } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createApi } from "./create-api.ts";
import { addDashboard } from "./dashboard.ts";

const TOKEN = "correct-horse-battery-staple";
const BEARER = { authorization: `Bearer ${TOKEN}` };
const folder = mkdtempSync(join(tmpdir(), "signalbox-headers-"));

let app: FastifyInstance;

beforeAll(() => {
  writeFileSync(join(folder, "index.html"), "<!doctype html>");
  app = createApi({
    scheduler: { overview: async () => ({}) } as unknown as Scheduler,
    serverId: "server-1",
    logger: { error: () => {} },
    metrics: { contentType: "text/plain", render: async () => "" },
    token: TOKEN,
  });
  addDashboard(app, { folder });
});
afterAll(async () => {
  await app.close();
  rmSync(folder, { recursive: true });
});

/** Those that are other each time are named only. */
const CHANGING = new Set(["date", "etag", "content-length", "x-request-id"]);

async function headersOf(request: InjectOptions): Promise<readonly string[]> {
  const { headers } = await app.inject(request);
  return Object.entries(headers)
    .map(([name, value]) => (CHANGING.has(name) ? name : `${name}: ${String(value)}`))
    .toSorted();
}

const SAME = [
  "connection: keep-alive",
  "cross-origin-opener-policy: same-origin",
  "cross-origin-resource-policy: same-origin",
  "date",
  "permissions-policy: camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
  "x-content-type-options: nosniff",
  "x-request-id",
];
const OF_DATA = [
  ...SAME,
  "cache-control: no-store",
  "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy: no-referrer",
];
const OF_PAGES = [
  ...SAME,
  "cache-control: no-cache",
  "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'",
  "etag",
  "referrer-policy: same-origin",
  "vary: accept-encoding",
];
const PROBLEM = "content-type: application/problem+json; charset=utf-8";
const JSON_TYPE = "content-type: application/json; charset=utf-8";
const HTML = "content-type: text/html; charset=utf-8";

test.each<[string, InjectOptions, readonly string[], readonly string[]]>([
  ["an answer of the API", { url: "/api/v1/overview", headers: BEARER }, OF_DATA, [JSON_TYPE]],
  ["a problem", { url: "/api/v1/nowhere", headers: BEARER }, OF_DATA, [PROBLEM]],
  [
    "a refusal",
    { url: "/api/v1/overview" },
    OF_DATA,
    [PROBLEM, 'www-authenticate: Bearer realm="signalbox"'],
  ],
  ["the description", { url: "/api/v1/openapi.json", headers: BEARER }, OF_DATA, [JSON_TYPE]],
  ["the page of the description", { url: "/docs", headers: BEARER }, OF_DATA, [HTML]],
  ["a page of the dashboard", { url: "/tasks" }, OF_PAGES, [HTML]],
  ["a probe", { url: "/livez" }, OF_DATA, ["content-type: text/plain"]],
  ["metrics", { url: "/metrics", headers: BEARER }, OF_DATA, ["content-type: text/plain"]],
])("%s has these and no other", async (_, request, same, own) => {
  expect(await headersOf(request)).toEqual(["content-length", ...same, ...own].toSorted());
});

test("a session has a cookie that no script reads and no other site sends", async () => {
  const { headers } = await app.inject({ method: "POST", url: "/api/v1/session", payload: { token: TOKEN } });

  expect(headers["set-cookie"]).toMatch(/; HttpOnly; SameSite=(Lax|Strict)/);
  expect(headers["cache-control"]).toBe("no-store");
});
