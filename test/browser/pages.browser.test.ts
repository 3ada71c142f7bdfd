import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { findBrowser } from "./find-browser.ts";
import { type OpenDashboard, openDashboard } from "./open-dashboard.ts";
import { finish } from "./steered-tasks.ts";
import { axeFindings, excessWidth, openPage, type WatchedPage } from "./watched-page.ts";

const ORDERS = [{ name: "database:orders", mode: "exclusive" as const }];

const browser: Browser | null = await findBrowser();
let dashboard: OpenDashboard;
let addresses: Readonly<Record<string, string>>;

beforeAll(async () => {
  if (browser === null) return;
  dashboard = await openDashboard(inject("adminUrl"), { instances: ["inst-a", "inst-b"] });
  const { client, scheduler } = dashboard;
  const running = await client.createTask({
    kind: "steered",
    title: "add column",
    input: { until: "pages" },
    resources: ORDERS,
  });
  const waiting = await client.createTask({ kind: "steered", title: "add index", resources: ORDERS });
  const failed = await client.createTask({
    kind: "failing",
    title: "<img src=x onerror=alert(1)> \u202egnp.exe",
  });
  const run = await client.createTasks({ tasks: [{ kind: "steered" }], run: { title: "nightly", limit: 1 } });
  const operation = await client.startOperation({ verb: "retry", filter: { ids: [waiting.taskRunId] } });
  await scheduler.pause({ queue: "mail" }, { by: "ana", reason: "moving house" });
  await vi.waitFor(async () => {
    expect((await client.getTaskRun(failed.taskRunId)).status).toBe("FAILED");
    expect((await client.getTaskRun(running.taskRunId)).status).toBe("RUNNING");
  }, 20_000);
  addresses = {
    overview: "/",
    tasks: "/tasks",
    "tasks of a run": `/tasks?runId=${run.runId}`,
    "no task matches": "/tasks?status=CANCELED&kind=nothing",
    waiting: `/task-runs/${waiting.taskRunId}`,
    running: `/task-runs/${running.taskRunId}`,
    failed: `/task-runs/${failed.taskRunId}`,
    "unknown task run": "/task-runs/019a8c3e-5d21-7abc-8def-000000000001",
    operations: "/operations",
    operation: `/operations/${operation.operationId}`,
    resources: "/resources",
    resource: "/resources/database%3Aorders",
    cluster: "/cluster",
    preferences: "/preferences",
    "unknown page": "/nothing/here",
  };
});

afterAll(async () => {
  if (browser === null) return;
  finish("pages");
  await browser.close();
  await dashboard.close();
});

const NAMES = [
  "overview",
  "tasks",
  "tasks of a run",
  "no task matches",
  "waiting",
  "running",
  "failed",
  "unknown task run",
  "operations",
  "operation",
  "resources",
  "resource",
  "cluster",
  "preferences",
  "unknown page",
];
const LOOKS = [
  { colorScheme: "light", width: 1280 },
  { colorScheme: "dark", width: 390 },
  { colorScheme: "dark", width: 1280 },
  { colorScheme: "light", width: 390 },
] as const;
/** `npm test` takes the first two: each theme and each width once. */
const looks = process.env["SIGNALBOX_ALL_LOOKS"] === undefined ? LOOKS.slice(0, 2) : LOOKS;

describe.skipIf(browser === null).each(looks)("$colorScheme at $width px", ({ colorScheme, width }) => {
  let watched: WatchedPage;

  beforeAll(async () => {
    watched = await openPage(found(), dashboard.url, { colorScheme, viewport: { width, height: 800 } });
  });

  afterAll(async () => {
    await watched.close();
  });

  test.each(NAMES)("%s: axe finds nothing, and nothing leaves the window or the origin", async (name) => {
    const { page, complaints } = watched;
    await page.goto(`${dashboard.url}${addresses[name]}`);
    await page.locator("main h1").waitFor();
    // Until nothing loads any more: a placeholder would pass every check.
    await expect.poll(async () => await page.getByText("Loading").count(), { timeout: 10_000 }).toBe(0);

    expect(await axeFindings(page)).toEqual([]);
    expect(await excessWidth(page)).toBe(0);
    expect(complaints.filter((line) => !isForeseen(line))).toEqual([]);
  });

  test("no page is wider than 320 px", async () => {
    const { page } = watched;
    await page.setViewportSize({ width: 320, height: 800 });
    const wide: string[] = [];
    for (const name of NAMES) {
      await page.goto(`${dashboard.url}${addresses[name]}`);
      await page.locator("main h1").waitFor();
      if ((await excessWidth(page)) > 0) wide.push(name);
    }

    expect(wide).toEqual([]);
  });
});

