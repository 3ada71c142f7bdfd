import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from "vitest";
import { findBrowser } from "./find-browser.ts";
import { type OpenDashboard, openDashboard } from "./open-dashboard.ts";
import { finish, print } from "./steered-tasks.ts";
import { openPage } from "./watched-page.ts";

const REQUEST_MS = 500;
const NEVER_MS = 10_000;
const POLLED_MS = 5_000;
/** Milliseconds; those after which nothing can come any more where it did not. */
const TIMED_REQUEST = `(async () => {
  const from = performance.now();
  const signal = AbortSignal.timeout(${NEVER_MS});
  await fetch("/api/v1/task-runs?limit=1", { signal, cache: "no-store" }).then((answer) => answer.json()).catch(() => {});
  return performance.now() - from;
})()`;

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
    const pages = [page, ...(await openTabs(page, 7))];
    for (const each of pages) await freshness(each, "live");

    expect(dashboard.openStreams()).toBe(1);
    await dashboard.client.createTask({ kind: "steered", title: "for all" });
    for (const each of pages) await row(each, "for all", "Done");
    await close();
  });

  test("leaves room for requests, with eight tabs on six connections", async () => {
    const { page, close } = await openPage(found(), `${dashboard.url}/tasks`);
    const pages = [page, ...(await openTabs(page, 7))];
    for (const each of pages) await freshness(each, "live");

    const took = await Promise.all(pages.map(async (each) => await each.evaluate<number>(TIMED_REQUEST)));

    // The middle one: what else the machine does is not the dashboard's. None waits for a connection to be free.
    expect(took.toSorted((one, other) => one - other)[4]).toBeLessThan(REQUEST_MS);
    expect(Math.max(...took)).toBeLessThan(NEVER_MS);
    await close();
  });
});

describe.skipIf(browser === null)("a page whose stream is blocked", () => {
  afterEach(() => dashboard.blockStreams(false));

  test.each([
    ["which a worker holds for all tabs", ""],
    ["which one tab holds for the others", "delete globalThis.SharedWorker"],
    ["of each tab alone", "delete globalThis.SharedWorker; delete globalThis.BroadcastChannel"],
  ])("%s, polls, and is live again without being loaded again", async (_, script) => {
    const { page, close } = await openPage(found(), `${dashboard.url}/preferences`);
    await page.context().addInitScript(script);
    await page.goto(`${dashboard.url}/tasks`);
    await freshness(page, "live");
    await page.evaluate("globalThis.loadedOnce = true");
    dashboard.blockStreams(true);
    await freshness(page, "polling");
    expect(await page.locator("[data-freshness]").innerText()).toContain("polling");

    for (const change of [1, 2, 3]) {
      const until = `polled ${script.length} ${change}`;
      const { taskRunId } = await dashboard.client.createTask({
        kind: "steered",
        title: until,
        input: { until },
      });
      await row(page, until, "Running");
      finish(until);
      await row(page, until, "Done");
      const seenAt = Date.now();
      const { finishedAt } = await dashboard.client.getTaskRun(taskRunId);
      expect(seenAt - Date.parse(finishedAt ?? "")).toBeLessThan(POLLED_MS);
    }
    expect(dashboard.openStreams()).toBe(0);

    dashboard.blockStreams(false);
    await freshness(page, "live");
    expect(await page.evaluate("globalThis.loadedOnce")).toBe(true);
    await close();
  });
});

describe.skipIf(browser === null)("a page whose tab is hidden", () => {
  test("asks for nothing of a log, and for the rest of it once it is shown", async () => {
    const { taskRunId } = await dashboard.client.createTask({
      kind: "printing",
      input: { lines: 3, until: "hidden" },
    });
    const { page, close } = await openPage(found(), `${dashboard.url}/preferences`);
    await page.clock.install();
    await page.goto(`${dashboard.url}/task-runs/${taskRunId}`);
    const log = page.getByRole("log");
    print("hidden", "before\n");
    await log.getByText("before").waitFor();

    await setVisibility(page, "hidden");
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    print("hidden", "meanwhile\n");
    await page.clock.runFor(60_000);
    await page.evaluate("fetch('/readyz')");
    expect(asked.filter((url) => url.includes("/log?"))).toEqual([]);

    await setVisibility(page, "visible");
    await log.getByText("meanwhile").waitFor();
    finish("hidden");
    await close();
  });
});

/** As a browser tells it: a driver's tabs are never hidden. */
async function setVisibility(page: Page, state: "hidden" | "visible"): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, "visibilityState", { configurable: true, get: () => "${state}" });
    document.dispatchEvent(new Event("visibilitychange"));
  `);
}

async function openTabs(page: Page, count: number): Promise<readonly Page[]> {
  const tabs: Page[] = [];
  while (tabs.length < count) {
    const next = await page.context().newPage();
    await next.goto(page.url());
    tabs.push(next);
  }
  return tabs;
}

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
