/**
 * `npm run screenshots [-- <address>]`: takes the pictures of the README from a demo that runs (`npm start`), by the browser of the
 * tests. What moves is different each time; which pages they are is not.
 */

import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createClient } from "@signalbox/contract";
import type { Page } from "playwright-core";
import { launchChromium } from "../test/browser/launch-chromium.ts";
import { locateChromium } from "../test/browser/locate-chromium.ts";

const address = process.argv[2] ?? "http://127.0.0.1:7410";
const FOLDER = fileURLToPath(new URL("../docs/images/", import.meta.url));
const CHARTS_MS = 1_500;

async function whyPath(): Promise<string> {
  const client = createClient(address);
  const { taskRuns } = await client.listTaskRuns({ status: ["PENDING"], limit: 50 });
  // The most telling one: a version that waits for a smaller one, else whoever waits for a resource.
  const waiting = ["VERSION_ORDER", "RUN_LIMIT", "RESOURCE_BUSY"].flatMap((cause) =>
    taskRuns.filter(({ blockedOn }) => blockedOn === cause),
  );
  const [first] = waiting;
  if (first === undefined) throw new Error("Nothing waits there: start the demo with npm start");
  return `/task-runs/${first.taskRunId}`;
}

async function take(page: Page, path: string, name: string, seen: string): Promise<void> {
  await page.goto(`${address}${path}`);
  await page.locator(seen).first().waitFor();
  await page.waitForTimeout(CHARTS_MS);
  await page.screenshot({ path: `${FOLDER}${name}.png` });
  process.stdout.write(`docs/images/${name}.png\n`);
}

const chromium = locateChromium();
if (chromium === null) process.exit(1);
process.once("exit", chromium.remove);
const browser = await launchChromium(chromium);
mkdirSync(FOLDER, { recursive: true });
const context = await browser.newContext({ locale: "en-US", viewport: { width: 1280, height: 720 } });
const page = await context.newPage();
await take(page, await whyPath(), "why", "[data-gate]");
await page.emulateMedia({ colorScheme: "dark" });
await take(page, "/", "overview", "canvas");
await browser.close();
