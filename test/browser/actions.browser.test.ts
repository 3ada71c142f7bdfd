import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { findBrowser } from "./find-browser.ts";
import { type OpenDashboard, openDashboard } from "./open-dashboard.ts";
import { openPage, type WatchedPage } from "./watched-page.ts";

const LATER = "2126-11-16T12:00:00.000Z";
const browser: Browser | null = await findBrowser();
let dashboard: OpenDashboard;
let watched: WatchedPage;
let page: Page;

beforeAll(async () => {
  if (browser === null) return;
  dashboard = await openDashboard(inject("adminUrl"), { instances: ["inst-a"] });
  await dashboard.client.createTask({ kind: "steered", queue: "mail", title: "letter", runAt: LATER });
});

beforeEach(async () => {
  if (browser === null) return;
  watched = await openPage(browser, `${dashboard.url}/resources`);
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

describe.skipIf(browser === null)("an action", () => {
  test("pauses a queue with a reason, and resumes it", async () => {
    const mail = page.locator('[data-queue="mail"]');
    await mail.getByRole("button", { name: "Pause" }).click();
    await page.getByLabel("Reason (optional)").fill("moving house");
    await confirm("Pause");

    await mail.getByText("Paused by dashboard").waitFor();
    await mail.getByText("moving house").waitFor();
    await mail.getByRole("button", { name: "Resume" }).click();
    await confirm("Resume");
    await mail.getByText("open").waitFor();
  });

  test("changes the limit of a queue; what cannot be a limit is refused in one sentence", async () => {
    const mail = page.locator('[data-queue="mail"]');
    await mail.getByRole("button", { name: "Change limit…" }).click();
    await page.getByLabel("How many may be available or running at once").fill("99999999999");
    await confirm("Change limit");
    await page.getByRole("alertdialog").getByRole("alert").waitFor();
    await page.getByLabel("How many may be available or running at once").fill("3");
    await confirm("Change limit");

    await mail.getByRole("cell", { name: "3", exact: true }).waitFor();
  });

  test("adds a window to a queue, changes it and takes it away; what is none is refused in one sentence", async () => {
    const mail = page.locator('[data-queue="mail"]');
    await mail.getByRole("button", { name: "Add window…" }).click();
    await page.getByLabel("Kind").selectOption("freeze");
    await page.getByLabel("Opens (cron").fill("every night");
    await page.getByLabel("Time zone").selectOption("UTC");
    await confirm("Add window");
    await page.getByRole("alertdialog").getByRole("alert").getByText("every night").waitFor();
    await page.getByLabel("Opens (cron").fill("0 22 * * *");
    await confirm("Add window");

    const rules = page.getByRole("region", { name: "Keys, rates and windows" });
    await rules.getByText("0 22 * * *").waitFor();
    await rules.getByRole("button", { name: "Change…" }).click();
    await page.getByLabel("Lasts (minutes)").fill("90");
    await confirm("Change window");
    await rules.getByText("1 hr 30 min").waitFor();
    expect(
      (await dashboard.client.listQueues()).queues.find(({ queue }) => queue === "mail")?.windows,
    ).toEqual([{ kind: "freeze", opens: "0 22 * * *", lastsMs: 5_400_000, timeZone: "UTC" }]);

    await rules.getByRole("button", { name: "Remove…" }).click();
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Leave it");
    await confirm("Remove window");
    await rules.getByText("0 22 * * *").waitFor({ state: "detached" });
  });

  test("drains an instance, and calls it back", async () => {
    await page.goto(`${dashboard.url}/cluster`);
    const instance = page.locator('[data-instance="inst-a"]');
    await instance.getByRole("button", { name: "Drain" }).click();
    await confirm("Drain");

    await instance.locator('[data-state="draining"]').waitFor();
    await instance.getByRole("button", { name: "Stop draining" }).click();
    await confirm("Stop draining");
    await instance.locator('[data-state="live"]').waitFor();
    expect(dashboard.logged).toEqual([]);
  });

  test("of a run changes its limit where its tasks are listed", async () => {
    const { runId } = await dashboard.client.createTasks({
      tasks: [{ kind: "steered", runAt: LATER }],
      run: { title: "nightly", limit: 2 },
    });
    await page.goto(`${dashboard.url}/tasks?runId=${runId}`);
    await page.getByText("at most 2 at once").waitFor();
    await page.getByRole("button", { name: "Change limit…" }).click();
    await page.getByLabel("How many may be available or running at once").fill("5");
    await confirm("Change limit");

    await page.getByText("at most 5 at once").waitFor();
  });
});

async function confirm(verb: string): Promise<void> {
  await page.getByRole("alertdialog").getByRole("button", { name: verb, exact: true }).click();
}
