/** Takes an embedded PostgreSQL away for good: its server, its data, and what was copied for it. */
import { randomBytes } from "node:crypto";
import { readdir, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { clusterIn, placesOf } from "./cluster.ts";
import { isMissing, systemCode } from "./file-error.ts";
import { explainNotPermitted } from "./launch-error.ts";
import { stopServerOf } from "./stop.ts";

/**
 * Ends the server of `dir`, whoever started it, and removes its data wherever `startPostgres` has put it. Other files in
 * `dir` stay. Does nothing where there is nothing. Binaries that root's projects share stay too.
 */
export async function removePostgres(dir: string): Promise<void> {
  const { home, shared } = await placesOf(dir);
  for (const place of shared === null ? [home] : [home, shared]) {
    try {
      await stopServerOf(clusterIn(place));
      await removeFrom(place);
    } catch (error) {
      throw explainNotPermitted(error, place);
    }
  }
  if (shared !== null) {
    await rm(join(shared, "made-for"), { force: true });
    await removeIfEmpty(shared);
    await removeIfEmpty(dirname(shared));
  }
}

async function removeFrom(place: string): Promise<void> {
  const { folder } = clusterIn(place);
  // Out of the way in one step: half-removed data must not count as data.
  await rename(folder, `${folder}.aside-${process.pid}-${randomBytes(4).toString("hex")}`).catch(
    ignoreMissing,
  );
  for (const name of (await readdir(place).catch(ignoreMissing)) ?? []) {
    if (!isOurs(name)) continue;
    // Processes of a killed server may still write while they end.
    await rm(join(place, name), { recursive: true, force: true, maxRetries: 5 });
  }
  await removeIfEmpty(place);
}

/** Unfinished and put-aside clusters, copied binaries and unfinished copies. */
function isOurs(name: string): boolean {
  return /^postgres(\.aside-|-\d)/.test(name);
}

async function removeIfEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    if (!isMissing(error) && systemCode(error) !== "ENOTEMPTY") throw error;
  }
}

function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}
