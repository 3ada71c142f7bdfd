/** A long log (UX check 11). `npm test` takes a tenth of it. */

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { findBrowser } from "./find-browser.ts";
import { noteLongestTask } from "./longest-task.ts";
import { type OpenDashboard, openDashboard } from "./open-dashboard.ts";
import { finish, LOG_MARKS, print } from "./steered-tasks.ts";
import { axeFindings, openPage } from "./watched-page.ts";

const LINES = 200_000;
const ERROR_AT = LINES * LOG_MARKS.errorAt;
const NEEDLES = Math.floor(LINES / LOG_MARKS.needleEvery) - (ERROR_AT % LOG_MARKS.needleEvery === 0 ? 1 : 0);
const LONGEST_TASK_MS = 200;

const browser: Browser | null = await findBrowser();
let dashboard: OpenDashboard;
let address: string;

beforeAll(async () => {
  if (browser === null) return;
  dashboard = await openDashboard(inject("adminUrl"), { instances: ["inst-a"] });
  const { client } = dashboard;
  const { taskRunId } = await client.createTask({ kind: "printing", input: { lines: LINES } });
  await vi.waitFor(async () => expect((await client.getTaskRun(taskRunId)).status).toBe("FAILED"), 60_000);
  address = `${dashboard.url}/task-runs/${taskRunId}`;
});

afterAll(async () => {
  if (browser === null) return;
  await browser.close();
  await dashboard.close();
});

describe.skipIf(browser === null)(`a log of ${LINES} lines`, () => {
  test("opens at its error, finds all of a text, and never keeps the page from answering", async () => {
    const { page, close } = await openPage(found(), `${dashboard.url}/preferences`);
    const longest = await noteLongestTask(found());
    await page.goto(address);
    const log = page.getByRole("log");
    await log.getByText("ERROR: disk full").waitFor();

    expect(await log.locator(".ansi-red").innerText()).toBe("ERROR: disk full");
    expect(await numberOf(page, "ERROR: disk full")).toBe(ERROR_AT);
    await page.getByText(`${LINES.toLocaleString("en-US")} lines`).waitFor();

    await log.focus();
    await page.keyboard.press("Control+f");
    await page.getByLabel("Find in log").fill("NEEDLE");
    await page.getByText(`1 of ${NEEDLES.toLocaleString("en-US")}`).waitFor();
    await log.getByText("46 needle").waitFor();
    await page.keyboard.press("Shift+Enter");
    await page.getByText(`${NEEDLES} of ${NEEDLES.toLocaleString("en-US")}`).waitFor();
    await log.getByText(`${lastNeedle()} needle`).waitFor();

    expect(await log.locator("[data-index]").count()).toBeLessThan(200);
    const ms = await longest.stop();
    expect(ms).toBeLessThanOrEqual(LONGEST_TASK_MS);
    await close();
  });

  test("is linked to by the number of a line, in a tab of its own", async () => {
    const { page, close } = await openPage(found(), `${address}#L${ERROR_AT - 5}`);
    const linked = page.getByRole("log").getByText((ERROR_AT - 5).toString(36), { exact: true });
    await linked.waitFor();

    expect(await linked.isVisible()).toBe(true);
    await page.getByRole("button", { name: `Link to line ${ERROR_AT - 3}`, exact: true }).click();
    expect(page.url()).toBe(`${address}#L${ERROR_AT - 3}`);
    await close();
  });

  test.each(["light", "dark"] as const)(
    "shows colours that can be read, and of a progress bar the last state: %s",
    async (colorScheme) => {
      const { page, close } = await openPage(found(), `${address}#L${LOG_MARKS.progressLine}`, {
        colorScheme,
      });
      const log = page.getByRole("log");
      await log.getByText("100 %").waitFor();

      expect(await log.getByText("99 %").count()).toBe(0);
      expect(await log.locator('[class^="ansi-"]').count()).toBeGreaterThan(1);
      expect(await axeFindings(page)).toEqual([]);
      await close();
    },
  );
});

describe.skipIf(browser === null)("a log that grows", () => {
  test("is followed until the reader scrolls up, and then says how much is new", async () => {
    const { client } = dashboard;
    const { taskRunId } = await client.createTask({
      kind: "printing",
      input: { lines: 2_000, until: "log" },
    });
    const { page, close } = await openPage(found(), `${dashboard.url}/task-runs/${taskRunId}`);
    const log = page.getByRole("log");
    await log.getByText((2_000).toString(36), { exact: true }).waitFor();
    print("log", "first of the news\n");
    await log.getByText("first of the news").waitFor();

    await log.hover();
    await page.mouse.wheel(0, -2_000);
    await page.getByRole("button", { name: "Jump to latest" }).waitFor();
    print("log", "second of the news\nthird of the news\n");
    await page.getByRole("button", { name: "Jump to latest (2 new)" }).waitFor();
    expect(await log.getByText("third of the news").count()).toBe(0);

    await page.getByRole("button", { name: "Jump to latest (2 new)" }).click();
    await log.getByText("third of the news").waitFor();
    finish("log");
    await close();
  });
});

async function numberOf(page: Page, text: string): Promise<number> {
  const line = page.getByRole("log").locator("[data-index]", { hasText: text });
  return Number(await line.getByRole("button").innerText());
}

function lastNeedle(): string {
  return (Math.floor(LINES / LOG_MARKS.needleEvery) * LOG_MARKS.needleEvery).toString(36);
}

function found(): Browser {
  if (browser === null) throw new Error("unreachable: skipped without a browser");
  return browser;
}
