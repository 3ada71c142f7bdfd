import { type Browser, chromium as playwright } from "playwright-core";
import type { Chromium } from "./locate-chromium.ts";

export async function launchChromium({ path, args, env }: Chromium): Promise<Browser> {
  return await playwright.launch({
    executablePath: path,
    args: [...args],
    headless: true,
    env: { ...process.env, ...env },
  });
}
