/** Pages of real processes: `signalbox serve` behind a proxy, and `signalbox dev` on an empty database. */

import { gzipSync } from "node:zlib";
import { createClient } from "@signalbox/contract";
import { createScheduler, defineTask } from "@signalbox/core";
import { createTestDatabase, type TestDatabase } from "@signalbox/core/testing";
import pg from "pg";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { freePort, startCommand, startServer, TOKEN } from "../ha/serve-process.ts";
import { findBrowser } from "./find-browser.ts";
import { openFrontDoor } from "./front-door.ts";
import { noteRowVersions } from "./row-versions.ts";
import { openPage } from "./watched-page.ts";

const LATER = "2126-11-16T12:00:00.000Z";
const KIND = "wait-for-file";
const LIVE_AGAIN_MS = 10_000;
const FIRST_LOAD_BYTES = 200_000;

const browser: Browser | null = await findBrowser();
let database: TestDatabase;
const ends: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  if (browser !== null) database = await createTestDatabase(inject("adminUrl"));
});
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
  await database?.drop();
});
afterAll(async () => {
  await browser?.close();
});

describe.skipIf(browser === null)("a page whose server is killed", () => {
  test("is live again by the next one, shows all that has changed, and no row goes back", async () => {
    const [serving, other] = [await serve(), await serve()];
    const door = await openFrontDoor([serving.port, other.port]);
    ends.push(door.close);
    const { page, close } = await openPage(found(), `${door.url}/tasks`);
    ends.push(close);
    await logIn(page);
    const client = createClient(other.url, { token: TOKEN });
    const early = await client.createTask({ kind: KIND, title: "early", runAt: LATER });
    const late = await enqueueUncommitted("committed late");
    const newer = await client.createTask({ kind: KIND, title: "newer", runAt: LATER });
    await row(page, newer.taskRunId).waitFor();
    await freshness(page, "live");
    const versions = await noteRowVersions(page);
    const states = await noteFreshness(page);

    serving.kill("SIGKILL");
    const killedAt = Date.now();
    await client.cancel(early.taskRunId);
    const meanwhile = await client.createTask({ kind: KIND, title: "meanwhile", runAt: LATER });
    await late.commit();
    await expect
      .poll(async () => (await states()).map(({ state }) => state).join(), { timeout: 30_000 })
      .toMatch(/(?:polling|offline),live$/);
    const liveAt = (await states()).findLast(({ state }) => state === "live")?.at ?? 0;

    await row(page, early.taskRunId).getByText("Canceled", { exact: true }).waitFor();
    await row(page, meanwhile.taskRunId).waitFor();
    await row(page, late.taskRunId).waitFor();
    expect(liveAt - killedAt).toBeLessThan(LIVE_AGAIN_MS);
    expect(await versions.goneBack()).toEqual([]);
    expect(await versions.rows()).toBe(4);
  });
});

describe.skipIf(browser === null)("a page that wants a token first", () => {
  test("does not say how fresh it is before it shows anything", async () => {
    const { url } = await serve();
    const { page, close } = await openPage(found(), `${url}/tasks`);
    ends.push(close);
    await page.getByLabel("Token").waitFor();

    expect(await page.locator("[data-freshness]").count()).toBe(0);
    await logIn(page);
    await freshness(page, "live");
  });
});

describe.skipIf(browser === null)("the dashboard of an empty database", () => {
  test("shows three first steps to copy, asks nobody else, and is light", async () => {
    const port = await freePort();
    const dev = startCommand(["dev", "--no-demo", "--port", String(port)], { DATABASE_URL: database.url });
    ends.push(async () => {
      dev.kill("SIGTERM");
      return await dev.ended;
    });
    const url = `http://127.0.0.1:${port}`;
    await expect.poll(async () => await answers(url), { timeout: 60_000 }).toBe(true);
    const { page, complaints, close } = await openPage(found(), "about:blank");
    ends.push(close);
    const scripts: Promise<number>[] = [];
    page.on("response", (response) => {
      if (new URL(response.url()).pathname.endsWith(".js")) scripts.push(gzippedBytes(response.body()));
    });
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: url });
    await page.goto(url);

    const cards = page.locator("main li", { has: page.locator("code") });
    await cards.first().waitFor({ timeout: 2_000 });
    expect(await page.getByText("Loading").count()).toBe(0);
    expect(await cards.count()).toBe(3);
    for (const card of await cards.all()) {
      const line = await card.locator("code").innerText();
      await card.getByRole("button", { name: "Copy command" }).click();
      await card.getByText("Copied").waitFor();
      expect(await page.evaluate("navigator.clipboard.readText()")).toBe(line);
    }
    expect(complaints.filter((line) => !line.startsWith(`request to ${url}`))).toEqual([]);
    const bytes = (await Promise.all(scripts)).reduce((sum, each) => sum + each, 0);
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThanOrEqual(FIRST_LOAD_BYTES);
  });
});

async function serve(): Promise<Awaited<ReturnType<typeof startServer>>> {
  const server = await startServer(database.url);
  ends.push(async () => {
    server.kill("SIGKILL");
    return await server.ended;
  });
  return server;
}

async function logIn(page: Page): Promise<void> {
  await page.getByLabel("Token").fill(TOKEN);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("heading", { name: "Tasks" }).waitFor();
}

interface Uncommitted {
  readonly taskRunId: string;
  readonly commit: () => Promise<void>;
}

/** Its id is given now, and nobody sees it before the commit. */
async function enqueueUncommitted(title: string): Promise<Uncommitted> {
  const scheduler = createScheduler({
    name: "caller",
    databaseUrl: database.url,
    tasks: [defineTask({ kind: KIND, run: () => null })],
  });
  const transaction = new pg.Client({ connectionString: database.url });
  await transaction.connect();
  ends.push(
    async () => await transaction.end(),
    async () => await scheduler.stop(),
  );
  await transaction.query("BEGIN");
  const { taskRunId } = await scheduler.enqueue(
    { kind: KIND, title, runAt: new Date(LATER), input: { file: "/none" } },
    { transaction },
  );
  return { taskRunId, commit: async () => void (await transaction.query("COMMIT")) };
}

function row(page: Page, taskRunId: string) {
  return page.locator(`tr[data-task-run="${taskRunId}"]`);
}

async function freshness(page: Page, state: string): Promise<void> {
  await page.locator(`[data-freshness="${state}"]`).waitFor();
}

interface SeenState {
  readonly state: string;
  readonly at: number;
}

/** Every state of the pill from now on. */
async function noteFreshness(page: Page): Promise<() => Promise<readonly SeenState[]>> {
  await page.evaluate(`
    const pill = document.querySelector("[data-freshness]");
    globalThis.freshnessSeen = [];
    const note = () => globalThis.freshnessSeen.push({ state: pill.dataset.freshness, at: Date.now() });
    new MutationObserver(note).observe(pill, { attributes: true, attributeFilter: ["data-freshness"] });
  `);
  return async () => await page.evaluate<readonly SeenState[]>("globalThis.freshnessSeen");
}

async function answers(url: string): Promise<boolean> {
  return await fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function gzippedBytes(body: Promise<Buffer>): Promise<number> {
  return gzipSync(await body).length;
}

function found(): Browser {
  if (browser === null) throw new Error("unreachable: skipped without a browser");
  return browser;
}
