import { chmod, cp, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { isMissing } from "./file-error.ts";
import { linkLibraries } from "./link-libraries.ts";
import { makePlace } from "./make-place.ts";
import { clearAside, placeAside } from "./place-aside.ts";

/**
 * Copies the npm package's programs, libraries and share files into `place`, once per version, and opens them to all.
 * Needed where the package itself is closed to the server's user, or read-only without its links. Returns the bin folder.
 */
export async function copyBinaries(
  packageDir: string,
  packageVersion: string,
  place: string,
): Promise<string> {
  const target = join(place, `postgres-${packageVersion}`);
  const binDir = join(target, "native", "bin");
  if (await exists(target)) return binDir;
  await makePlace(place);
  await clearAside(target);
  await placeAside(target, async (aside) => {
    await cp(join(packageDir, "native"), join(aside, "native"), { recursive: true, verbatimSymlinks: true });
    await openToAll(aside);
    await linkLibraries(aside);
  });
  return binDir;
}

async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await openToAll(path);
    else if (entry.isFile()) await chmod(path, ((await stat(path)).mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
