import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { findBrowser } from "./find-browser.ts";
import { type OpenDashboard, openDashboard } from "./open-dashboard.ts";
import { finish } from "./steered-tasks.ts";
import { openPage, type WatchedPage } from "./watched-page.ts";

const ORDERS = [{ name: "database:orders", mode: "exclusive" as const }];
const browser: Browser | null = await findBrowser();
let dashboard: OpenDashboard;
let watched: WatchedPage;
let page: Page;

beforeAll(async () => {
  if (browser !== null)
    dashboard = await openDashboard(inject("adminUrl"), { instances: ["inst-a"], slots: 1 });
});

beforeEach(async () => {
  if (browser === null) return;
  watched = await openPage(browser, `${dashboard.url}/tasks`);
  ({ page } = watched);
});

afterEach(async () => {
  await watched?.close();
});

afterAll(async () => {
  if (browser === null) return;
  await browser.close();
  await dashboard.close();
});

describe.skipIf(browser === null)("a task run", () => {
  test("passes through its statuses on the page, and says why it waits", async () => {
    const { client } = dashboard;
    const first = await client.createTask({
      kind: "steered",
      title: "add column",
      input: { until: "first" },
      resources: ORDERS,
    });
    const second = await client.createTask({
      kind: "steered",
      title: "add index",
      input: { until: "second" },
      resources: ORDERS,
    });
    await page.goto(`${dashboard.url}/task-runs/${second.taskRunId}`);

    const why = page.getByRole("region", { name: "Why" });
    await why.getByText("Database in use by another task").first().waitFor();
    await why
      .locator('[data-gate="RESOURCE_BUSY"][data-state="blocking"]')
      .getByText("Number 1 of 1 in line")
      .waitFor();
    expect(await why.locator("[data-gate]").count()).toBeGreaterThan(2);
    expect(await why.getByRole("link", { name: "add column" }).getAttribute("href")).toBe(
      `/task-runs/${first.taskRunId}`,
    );

    finish("first");
    await shows("Running");
    expect(await page.getByText("Database in use by another task").count()).toBeLessThanOrEqual(1);
    finish("second");
    await shows("Done");
    await page.getByRole("log").getByText("finished").waitFor();
    await page.getByText('"ended": "second"').waitFor();
  });

  test("that nobody has claimed says that no slot is free, and has no waiting cause", async () => {
    const { client } = dashboard;
    await client.createTask({ kind: "steered", title: "long one", input: { until: "slot" } });
    const second = await client.createTask({ kind: "steered", title: "next one" });
    await page.goto(`${dashboard.url}/task-runs/${second.taskRunId}`);

    await page
      .locator("[data-claim-panel]")
      .getByText("nobody has claimed it: 1 of 1 instance has no free slot")
      .waitFor();
    expect(await page.locator("[data-gate]").count()).toBe(0);

    finish("slot");
    await shows("Done");
  });

  test("is canceled only after the harmless button was left, and tried again", async () => {
    const { client } = dashboard;
    await client.createTask({
      kind: "steered",
      title: "holder",
      input: { until: "holder" },
      resources: ORDERS,
    });
    const { taskRunId } = await client.createTask({ kind: "steered", title: "unwanted", resources: ORDERS });
    await page.goto(`${dashboard.url}/task-runs/${taskRunId}`);

    await page.getByRole("button", { name: "Cancel task run" }).click();
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Keep it");
    await page.keyboard.press("Escape");
    expect((await client.getTaskRun(taskRunId)).status).toBe("PENDING");
    await page.getByRole("button", { name: "Cancel task run" }).click();
    await page.getByLabel("Reason (optional)").fill("not needed");
    await page.getByRole("alertdialog").getByRole("button", { name: "Cancel task run" }).click();
    await shows("Canceled");
    await page.getByText("not needed").waitFor();

    await page.getByRole("button", { name: "Retry task" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Retry task" }).click();
    await page.getByText("Attempt 2").first().waitFor();
    finish("holder");
    await shows("Done");
  });

  test("opens its log at the first error, and finds text in all of it", async () => {
    const { taskRunId } = await dashboard.client.createTask({ kind: "failing", title: "import" });
    await page.goto(`${dashboard.url}/task-runs/${taskRunId}`);
    await shows("Failed");

    const log = page.getByRole("log");
    await log.getByText("ERROR: deadlock detected").waitFor();
    expect(await log.locator(".ansi-red").innerText()).toBe("ERROR: deadlock detected");
    await log.focus();
    await page.keyboard.press("Control+f");
    await page.getByLabel("Find in log").fill("SECOND");
    await page.getByText("1 of 1").waitFor();
  });

  test("waits behind a button while somebody reads the list", async () => {
    const { client } = dashboard;
    await client.createTask({ kind: "steered", title: "seen" });
    await page.getByRole("link", { name: "seen" }).focus();

    await client.createTask({ kind: "steered", title: "unseen" });
    await page.getByRole("button", { name: "1 new – show" }).waitFor();
    expect(await page.getByRole("link", { name: "unseen" }).count()).toBe(0);

    await page.getByRole("button", { name: "1 new – show" }).click();
    await page.getByRole("link", { name: "unseen" }).waitFor();
  });
});

/** The status beside the title. */
async function shows(word: string): Promise<void> {
  await page
    .locator("main h1 + div [data-status]")
    .getByText(word, { exact: true })
    .waitFor({ timeout: 30_000 });
}
