import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Scheduler } from "@signalbox/core";
import { type FastifyInstance, fastify } from "fastify";
import { afterEach, describe, expect, test } from "vitest";
import { createApi } from "./create-api.ts";
import { addDashboard } from "./dashboard.ts";

const PAGE = '<!doctype html><base href="/" /><script src="./theme.js"></script>';
const folders: string[] = [];
const apps: FastifyInstance[] = [];

afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

describe("a page", () => {
  test.each(["/", "/tasks?status=FAILED", "/task-runs/019a", "/resources/prod%2Forders"])(
    "%s is index.html, asked for anew each time",
    async (url) => {
      const answer = await served().inject({ url });

      expect(answer.statusCode).toBe(200);
      expect(answer.headers["content-type"]).toBe("text/html; charset=utf-8");
      expect(answer.headers["cache-control"]).toBe("no-cache");
      expect(answer.body).toBe(PAGE);
    },
  );

  test("allows scripts and styles of its own origin only, and nobody to frame it", async () => {
    const { headers } = await served().inject({ url: "/" });

    const policy = String(headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
    expect(headers["x-content-type-options"]).toBe("nosniff");
  });

  test.each([
    ["signalbox", "/signalbox/"],
    ["/tools//signalbox/", "/tools/signalbox/"],
    ['/"><script>alert(1)</script>', "/%22%3E%3Cscript%3Ealert(1)%3C/script%3E/"],
  ])("carries the base path %s", async (basePath, written) => {
    const { body } = await served({ basePath }).inject({ url: "/" });

    expect(body).toBe(PAGE.replace('href="/"', `href="${written}"`));
  });

  test("is not sent again to whoever has it", async () => {
    const app = served();
    const { headers } = await app.inject({ url: "/" });

    const again = await app.inject({ url: "/", headers: { "if-none-match": String(headers.etag) } });

    expect(again.statusCode).toBe(304);
    expect(again.body).toBe("");
  });
});

describe("a file of the build", () => {
  test("is kept for ever, since its name changes with its content", async () => {
    const answer = await served().inject({ url: "/assets/index-abc.js" });

    expect(answer.body).toBe("plain");
    expect(answer.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    expect(answer.headers["content-type"]).toBe("text/javascript; charset=utf-8");
  });

  test.each([
    ["br, gzip", "br", "brotli"],
    ["gzip, deflate", "gzip", "gzipped"],
    ["br;q=0, gzip;q=0.5", "gzip", "gzipped"],
    ["identity", undefined, "plain"],
  ])("is sent compressed as the browser accepts it: %s", async (accept, encoding, body) => {
    const answer = await served().inject({
      url: "/assets/index-abc.js",
      headers: { "accept-encoding": accept },
    });

    expect(answer.headers["content-encoding"]).toBe(encoding);
    expect(answer.body).toBe(body);
    expect(answer.headers.vary).toBe("accept-encoding");
  });

  test.each([
    "/assets/gone.js",
    "/api/v1/nothing",
    "/metrics",
    "/assets/..%2f..%2fpackage.json",
    "/assets/../../../etc/passwd",
  ])("%s is not there, and is not answered with the page", async (url) => {
    const answer = await served().inject({ url });

    expect(answer.body).not.toContain("root:");
    expect(answer.body).not.toContain("workspaces");
    if (url !== "/assets/../../../etc/passwd") expect(answer.statusCode).toBe(404);
  });

  test("the list of the build is no file of it", async () => {
    expect((await served().inject({ url: "/.vite/manifest.json" })).body).toBe(PAGE);
  });
});

test("routes of the API go before it", async () => {
  const app = served();
  expect((await app.inject({ url: "/api/v1/overview" })).json()).toEqual({ running: 1 });
});

test("a server with a token shows the page to everybody, and its data to nobody without the token", async () => {
  const app = createApi({
    scheduler: {} as Scheduler,
    serverId: "server-1",
    logger: { error: () => {} },
    token: "a-token-that-nobody-guesses-at-all",
  });
  apps.push(app);
  addDashboard(app, { folder: buildFolder() });

  const page = await app.inject({ url: "/tasks", headers: { host: "signalbox.example" } });
  expect(page.statusCode).toBe(200);
  expect(page.headers["content-security-policy"]).toContain("base-uri 'self'");
  expect((await app.inject({ url: "/api/v1/overview" })).statusCode).toBe(401);
  expect((await app.inject({ url: "/api/v1/nothing" })).headers["content-type"]).toContain("problem+json");
});

test("without a build nothing is added", () => {
  const app = fastify();
  apps.push(app);

  expect(addDashboard(app, { folder: join(tmpdir(), "signalbox-no-such-folder") })).toBe(false);
  expect(app.hasRoute({ method: "GET", url: "/*" })).toBe(false);
});

function served(options: { readonly basePath?: string } = {}): FastifyInstance {
  const app = fastify();
  apps.push(app);
  app.get("/api/v1/overview", () => ({ running: 1 }));
  expect(addDashboard(app, { folder: buildFolder(), ...options })).toBe(true);
  return app;
}

function buildFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-dashboard-"));
  folders.push(folder);
  for (const name of ["assets", ".vite"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "index.html"), PAGE);
  writeFileSync(join(folder, ".vite/manifest.json"), "{}");
  writeFileSync(join(folder, "assets/index-abc.js"), "plain");
  writeFileSync(join(folder, "assets/index-abc.js.br"), "brotli");
  writeFileSync(join(folder, "assets/index-abc.js.gz"), "gzipped");
  return folder;
}
