import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { findBrowser } from "./find-browser.ts";
import { type OpenDashboard, openDashboard } from "./open-dashboard.ts";
import { finish } from "./steered-tasks.ts";
import { openPage } from "./watched-page.ts";

const browser: Browser | null = await findBrowser();
let dashboard: OpenDashboard;

beforeAll(async () => {
  if (browser !== null) dashboard = await openDashboard(inject("adminUrl"), { instances: ["inst-a"] });
});

afterAll(async () => {
  if (browser === null) return;
  await browser.close();
  await dashboard.close();
});

describe.skipIf(browser === null)("a page that is live", () => {
  test("shows changes without asking for them", async () => {
    const { page, close } = await openPage(found(), `${dashboard.url}/tasks`);
    await freshness(page, "live");
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));

    await dashboard.client.createTask({ kind: "steered", title: "live one", input: { until: "live" } });
    await row(page, "live one", "Running");
    finish("live");
    await row(page, "live one", "Done");

    expect(asked).toEqual([]);
    await close();
  });

  test("shares one stream with seven others, and all are told", async () => {
    const { page, close } = await openPage(found(), `${dashboard.url}/tasks`);
    const pages = [page];
    while (pages.length < 8) {
      const next = await page.context().newPage();
      await next.goto(`${dashboard.url}/tasks`);
      pages.push(next);
    }
    for (const each of pages) await freshness(each, "live");

    expect(dashboard.openStreams()).toBe(1);
    await dashboard.client.createTask({ kind: "steered", title: "for all" });
    for (const each of pages) await row(each, "for all", "Done");
    await close();
  });
});

describe.skipIf(browser === null)("a page whose stream is blocked", () => {
  test.each([
    ["which one tab holds for the others", "delete globalThis.SharedWorker"],
    ["of each tab alone", "delete globalThis.SharedWorker; delete globalThis.BroadcastChannel"],
  ])("%s, polls, and is live again without being loaded again", async (_, script) => {
    const { page, close } = await openPage(found(), `${dashboard.url}/preferences`);
    await page.context().addInitScript(script);
    await page.context().route("**/api/v1/stream?*", async (route) => await route.abort());
    await page.goto(`${dashboard.url}/tasks`);
    await freshness(page, "polling");

    const title = `polled ${script.length}`;
    await dashboard.client.createTask({ kind: "steered", title });
    await row(page, title, "Done");

    await page.context().unroute("**/api/v1/stream?*");
    await freshness(page, "live");
    await close();
  });
});

async function freshness(page: Page, state: string): Promise<void> {
  await page.locator(`[data-freshness="${state}"]`).waitFor({ timeout: 30_000 });
}

async function row(page: Page, title: string, status: string): Promise<void> {
  const found = page.locator("tbody tr", { has: page.getByText(title, { exact: true }) });
  await found.getByText(status, { exact: true }).waitFor({ timeout: 30_000 });
}

function found(): Browser {
  if (browser === null) throw new Error("unreachable: skipped without a browser");
  return browser;
}
