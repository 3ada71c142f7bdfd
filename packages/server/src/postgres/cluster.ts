/** The folder of one embedded PostgreSQL: its data, and beside it what only we need. */
import { createHash, randomBytes } from "node:crypto";
import { readFile, realpath, rename, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { isMissing } from "./file-error.ts";
import type { BinariesSource } from "./find-binaries.ts";
import { launchError } from "./launch-error.ts";
import { makePlace } from "./make-place.ts";
import { canReach } from "./reachable.ts";
import { chooseServerUser, mustLend, type ServerUser } from "./server-user.ts";

/** Owned by root and open to all: the place for what a lent user must reach and a private folder would hide. */
export const SHARED_PLACE = "/var/lib/signalbox";

export interface Cluster {
  /** Holds everything below. Copying it makes another cluster with the same password. */
  readonly folder: string;
  readonly dataDir: string;
  readonly passwordFile: string;
  readonly lastStartFile: string;
  readonly pidFile: string;
  readonly logFile: string;
}

export interface LastStart {
  readonly port: number;
  readonly source: BinariesSource;
}

/** Where the cluster of `dir` is or shall be, and who runs its server. Makes the place, not the cluster. */
export async function settleCluster(
  dir: string,
): Promise<{ readonly cluster: Cluster; readonly user: ServerUser }> {
  const home = await realDir(dir);
  const atHome = clusterIn(home);
  const user = await chooseServerUser(atHome.dataDir);
  if (await canReach(user, home)) {
    await makePlace(home);
    return { cluster: atHome, user };
  }
  const shared = sharedPlaceFor(home);
  const atShared = clusterIn(shared);
  await makePlace(shared);
  // For the person who wonders whose folder this is.
  await writeFile(join(shared, "made-for"), `${home}\n`);
  return { cluster: atShared, user: await chooseServerUser(atShared.dataDir) };
}

/** Every place where `dir` may have its cluster. */
export async function placesOf(
  dir: string,
): Promise<{ readonly home: string; readonly shared: string | null }> {
  const home = await realDir(dir);
  return { home, shared: mustLend() ? sharedPlaceFor(home) : null };
}

export function clusterIn(place: string): Cluster {
  return clusterAt(join(place, "postgres"));
}

export function clusterAt(folder: string): Cluster {
  const dataDir = join(folder, "data");
  return {
    folder,
    dataDir,
    passwordFile: join(folder, "password"),
    lastStartFile: join(folder, "last-start.json"),
    pidFile: join(dataDir, "postmaster.pid"),
    logFile: join(folder, "server.log"),
  };
}

export async function clusterExists(cluster: Cluster): Promise<boolean> {
  try {
    await stat(cluster.folder);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

export async function readPassword(cluster: Cluster): Promise<string> {
  return (await readOwn(cluster.passwordFile)).trim();
}

export async function readDataMajor(cluster: Cluster): Promise<number> {
  return Number.parseInt(await readOwn(join(cluster.dataDir, "PG_VERSION")), 10);
}

export async function readLastStart(cluster: Cluster): Promise<LastStart | null> {
  try {
    const { port, source }: LastStart = JSON.parse(await readFile(cluster.lastStartFile, "utf8"));
    return { port, source };
  } catch {
    // Only a preference: without it another port is chosen.
    return null;
  }
}

export async function writeLastStart(cluster: Cluster, lastStart: LastStart): Promise<void> {
  const aside = `${cluster.lastStartFile}.${randomBytes(4).toString("hex")}`;
  await writeFile(aside, JSON.stringify(lastStart), { flag: "wx" });
  await rename(aside, cluster.lastStartFile);
}

/**
 * Links resolved, so that one folder has one cluster whichever way it is named. One look per level: a second look at the
 * same path may find a folder that another process has made since, and would then take its parent for it.
 */
async function realDir(dir: string): Promise<string> {
  const absolute = resolve(dir);
  try {
    return await realpath(absolute);
  } catch (error) {
    if (!isMissing(error)) throw error;
    return join(await realDir(dirname(absolute)), basename(absolute));
  }
}

function sharedPlaceFor(home: string): string {
  return join(SHARED_PLACE, createHash("sha256").update(home).digest("hex").slice(0, 16));
}

async function readOwn(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    if (isMissing(cause)) throw launchError("DATA_INCOMPLETE", { missing: path }, { cause });
    throw cause;
  }
}
