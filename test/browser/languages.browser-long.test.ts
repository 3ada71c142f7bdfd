/** Every page in every language: no English left, and no text that is cut off (UX check 19). */

import { readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { findBrowser } from "./find-browser.ts";
import { type OpenDashboard, openDashboard } from "./open-dashboard.ts";
import { finish } from "./steered-tasks.ts";
import { openPage } from "./watched-page.ts";

const ORDERS = [{ name: "database:orders", mode: "exclusive" as const }];
const WIDTHS = [1280, 390];
const browser: Browser | null = await findBrowser();
let dashboard: OpenDashboard;
let paths: readonly string[];

beforeAll(async () => {
  if (browser === null) return;
  dashboard = await openDashboard(inject("adminUrl"), { instances: ["inst-a"] });
  const { client, scheduler } = dashboard;
  const holding = { kind: "steered", title: "T1", input: { until: "languages" }, resources: ORDERS };
  const running = await client.createTask(holding);
  const waiting = await client.createTask({ kind: "steered", title: "T2", resources: ORDERS });
  const failed = await client.createTask({ kind: "failing", title: "T3" });
  await scheduler.pause({ queue: "mail" }, { by: "ana" });
  await scheduler.setWindows({ queue: "mail" }, [
    { kind: "maintenance", opens: "0 2 * * *", lastsMs: 3_600_000, timeZone: "Europe/Berlin" },
  ]);
  await vi.waitFor(async () => {
    expect((await client.getTaskRun(failed.taskRunId)).status).toBe("FAILED");
    expect((await client.getTaskRun(running.taskRunId)).status).toBe("RUNNING");
    expect((await client.getTaskRun(waiting.taskRunId)).blockedOn).toBe("RESOURCE_BUSY");
  }, 20_000);
  const ofTaskRuns = [running, waiting, failed].map(({ taskRunId }) => `/task-runs/${taskRunId}`);
  paths = [
    "/",
    "/tasks",
    "/operations",
    "/resources",
    "/resources/database%3Aorders",
    "/cluster",
    "/preferences",
    ...ofTaskRuns,
  ];
});

afterAll(async () => {
  if (browser === null) return;
  finish("languages");
  await browser.close();
  await dashboard.close();
});

describe.skipIf(browser === null).each(["zh-CN", "es-ES", "ja-JP", "vi-VN"])("%s", (locale) => {
  test.each(WIDTHS)("is spoken on every page and in a dialog, at %i px", async (width) => {
    const viewport = { width, height: 800 };
    const { page, close } = await openPage(found(), dashboard.url, { locale, viewport });
    const english = englishOnly(locale);
    const findings: string[] = [];
    for (const path of paths) {
      await page.goto(`${dashboard.url}${path}`);
      await page.locator("main h1").waitFor();
      await expect.poll(async () => await page.locator("main [role=status]:has(.bg-raised)").count()).toBe(0);
      findings.push(...(await wrongOn(page, english)).map((each) => `${path}: ${each}`));
    }
    await page.goto(`${dashboard.url}/resources`);
    await page.locator('[data-queue="mail"]').getByRole("button").first().click();
    await page.getByRole("alertdialog").waitFor();
    findings.push(...(await wrongOn(page, english)).map((each) => `dialog: ${each}`));

    expect(findings).toEqual([]);
    expect(await page.getAttribute("html", "lang")).toBe(locale);
    await close();
  });
});

/** What English says and this language says otherwise; without values, since those are not known here. */
function englishOnly(locale: string): readonly string[] {
  const [english, own] = [messagesOf("en-US"), messagesOf(locale)];
  const used = new Set(Object.values(own));
  return Object.entries(english)
    .filter(([id, text]) => own[id] !== text && !used.has(text) && !text.includes("{") && text.length > 2)
    .map(([, text]) => text);
}

function messagesOf(locale: string): Readonly<Record<string, string>> {
  const place = new URL(`../../packages/web/src/shared/i18n/messages/${locale}.json`, import.meta.url);
  return JSON.parse(readFileSync(place, "utf8")) as Record<string, string>;
}

async function wrongOn(page: Page, english: readonly string[]): Promise<readonly string[]> {
  return await page.evaluate<readonly string[]>(`(${WRONG_ON})(${JSON.stringify(english)})`);
}

/** Texts and names in English, and elements whose text does not fit and cannot be scrolled to. */
const WRONG_ON = `(english) => {
  const words = new Set(english);
  const findings = [];
  for (const element of document.querySelectorAll("body *")) {
    if (element.closest("script, style, svg, [role=log]") !== null) continue;
    const own = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.textContent.trim());
    const said = [...own, element.getAttribute("aria-label"), element.getAttribute("placeholder"), element.getAttribute("title")];
    for (const text of said) if (text !== null && words.has(text)) findings.push("in English: " + text);
    const { overflowX, position } = getComputedStyle(element);
    // What is only for the ear has no room on purpose.
    if (own.join("") === "" || position === "absolute") continue;
    const cut = (overflowX === "hidden" || overflowX === "clip") && element.scrollWidth > element.clientWidth + 1;
    if (cut && element.getAttribute("title") === null) findings.push("cut off: " + own.join(" "));
  }
  return findings;
}`;

function found(): Browser {
  if (browser === null) throw new Error("unreachable: skipped without a browser");
  return browser;
}
