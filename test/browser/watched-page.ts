/** A page that remembers what must not happen on it: errors, refused styles and scripts, requests to other hosts. */

import axe, { type AxeResults } from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";

export interface WatchedPage {
  readonly page: Page;
  /** What went wrong so far, a line each. */
  readonly complaints: readonly string[];
  /** What went wrong so far was meant to. */
  readonly forget: () => void;
  readonly close: () => Promise<void>;
}

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  // Named, because a browser takes the machine's otherwise, which may have none.
  const context = await browser.newContext({
    locale: "en-US",
    viewport: { width: 1280, height: 800 },
    ...options,
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", ({ message }) => complaints.push(`error: ${message}`));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(`console: ${message.text()} ${message.location().url}`);
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(new URL(url).origin)) complaints.push(`request to ${request.url()}`);
  });
  await page.goto(url);
  const forget = (): void => void complaints.splice(0);
  return { page, complaints, forget, close: async () => await context.close() };
}

/** What axe finds, a line each. It is run from outside: the policy of the page allows no foreign script. */
export async function axeFindings(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const options = JSON.stringify({ runOnly: { type: "tag", values: RULES } });
  const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${options})`);
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`,
  );
}

/** How far the page is wider than its window; nobody should have to scroll both ways. */
export async function excessWidth(page: Page): Promise<number> {
  return await page.evaluate<number>(
    "document.documentElement.scrollWidth - document.documentElement.clientWidth",
  );
}
