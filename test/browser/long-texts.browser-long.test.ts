/** Names as long as they may be, without a space: they take no more room than a row has, and leave others theirs. */

import { createScheduler, type Scheduler } from "@signalbox/core";
import type { Browser, Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { findBrowser } from "./find-browser.ts";
import { type OpenDashboard, openDashboard } from "./open-dashboard.ts";
import { finish } from "./steered-tasks.ts";
import { excessWidth, openPage, type WatchedPage } from "./watched-page.ts";

const TITLE = "add_column_".repeat(20).slice(0, 190);
const RESOURCE = `database:${"orders_".repeat(30)}`.slice(0, 190);
/** Two lines and what is around them. */
const ROW_PX = 80;
/** Less than two lines. */
const LINES_PX = 36;

const browser: Browser | null = await findBrowser();
let dashboard: OpenDashboard;
let idle: Scheduler;
let watched: WatchedPage;

beforeAll(async () => {
  if (browser === null) return;
  dashboard = await openDashboard(inject("adminUrl"), { instances: ["inst-a"] });
  idle = createScheduler({ name: "idle", databaseUrl: dashboard.databaseUrl, tasks: [] });
  await idle.start();
  const { client } = dashboard;
  const failed = await client.createTask({ kind: "failing", title: TITLE });
  const running = await client.createTask({
    kind: "steered",
    title: TITLE,
    input: { until: "long" },
    resources: [{ name: RESOURCE, mode: "exclusive" }],
  });
  await vi.waitFor(async () => {
    expect((await client.getTaskRun(failed.taskRunId)).status).toBe("FAILED");
    expect((await client.getTaskRun(running.taskRunId)).status).toBe("RUNNING");
  }, 20_000);
  watched = await openPage(browser, dashboard.url);
});

afterAll(async () => {
  if (browser === null) return;
  finish("long");
  await browser.close();
  await idle.stop();
  await dashboard.close();
});

describe.skipIf(browser === null)("a title of 190 characters", () => {
  test.each([
    ["/", "main li"],
    ["/tasks", "main tbody tr"],
  ])("on %s takes two lines at most, and the pointer tells all of it", async (path, row) => {
    const { page } = watched;
    await page.goto(`${dashboard.url}${path}`);
    const rows = page.locator(row, { hasText: TITLE });
    await expect.poll(async () => await rows.count()).toBe(2);

    for (const each of await rows.all()) expect(await heightOf(each)).toBeLessThan(ROW_PX);
    expect(await rows.getByTitle(TITLE, { exact: true }).count()).toBe(2);
    expect(await excessWidth(page)).toBe(0);
  });
});

describe.skipIf(browser === null)("a resource with a name of 190 characters", () => {
  test.each([1280, 800, 390])("does not break the words beside it at %i px", async (width) => {
    const { page } = watched;
    await page.setViewportSize({ width, height: 800 });
    await page.goto(`${dashboard.url}/resources`);
    const open = page.locator("tbody").getByText("open", { exact: true });
    await expect.poll(async () => await open.count()).toBe(2);

    for (const each of await open.all()) expect(await heightOf(each)).toBeLessThan(LINES_PX);
    expect(await excessWidth(page)).toBe(0);
  });
});

describe.skipIf(browser === null)("an instance without tasks", () => {
  test("says nothing of kinds", async () => {
    const { page } = watched;
    await page.goto(`${dashboard.url}/cluster`);
    await page.locator('[data-instance="inst-a"]').getByText("Kind: ").waitFor();

    expect(await page.locator('[data-instance="idle"]').innerText()).not.toContain("Kind");
  });
});

async function heightOf(locator: Locator): Promise<number> {
  return (await locator.boundingBox())?.height ?? 0;
}
