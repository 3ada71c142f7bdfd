/** A copy of the repository to break things in, with the same dependencies and its own workspace packages. */
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { applyChange, type Change } from "./read-mutants.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const LEFT_OUT = new Set(["node_modules", "dist", ".git", ".signalbox", "coverage"]);

export interface WorkCopy {
  readonly dir: string;
  /** Changes files, does the work, and puts them back as they were. */
  readonly changed: <Result>(changes: readonly Change[], work: () => Promise<Result>) => Promise<Result>;
  readonly remove: () => void;
}

export function makeWorkCopy(): WorkCopy {
  // The real path: a module that is found by two paths would be loaded twice.
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-mutants-")));
  const remove = (): void => rmSync(dir, { recursive: true, force: true });
  process.once("exit", remove);
  cpSync(ROOT, dir, { recursive: true, filter: (path) => !LEFT_OUT.has(basename(path)) });
  linkModules(dir);
  requireOwnPackages(dir);
  return { dir, changed: async (changes, work) => await withChanges(dir, changes, work), remove };
}

/** Every dependency is the original; the packages of the workspace are those of the copy. */
function linkModules(dir: string): void {
  const [from, to] = [join(ROOT, "node_modules"), join(dir, "node_modules")];
  const workspaces = workspacesOf(dir);
  const scopes = [...workspaces.keys()].filter((name) => name.includes("/")).map((name) => dirname(name));
  for (const scope of scopes) mkdirSync(join(to, scope), { recursive: true });
  for (const name of readdirSync(from)) {
    if (workspaces.has(name) || scopes.includes(name) || name.startsWith(".vite")) continue;
    symlinkSync(join(from, name), join(to, name));
  }
  for (const [name, folder] of workspaces) symlinkSync(folder, join(to, name));
}

/** Where each package of the workspace is, by its name. */
function workspacesOf(dir: string): ReadonlyMap<string, string> {
  const folders = ["packages", "examples"].flatMap((group) =>
    readdirSync(join(dir, group)).map((name) => join(dir, group, name)),
  );
  return new Map(
    folders.map((folder) => {
      const { name } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { name: string };
      return [name, folder];
    }),
  );
}

/** Otherwise a mutant would be tested on the sources that it did not change. */
function requireOwnPackages(dir: string): void {
  const { resolve } = createRequire(join(dir, "test", "setup", "postgres.ts"));
  const found = realpathSync(resolve("@signalbox/core"));
  if (!found.startsWith(dir)) throw new Error(`@signalbox/core of the copy is ${found}`);
}

async function withChanges<Result>(
  dir: string,
  changes: readonly Change[],
  work: () => Promise<Result>,
): Promise<Result> {
  const before = new Map<string, string>();
  try {
    for (const change of changes) {
      const path = join(dir, change.file);
      const text = readFileSync(path, "utf8");
      if (!before.has(path)) before.set(path, text);
      writeFileSync(path, applyChange(change, text));
    }
    return await work();
  } finally {
    for (const [path, text] of before) writeFileSync(path, text);
  }
}
