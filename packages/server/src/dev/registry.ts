/**
 * Who runs `signalbox dev` in a folder: one small file each, so that several can come and go at once.
 *
 * The files tell the commands where to ask, and each dev whether it is the last one to leave. A file that
 * a killed process left behind is recognised by its process and removed by whoever looks next.
 */

import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient, UnreachableError } from "@signalbox/contract";

export interface RegisteredDev {
  readonly pid: number;
  readonly serverId: string;
  readonly startedAt: string;
  /** Null while it starts. */
  readonly url: string | null;
  /** Whether it keeps the demo going. */
  readonly demo: boolean;
  /** Whether it uses the private PostgreSQL of this folder. */
  readonly privateDatabase: boolean;
}

export interface Registration {
  readonly dev: RegisteredDev;
  /** From now on it answers there. */
  readonly announce: (url: string) => Promise<void>;
  readonly remove: () => Promise<void>;
}

const HEALTH_TIMEOUT_MS = 2_000;

/** `dir` is the project's `.signalbox`. */
export async function registerDev(dir: string, dev: RegisteredDev): Promise<Registration> {
  const folder = folderOf(dir);
  const file = join(folder, `${dev.pid}.json`);
  await mkdir(folder, { recursive: true });
  await writeWhole(file, dev);
  return {
    dev,
    announce: (url) => writeWhole(file, { ...dev, url }),
    remove: () => rm(file, { force: true }),
  };
}

/** The longest running first. Also those whose process is gone: ask `isAlive`. */
export async function readDevs(dir: string): Promise<readonly RegisteredDev[]> {
  const names = await readdir(folderOf(dir)).catch(() => []);
  const read = await Promise.all(
    names.filter((name) => name.endsWith(".json")).map((name) => readDev(join(folderOf(dir), name))),
  );
  return read.filter((dev) => dev !== null).toSorted((a, b) => a.startedAt.localeCompare(b.startedAt));
}

/** The others that live in this folder, the longest running first. Clears away what dead ones left. */
export async function otherDevs(dir: string, own: RegisteredDev): Promise<readonly RegisteredDev[]> {
  const others = (await readDevs(dir)).filter(({ serverId }) => serverId !== own.serverId);
  const there = await Promise.all(others.map(isThere));
  const gone = others.filter((_, index) => there[index] === false);
  await Promise.all(gone.map(({ pid }) => rm(join(folderOf(dir), `${pid}.json`), { force: true })));
  return others.filter((_, index) => there[index] === true);
}

// While it starts, its process is all there is to go by. Too busy to answer is not gone.
async function isThere(dev: RegisteredDev): Promise<boolean> {
  return isAlive(dev) && (dev.url === null || (await presence(dev)) !== "gone");
}

export function isAlive({ pid }: Pick<RegisteredDev, "pid">): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // There, but somebody else's.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Whether it is really there: its port or its process id may be another program's by now. */
export async function answers(dev: RegisteredDev): Promise<boolean> {
  return (await presence(dev)) === "answers";
}

async function presence({ url, serverId }: RegisteredDev): Promise<"answers" | "silent" | "gone"> {
  try {
    const health = await createClient(url ?? "", { timeoutMs: HEALTH_TIMEOUT_MS }).health();
    return health.serverId === serverId ? "answers" : "gone";
  } catch (error) {
    return error instanceof UnreachableError && error.timedOut ? "silent" : "gone";
  }
}

function folderOf(dir: string): string {
  return join(dir, "dev");
}

// Renamed into place: nobody reads half a file.
async function writeWhole(file: string, dev: RegisteredDev): Promise<void> {
  await writeFile(`${file}.new`, `${JSON.stringify(dev)}\n`);
  await rename(`${file}.new`, file);
}

async function readDev(file: string): Promise<RegisteredDev | null> {
  try {
    const dev: RegisteredDev = JSON.parse(await readFile(file, "utf8"));
    const whole =
      typeof dev.pid === "number" && typeof dev.serverId === "string" && typeof dev.startedAt === "string";
    return whole ? dev : null;
  } catch {
    // Removed since we listed it, or not ours.
    return null;
  }
}
