/** The browser of this run, which was looked for once, before all tests (`test/setup/chromium.ts`). */

import type { Browser } from "playwright-core";
import { inject } from "vitest";
import { launchChromium } from "./launch-chromium.ts";

/** Null: none runs here. */
export async function findBrowser(): Promise<Browser | null> {
  const chromium = inject("chromium");
  return chromium === null ? null : await launchChromium(chromium);
}
