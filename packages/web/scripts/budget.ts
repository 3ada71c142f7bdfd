/** What the dashboard may weigh, in gzipped bytes (UX d.1). Pure: the caller measures files. */

interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}

export type Manifest = Readonly<Record<string, Chunk>>;

export interface Weight {
  readonly name: string;
  readonly bytes: number;
  readonly limit: number;
}

const FIRST_LOAD = 200_000;
const STYLES = 25_000;
const LANGUAGE = 20_000;
const CHART = 30_000;
const EVERYTHING = 420_000;

/** `gzipped` says how many bytes a file of the manifest has. */
export function weigh(manifest: Manifest, gzipped: (file: string) => number): readonly Weight[] {
  const entry = Object.values(manifest).find(({ isEntry }) => isEntry);
  if (entry === undefined) throw new Error("The manifest names no entry: nothing was weighed");
  const sum = (files: Iterable<string>): number =>
    [...files].reduce((total, file) => total + gzipped(file), 0);
  const scripts = new Set(
    Object.values(manifest)
      .map(({ file }) => file)
      .filter((file) => file.endsWith(".js")),
  );
  const styles = new Set(Object.values(manifest).flatMap(({ css = [] }) => css));
  const named = (pattern: RegExp, name: string, limit: number): readonly Weight[] =>
    [...scripts]
      .filter((file) => pattern.test(file))
      .map((file) => ({ name: `${name} ${file.slice(7, 17)}`, bytes: gzipped(file), limit }));
  return [
    { name: "first load", bytes: sum(firstLoad(manifest, entry)), limit: FIRST_LOAD },
    { name: "styles", bytes: sum(styles), limit: STYLES },
    ...named(/assets\/[a-z]{2}-[A-Z]{2}-/, "language", LANGUAGE),
    ...named(/assets\/charts-/, "chart", CHART),
    { name: "all scripts", bytes: sum(scripts), limit: EVERYTHING },
  ];
}

export function overBudget(weights: readonly Weight[]): readonly Weight[] {
  return weights.filter(({ bytes, limit }) => bytes > limit);
}

/** The entry, and all that it imports before it can run. */
function firstLoad(manifest: Manifest, entry: Chunk): ReadonlySet<string> {
  const files = new Set<string>();
  const visit = (chunk: Chunk): void => {
    if (files.has(chunk.file)) return;
    files.add(chunk.file);
    for (const name of chunk.imports ?? []) {
      const imported = manifest[name];
      if (imported !== undefined) visit(imported);
    }
  };
  visit(entry);
  return files;
}
