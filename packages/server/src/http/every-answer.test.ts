/** What every answer has, whatever was asked, and how much may be asked. */

import { connect } from "node:net";
import { problemSchema } from "@signalbox/contract";
import type { Scheduler } from "@signalbox/core";
import type { FastifyInstance, InjectOptions } from "fastify";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createApi } from "./create-api.ts";
import { listenOnLoopback } from "./listen.ts";

const TOKEN = "correct-horse-battery-staple";
const BEARER = { authorization: `Bearer ${TOKEN}` };

let app: FastifyInstance;

function create(deps: { readonly basePath?: string } = {}): FastifyInstance {
  const logger = { error: () => {} };
  const scheduler = { overview: async () => ({ available: 1 }) } as unknown as Scheduler;
  return createApi({ scheduler, serverId: "server-1", logger, token: TOKEN, ...deps });
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

describe("below a base path", () => {
  beforeEach(async () => {
    await app.close();
    app = create({ basePath: "/signalbox" });
  });

  test("is everything, and nothing is elsewhere", async () => {
    expect(await codeOf({ url: "/signalbox/readyz" })).toBe(200);
    expect(await codeOf({ url: "/signalbox/api/v1/about?x=1", headers: BEARER })).toBe(200);
    expect(await codeOf({ url: "/readyz" })).toBe("NO_SUCH_ROUTE");
    expect(await codeOf({ url: "/api/v1/about", headers: BEARER })).toBe("NO_SUCH_ROUTE");
    expect(await codeOf({ url: "/signalboxes/readyz" })).toBe("NO_SUCH_ROUTE");
  });

  test("the stream tells what the routes answer, whatever the path is", async () => {
    await app.close();
    app = create({ basePath: "/api" });
    const { url } = await listenOnLoopback(app, 37_510);

    const response = await fetch(`${url}/api/api/v1/stream?topic=overview`, { headers: BEARER });

    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(await saidUntil(response, /event: (change|trouble)/)).toContain("event: change");
  });

  test("the token is asked for", async () => {
    expect(await codeOf({ url: "/signalbox/api/v1/about" })).toBe("UNAUTHENTICATED");
  });
});

describe("every answer", () => {
  const HEADERS = {
    "content-security-policy":
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": expect.stringContaining("camera=()"),
  };

  test.each([
    ["a good one", { url: "/healthz" }],
    ["a refusal", { url: "/api/v1/about" }],
    ["what is not there", { url: "/nowhere" }],
    ["an address that is none", { url: "/api/v1/task-runs/%zz" }],
    ["too long an address", { url: `/healthz?${"x".repeat(9_000)}` }],
  ])("has the headers that protect: %s", async (_, request) => {
    const { headers } = await app.inject(request);

    expect(headers).toMatchObject(HEADERS);
    expect(headers["strict-transport-security"]).toBeUndefined();
  });

  test("by https says that it is never to be asked by http", async () => {
    const { headers } = await app.inject({ url: "/healthz", headers: { "x-forwarded-proto": "https" } });

    expect(headers["strict-transport-security"]).toBe("max-age=31536000");
  });

  test("is short where the address is long", async () => {
    expect(await codeOf({ url: `/healthz?${"x".repeat(9_000)}` })).toBe("ADDRESS_TOO_LONG");
  });

  test.each([
    ["headers that never end", `GET /healthz HTTP/1.1\r\nx: ${"x".repeat(20_000)}`, "HEADERS_TOO_LARGE"],
    ["what is no HTTP", "hello\r\n\r\n", "INVALID_REQUEST"],
  ])("is a problem also for %s", async (_, text, code) => {
    const { port } = await listenOnLoopback(app, 37_410);

    const answer = await exchange(port, text);

    expect(answer).toContain("\r\ncontent-security-policy: default-src 'none'");
    expect(problemSchema.parse(JSON.parse(answer.split("\r\n\r\n")[1] ?? ""))).toMatchObject({ code });
  });
});

async function saidUntil(response: Response, wanted: RegExp): Promise<string> {
  let said = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    said += decoder.decode(chunk as Uint8Array, { stream: true });
    if (wanted.test(said)) break;
  }
  return said;
}

/** Sends what is no request, and reads until the server hangs up. */
async function exchange(port: number, text: string): Promise<string> {
  return await new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    socket.on("data", (chunk) => {
      answer += String(chunk);
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
  });
}
