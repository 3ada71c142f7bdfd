/** Makes the best binaries of this machine usable by the server's user, and proves it by asking their version. */
import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { copyBinaries } from "./copy-binaries.ts";
import { systemCode } from "./file-error.ts";
import { type BinariesSource, type FoundBinaries, findBinaries, program } from "./find-binaries.ts";
import { launchError, PostgresLaunchError } from "./launch-error.ts";
import { linkLibraries } from "./link-libraries.ts";
import { canReach, mayUse } from "./reachable.ts";
import { runAs } from "./run-as.ts";
import type { ServerUser } from "./server-user.ts";

export interface Binaries {
  readonly source: BinariesSource;
  readonly binDir: string;
  readonly major: number;
}

interface Preparation {
  readonly user: ServerUser;
  /** Where a copy goes if one is needed. */
  readonly copyPlace: string;
  readonly binDir?: string | undefined;
}

type TryOut =
  | { readonly kind: "usable"; readonly binaries: Binaries }
  | { readonly kind: "unusable"; readonly reason: string };

const OLDEST_MAJOR = 14;
const VERSION_DEADLINE_MS = 15_000;

/** Takes the first that can be used; rejects with the reason of each that cannot. */
export async function prepareBinaries({ user, copyPlace, binDir }: Preparation): Promise<Binaries> {
  const { found, absent } = await findBinaries(binDir);
  const tried = [...absent];
  for (const candidate of found) {
    const tryOut = await tryOutBinaries(candidate, user, copyPlace);
    if (tryOut.kind === "usable") return tryOut.binaries;
    tried.push(`${candidate.source} ${candidate.binDir} ${tryOut.reason}`);
  }
  throw launchError("NO_BINARIES", { tried });
}

export function parseMajor(versionLine: string): number | null {
  const match = /\(PostgreSQL\) (\d+)/.exec(versionLine);
  return match === null ? null : Number(match[1]);
}

async function tryOutBinaries(found: FoundBinaries, user: ServerUser, copyPlace: string): Promise<TryOut> {
  const binDir = await makeReachable(found, user, copyPlace);
  if (binDir === null)
    return { kind: "unusable", reason: `is closed to user ${user.name}, and root may not run it` };
  const { major, output } = await askVersion(binDir, user);
  if (major === null) return { kind: "unusable", reason: `does not run: ${output}` };
  if (major < OLDEST_MAJOR)
    return { kind: "unusable", reason: `is ${major}, ${OLDEST_MAJOR} or newer needed` };
  return { kind: "usable", binaries: { source: found.source, binDir, major } };
}

async function makeReachable(
  found: FoundBinaries,
  user: ServerUser,
  copyPlace: string,
): Promise<string | null> {
  const open = await isOpenTo(user, found.binDir);
  if (found.source === "npm") {
    if (open && (await linkLibraries(found.packageDir)) === "linked") return found.binDir;
    return copyBinaries(found.packageDir, found.packageVersion, copyPlace);
  }
  // PG_BINDIR may point into an npm package of another major version, which lacks its links as well.
  if (open) await linkLibraries(dirname(dirname(found.binDir)));
  return open ? found.binDir : null;
}

// Folders too, not only programs: installed under umask 077, the share files are closed as well.
async function isOpenTo(user: ServerUser, binDir: string): Promise<boolean> {
  if (!user.lent) return true;
  if (!(await canReach(user, binDir))) return false;
  const neighbours = ["lib", "share"].map((name) => join(dirname(binDir), name));
  for (const path of [program(binDir, "postgres"), program(binDir, "initdb"), ...neighbours]) {
    const owned = await stat(path).catch(() => null);
    if (owned !== null && !mayUse(owned, user)) return false;
  }
  return true;
}

async function askVersion(
  binDir: string,
  user: ServerUser,
): Promise<{ readonly major: number | null; readonly output: string }> {
  try {
    const { output } = await runAs(user, program(binDir, "postgres"), ["--version"], VERSION_DEADLINE_MS);
    return { major: parseMajor(output), output: output.trim() };
  } catch (error) {
    // The program is there, so it is its loader that is not.
    if (systemCode(error) === "ENOENT")
      return { major: null, output: "it needs glibc, which Alpine does not have" };
    if (error instanceof PostgresLaunchError) throw error;
    return { major: null, output: error instanceof Error ? error.message : String(error) };
  }
}
