/**
 * Fills a folder beside its target and renames it into place, so that a half-made one never counts.
 *
 * Lock-free: of several that race the first rename wins, and the others use what it made.
 */
import { randomBytes } from "node:crypto";
import { chmod, mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isMissing, isTaken } from "./file-error.ts";

const LEFT_OVER_AFTER_MS = 60_000;

export async function placeAside(target: string, fill: (aside: string) => Promise<void>): Promise<void> {
  const aside = `${target}.aside-${process.pid}-${randomBytes(4).toString("hex")}`;
  await mkdir(aside);
  try {
    // Not by mkdir, whose mode the umask cuts: the server's user must be able to enter.
    await chmod(aside, 0o755);
    await fill(aside);
    await rename(aside, target);
  } catch (error) {
    await rm(aside, { recursive: true, force: true });
    if (!isTaken(error)) throw error;
  }
}

/** Removes what killed processes left beside `target`. */
export async function clearAside(target: string): Promise<void> {
  const prefix = `${basename(target)}.aside-`;
  for (const name of await namesIn(dirname(target))) {
    if (!name.startsWith(prefix)) continue;
    const path = join(dirname(target), name);
    if (isAlive(Number(name.slice(prefix.length).split("-")[0])) || (await isYoung(path))) continue;
    await rm(path, { recursive: true, force: true });
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

// In another container on the same volume a maker may be alive and yet have no process here: age decides as well.
async function isYoung(path: string): Promise<boolean> {
  try {
    return Date.now() - (await stat(path)).mtimeMs < LEFT_OVER_AFTER_MS;
  } catch {
    return true;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