describe.skipIf(browser === null)("the frame", () => {
  test("nothing moves for those who asked for less motion", async () => {
    const { page, close } = await openPage(found(), `${dashboard.url}/cluster`, { reducedMotion: "reduce" });
    await page.locator("[data-instance]").first().waitFor();

    expect(await page.evaluate("document.getAnimations().length")).toBe(0);
    await close();
  });

  test.each([
    ["zh-CN", "资源", "失败"],
    ["es-ES", "Recursos", "Fallida"],
    ["ja-JP", "リソース", "失敗"],
    ["vi-VN", "Tài nguyên", "Thất bại"],
  ])("speaks %s", async (locale, resources, failed) => {
    const { page, close } = await openPage(found(), `${dashboard.url}/tasks?status=FAILED`, { locale });

    await page.getByRole("link", { name: resources }).first().waitFor();
    await page.locator("tbody").getByText(failed).first().waitFor();
    expect(await page.getAttribute("html", "lang")).toBe(locale);
    expect(await page.locator("main").innerText()).not.toMatch(/\b(?:Status|Filter|Pending|Failed)\b/);
    await close();
  });

  test("draws its charts in its own language where the browser's is none", async () => {
    const { page, complaints, close } = await openPage(found(), `${dashboard.url}/preferences`);
    await page.addInitScript(`
      Object.defineProperty(Navigator.prototype, "language", { get: () => "es_ES@posix" });
      Object.defineProperty(Navigator.prototype, "languages", { get: () => ["es_ES@posix"] });
    `);
    await page.goto(`${dashboard.url}/`);

    await page.locator('[role="img"] canvas').first().waitFor();
    expect(await page.getAttribute("html", "lang")).toBe("es-ES");
    expect(complaints.filter((line) => !isForeseen(line))).toEqual([]);
    await close();
  });

  test("keys go to pages, and do nothing once they are switched off", async () => {
    const { page, close } = await openPage(found(), `${dashboard.url}/`);
    await page.locator("main h1").waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("c");
    await page.waitForURL("**/cluster");

    await page.goto(`${dashboard.url}/preferences`);
    await page.getByLabel("Single-key shortcuts").uncheck();
    await page.keyboard.press("g");
    await page.keyboard.press("c");
    await page.keyboard.press("?");

    expect(await page.locator("dialog").count()).toBe(0);
    expect(page.url()).toContain("/preferences");
    await close();
  });

  test("text of others is shown as text", async () => {
    const { page, complaints, close } = await openPage(found(), `${dashboard.url}${addresses["failed"]}`);
    const dialogs: string[] = [];
    page.on("dialog", (dialog) => dialogs.push(dialog.message()));

    await page.getByRole("heading", { name: "<img src=x onerror=alert(1)> ·gnp.exe" }).waitFor();

    expect(dialogs).toEqual([]);
    expect(await page.locator("main img").count()).toBe(0);
    expect(complaints.filter((line) => !isForeseen(line))).toEqual([]);
    await close();
  });
});

function found(): Browser {
  if (browser === null) throw new Error("unreachable: skipped without a browser");
  return browser;
}

/** A task run that is not there is asked for all the same. */
function isForeseen(line: string): boolean {
  return /404 .*\/api\/v1\/(?:about|stream|task-runs\/019a8c3e-5d21-7abc-8def-000000000001)/.test(line);
}
