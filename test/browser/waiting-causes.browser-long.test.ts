/** Each task of a run waits for something else, and the page of each says for what. */

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { findBrowser } from "./find-browser.ts";
import { type OpenDashboard, openDashboard } from "./open-dashboard.ts";
import { finish } from "./steered-tasks.ts";
import { openPage, type WatchedPage } from "./watched-page.ts";

const ORDERS = [{ name: "database:orders", mode: "exclusive" as const }];
const AHEAD_MS = 120_000;

const browser: Browser | null = await findBrowser();
let dashboard: OpenDashboard;
let watched: WatchedPage;

beforeAll(async () => {
  if (browser === null) return;
  dashboard = await openDashboard(inject("adminUrl"), { instances: ["inst-a"] });
  watched = await openPage(browser, `${dashboard.url}/tasks`);
});

afterAll(async () => {
  if (browser === null) return;
  await watched.close();
  await browser.close();
  await dashboard.close();
});

describe.skipIf(browser === null)("five tasks of a run that takes one at a time", () => {
  test("say each its own cause, and none that is AVAILABLE says one", async () => {
    const { page } = watched;
    const steered = (title: string, more: object = {}) => ({ kind: "steered", title, ...more });
    const { taskRuns } = await dashboard.client.createTasks({
      run: { title: "release", limit: 1 },
      tasks: [
        steered("first", { input: { until: "first" }, priority: 0 }),
        steered("next"),
        steered("tomorrow", { runAt: new Date(Date.now() + AHEAD_MS).toISOString() }),
        steered("version 1", { resources: ORDERS, version: "1" }),
        steered("version 2", { resources: ORDERS, version: "2" }),
      ],
    });
    const [, next = "", tomorrow = "", , larger = ""] = taskRuns.map(({ taskRunId }) => taskRunId);
    const saysOn = async (taskRunId: string, gate: string, text: RegExp): Promise<void> => {
      await page.goto(`${dashboard.url}/task-runs/${taskRunId}`);
      await page
        .locator(`[data-gate="${gate}"][data-state="blocking"]`)
        .getByText(text)
        .first()
        .waitFor({ timeout: 30_000 });
    };

    await saysOn(next, "RUN_LIMIT", /\b1 of 1\b/);
    await saysOn(tomorrow, "RUN_AT", /\bin (?:1 min|2 min|\d+ sec)/);
    await saysOn(larger, "VERSION_ORDER", /\b1\b/);

    await page.goto(`${dashboard.url}/tasks`);
    await page.locator("[data-task-run]").first().waitFor();
    const rows = await page.locator("[data-task-run]").allInnerTexts();
    expect(rows).toHaveLength(5);
    expect(rows.filter((row) => row.includes("Pending"))).toHaveLength(4);
    expect(rows.filter((row) => row.includes("Available"))).toEqual([]);
    finish("first");
  });
});
