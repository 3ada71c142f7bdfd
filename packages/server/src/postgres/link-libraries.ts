import { readFile, symlink } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { isMissing, isNotPermitted, isTaken } from "./file-error.ts";

interface LibraryLink {
  readonly source: string;
  readonly target: string;
}

/**
 * Makes the links under which the shared libraries look for each other. npm packages cannot carry links, and the install
 * script that would make them does not run under npm 12 or `--ignore-scripts`. Safe to repeat, alone or at once.
 */
export async function linkLibraries(packageDir: string): Promise<"linked" | "read_only"> {
  for (const { source, target } of await readLinks(packageDir)) {
    const path = join(packageDir, target);
    try {
      await symlink(relative(dirname(path), join(packageDir, source)), path);
    } catch (error) {
      if (isTaken(error)) continue;
      if (isNotPermitted(error)) return "read_only";
      throw error;
    }
  }
  return "linked";
}

async function readLinks(packageDir: string): Promise<readonly LibraryLink[]> {
  try {
    const links: readonly LibraryLink[] = JSON.parse(
      await readFile(join(packageDir, "native", "pg-symlinks.json"), "utf8"),
    );
    return links;
  } catch (error) {
    if (isMissing(error)) return []; // Windows has none.
    throw error;
  }
}
