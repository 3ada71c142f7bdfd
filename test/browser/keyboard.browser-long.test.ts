/** By keyboard alone (UX check 16). */

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { findBrowser } from "./find-browser.ts";
import { type OpenDashboard, openDashboard } from "./open-dashboard.ts";
import { openPage } from "./watched-page.ts";

const ORDERS = [{ name: "database:orders", mode: "exclusive" as const }];
const MOST_STOPS = 80;
const browser: Browser | null = await findBrowser();
let dashboard: OpenDashboard;
let failedId: string;

beforeAll(async () => {
  if (browser === null) return;
  dashboard = await openDashboard(inject("adminUrl"), { instances: ["inst-a", "inst-b"] });
  const { client } = dashboard;
  ({ taskRunId: failedId } = await client.createTask({
    kind: "failing",
    title: "import",
    resources: ORDERS,
  }));
  await vi.waitFor(async () => expect((await client.getTaskRun(failedId)).status).toBe("FAILED"), 20_000);
});

afterAll(async () => {
  if (browser === null) return;
  await browser.close();
  await dashboard.close();
});

describe.skipIf(browser === null)("without a mouse", () => {
  test("somebody opens what failed, reads its log, retries it and looks at the cluster", async () => {
    const { page, close } = await openPage(found(), dashboard.url);
    await page.getByRole("link", { name: "import" }).waitFor();
    await page.keyboard.press("1");
    await tabTo(page, "import");
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/task-runs/${failedId}`);
    await page.getByRole("log").waitFor();

    await page.keyboard.press("l");
    expect(await focused(page)).toContain("deadlock detected");
    await page.keyboard.press("Control+f");
    await page.keyboard.type("second");
    await page.getByText("1 of 1").waitFor();
    await page.keyboard.press("Escape");

    await page.keyboard.press("Control+Home");
    await tabTo(page, "Retry task");
    await page.keyboard.press("Enter");
    expect(await focused(page)).toBe("Leave it");
    await page.keyboard.press("Tab");
    await tabTo(page, "Retry task");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => !url.pathname.endsWith(failedId));

    await page.keyboard.press("g");
    await page.keyboard.press("c");
    await page.waitForURL("**/cluster");
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await close();
  });

  test("letters that are typed into the filter do nothing else", async () => {
    const { page, close } = await openPage(found(), `${dashboard.url}/tasks`);
    await page.getByRole("link", { name: "import" }).first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("gc?pj");

    expect(await page.getByLabel("Value").inputValue()).toBe("gc?pj");
    expect(page.url()).toBe(`${dashboard.url}/tasks`);
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(await page.locator('[data-freshness="paused"]').count()).toBe(0);
    await close();
  });

  test("`j` goes to a row, and nowhere once single keys are switched off", async () => {
    const { page, close } = await openPage(found(), `${dashboard.url}/tasks`);
    await page.getByRole("link", { name: "import" }).first().waitFor();
    await page.keyboard.press("j");
    expect(await focused(page)).toBe("import");

    await page.goto(`${dashboard.url}/preferences`);
    await page.getByLabel("Single-key shortcuts").focus();
    await page.keyboard.press("Space");
    await page.goto(`${dashboard.url}/tasks`);
    await page.getByRole("link", { name: "import" }).first().waitFor();
    await page.keyboard.press("j");
    expect(await page.evaluate("document.activeElement === document.body")).toBe(true);
    await close();
  });

  test.each([
    "/",
    "/tasks",
    "/operations",
    "/resources",
    "/resources/database%3Aorders",
    "/cluster",
    "/preferences",
    "failed",
  ])("on %s the focus can always be seen, and never lies under a bar", async (path) => {
    const place = path === "failed" ? `/task-runs/${failedId}` : path;
    const { page, close } = await openPage(found(), `${dashboard.url}${place}`, {
      viewport: { width: 1024, height: 500 },
    });
    await page.locator("main h1").waitFor();
    await expect.poll(async () => await page.getByText("Loading").count(), { timeout: 10_000 }).toBe(0);

    const problems: string[] = [];
    let stops = 0;
    for (; stops < MOST_STOPS; stops += 1) {
      await page.keyboard.press("Tab");
      const problem = await page.evaluate<string | null>(FOCUS_PROBLEM);
      if (problem === "at the end") break;
      if (problem !== null) problems.push(problem);
    }

    expect(problems).toEqual([]);
    expect(stops).toBeGreaterThan(5);
    await close();
  });
});

/** Null: it has an outline, and what stands at its place is itself. */
const FOCUS_PROBLEM = `(() => {
  const element = document.activeElement;
  if (element === null || element === document.body) return "at the end";
  const name = element.tagName + " " + (element.getAttribute("aria-label") ?? element.textContent).slice(0, 40);
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  if (outlineStyle === "none" || parseFloat(outlineWidth) < 2) return name + " has no outline";
  const { left, right, top, bottom } = element.getBoundingClientRect();
  const at = document.elementFromPoint((Math.max(left, 0) + Math.min(right, innerWidth)) / 2,
    (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2);
  return at !== null && (element.contains(at) || at.contains(element)) ? null : name + " is covered";
})()`;

async function tabTo(page: Page, text: string): Promise<void> {
  for (let stops = 0; stops < MOST_STOPS; stops += 1) {
    if ((await focused(page)).startsWith(text)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`No way by Tab to ${text}`);
}

async function focused(page: Page): Promise<string> {
  return await page.evaluate<string>("document.activeElement?.textContent?.trim() ?? ''");
}

function found(): Browser {
  if (browser === null) throw new Error("unreachable: skipped without a browser");
  return browser;
}
