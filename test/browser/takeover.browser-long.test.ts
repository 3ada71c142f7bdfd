/** An instance is killed in the middle of a task, and the pages tell what becomes of both. */

import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@signalbox/contract";
import { createTestDatabase, type TestDatabase } from "@signalbox/core/testing";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { type Server, startServer, TOKEN } from "../ha/serve-process.ts";
import { findBrowser } from "./find-browser.ts";
import { openPage } from "./watched-page.ts";

/** Lease and grace as they come, and five seconds. */
const TAKEN_OVER_WITHIN_MS = 45_000;
const FILE = join(tmpdir(), `signalbox-takeover-${process.pid}`);

const browser: Browser | null = await findBrowser();
let database: TestDatabase;
let servers: readonly Server[] = [];

beforeAll(async () => {
  if (browser === null) return;
  database = await createTestDatabase(inject("adminUrl"));
  servers = [await startServer(database.url), await startServer(database.url)];
});

afterAll(async () => {
  rmSync(FILE, { force: true });
  for (const server of servers) server.kill("SIGKILL");
  await Promise.all(servers.map(async ({ ended }) => await ended));
  await browser?.close();
  await database?.drop();
});

describe.skipIf(browser === null)("an instance that dies in the middle of a task", () => {
  test("is late, then lost, and its task goes on elsewhere as the next attempt", async () => {
    const clients = servers.map(({ url }) => createClient(url, { token: TOKEN }));
    const [client] = clients;
    if (client === undefined || browser === null) throw new Error("unreachable: there are two");
    const { taskId, taskRunId } = await client.createTask({
      kind: "wait-for-file",
      title: "add column",
      input: { file: FILE },
    });
    await expect.poll(async () => (await client.getTaskRun(taskRunId)).status).toBe("RUNNING");
    const name = (await client.getTaskRun(taskRunId)).instanceName ?? "";
    // It is called after its host and its process, which every line of its log names.
    const pid = name.slice(name.lastIndexOf("-") + 1);
    const dying = servers.findIndex((server) => server.stderr().includes(`"pid":${pid},`));
    const living = clients[1 - dying];
    const { page, close } = await openPage(browser, `${servers[1 - dying]?.url}/cluster`);
    await page.getByLabel("Token").fill(TOKEN);
    await page.getByRole("button", { name: "Log in" }).click();
    const card = page.locator(`[data-instance="${name}"]`);
    await card.locator('[data-state="live"]').waitFor();

    servers[dying]?.kill("SIGKILL");

    await card.locator('[data-state="late"]').waitFor({ timeout: TAKEN_OVER_WITHIN_MS });
    await card.locator('[data-state="lost"]').waitFor({ timeout: TAKEN_OVER_WITHIN_MS });
    const newest = async () => (await living?.listAttempts(taskId))?.taskRuns[0];
    await expect
      .poll(async () => (await newest())?.status, { timeout: TAKEN_OVER_WITHIN_MS })
      .toBe("RUNNING");
    expect(await newest()).toMatchObject({ attempt: 2 });
    expect((await newest())?.instanceName).not.toBe(name);
    await page.goto(`${servers[1 - dying]?.url}/task-runs/${taskRunId}`);
    await page.getByText("LEASE_LOST").first().waitFor();
    expect(await page.getByRole("button", { name: "Retry task" }).count()).toBe(0);
    await page.getByRole("link", { name: "Attempt 2" }).click();
    writeFileSync(FILE, "");
    await page.locator("main h1 + div [data-status]").getByText("Done", { exact: true }).waitFor();
    await close();
  });
});

describe.skipIf(browser === null)("an instance that is told to end", () => {
  test("has left, and is not taken for lost", async () => {
    if (browser === null) throw new Error("unreachable: skipped without a browser");
    const [staying, leaving] = [await startServer(database.url), await startServer(database.url)];
    servers = [...servers, staying, leaving];
    const pid = /"pid":(\d+)/.exec(leaving.stderr())?.[1];
    const { page, close } = await openPage(browser, `${staying.url}/cluster`);
    await page.getByLabel("Token").fill(TOKEN);
    await page.getByRole("button", { name: "Log in" }).click();
    const card = page.locator(`[data-instance$="-${pid}"]`);
    await card.locator('[data-state="live"]').waitFor();

    leaving.kill("SIGTERM");
    await leaving.ended;

    await card.locator('[data-state="left"]').getByText("Left", { exact: true }).waitFor();
    expect(await card.getByRole("button", { name: "Drain" }).count()).toBe(0);
    await close();
  });
});
