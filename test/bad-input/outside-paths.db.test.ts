/** Paths that lead out of where they were asked for, as bytes on a socket: a client would tidy them up. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, inject, it } from "vitest";
import { createApi } from "../../packages/server/src/http/create-api.ts";
import { addDashboard } from "../../packages/server/src/http/dashboard.ts";
import { listenOnLoopback } from "../../packages/server/src/http/listen.ts";
import { openApi } from "../../packages/server/test/api-fixture.ts";
import { PATH_TEXTS } from "../hostile/path-texts.ts";

const SECRET = "canary-that-nobody-may-read";
const PAGE = "<!doctype html><title>the page</title>";
const SCRIPT = "the script";

/** The build, and beside it what nobody is to see, under every name that is asked for. */
const folder = mkdtempSync(join(tmpdir(), "signalbox-paths-"));
for (const dir of ["web/assets", "web/.vite", "etc"]) mkdirSync(join(folder, dir), { recursive: true });
for (const name of ["etc/passwd", "package.json", ".env", "web/.env", "web/.vite/manifest.json"]) {
  writeFileSync(join(folder, name), SECRET);
}
writeFileSync(join(folder, "web/index.html"), PAGE);
writeFileSync(join(folder, "web/assets/index-abc.js"), SCRIPT);

const box = await openApi(inject("adminUrl"));
const api = createApi({ scheduler: box.scheduler, serverId: "server-1", logger: { error: () => {} } });
addDashboard(api, { folder: join(folder, "web") });
const { port } = await listenOnLoopback(api, 29_510);
afterAll(async () => {
  await api.close();
  await box.close();
  rmSync(folder, { recursive: true });
});

interface Answer {
  readonly status: number | undefined;
  readonly text: string;
}

async function ask(path: string): Promise<Answer> {
  return await new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, path }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode, text }));
    });
    sent.on("error", reject).end();
  });
}

/** No byte of a file but the page itself, which every unknown address of the dashboard is. */
function expectNothing({ status, text }: Answer): void {
  expect(text).not.toContain(SECRET);
  expect(text).not.toContain("root:");
  expect(status).toBeLessThan(500);
  if (status === 200) expect(text).toBe(PAGE);
}

describe("a file of the dashboard", () => {
  it("is there, and is what is asked for below", async () => {
    expect(await ask("/assets/index-abc.js")).toEqual({ status: 200, text: SCRIPT });
  });

  it.each(["/", "/assets/", "/assets/../"])("%s and a path that leads out of it is none", async (before) => {
    for (const path of PATH_TEXTS) expectNothing(await ask(`${before}${path}`));
  });
});

describe("what a task run has printed", () => {
  it("is found by an id, never by a path", async () => {
    for (const path of PATH_TEXTS) {
      const answer = await ask(`/api/v1/task-runs/${path}/log`);

      expectNothing(answer);
      expect([400, 404, 414]).toContain(answer.status);
    }
  });
});
