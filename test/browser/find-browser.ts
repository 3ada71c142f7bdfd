/** Which Chromium there is: the one that is named, the system's, or the one inside an npm package. A probe decides. */

import { execFileSync } from "node:child_process";
import { type Browser, chromium as playwright } from "playwright-core";

const ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage"];
const SYSTEM = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const PROBE_MS = 20_000;

/** Null: none runs here, and one line says so. */
export async function findBrowser(): Promise<Browser | null> {
  for (const path of [process.env["SIGNALBOX_CHROMIUM"], ...SYSTEM]) {
    const found = path === undefined ? null : pathOf(path);
    if (found !== null && runs(found)) return await launch(found, ARGUMENTS);
  }
  const packed = await packedBrowser();
  if (packed !== null && runs(packed.path)) return await launch(packed.path, [...ARGUMENTS, ...packed.args]);
  process.stdout.write("browser tests skipped: no Chromium runs here (SIGNALBOX_CHROMIUM may name one)\n");
  return null;
}

async function launch(executablePath: string, args: readonly string[]): Promise<Browser> {
  return await playwright.launch({ executablePath, args: [...args], headless: true });
}

function pathOf(name: string): string | null {
  if (name.includes("/")) return name;
  try {
    return execFileSync("which", [name], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return null;
  }
}

function runs(path: string): boolean {
  try {
    execFileSync(path, ["--version"], { stdio: "ignore", timeout: PROBE_MS });
    return true;
  } catch {
    return false;
  }
}

interface Packed {
  readonly path: string;
  readonly args: readonly string[];
}

async function packedBrowser(): Promise<Packed | null> {
  try {
    const { default: packed } = await import("@sparticuz/chromium");
    // It is built for a place without a graphics card and with one process; of its arguments only these are needed.
    const args = packed.args.filter((argument) => /swiftshader|^--use-gl|^--use-angle/.test(argument));
    return { path: await packed.executablePath(), args };
  } catch {
    return null;
  }
}
