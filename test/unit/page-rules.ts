/** What a page of the docs must keep to, as functions over texts: they judge the pages and the planted violations. */
import { posix } from "node:path";
import { anchorOf, codeIn, headingsIn, isThere, linksIn, read } from "./markdown.ts";

/** A decision record has four parts on one page. */
export function problemsOfRecord(text: string): readonly string[] {
  const parts = headingsIn(text).slice(1);
  const wanted = ["Context", "Decision", "Consequences", "Revisit when"];
  const lines = text.split("\n").length;
  return [
    ...(parts.join() === wanted.join() ? [] : [`parts: ${parts.join(", ")}`]),
    ...(lines > 60 ? [`${lines} lines`] : []),
  ];
}

/** Links, paths, scripts and commands that are not there, and paths of somebody's machine. */
export function problemsOfPage(path: string, text: string): readonly string[] {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  const program = read("packages/server/src/cli/program.ts");
  const command = (name: string): boolean => program.includes(`command("${name}")`);
  return [
    ...linksIn(text).filter((link) => !leadsSomewhere(path, link)),
    ...pathsIn(text).filter((file) => !isThere(file)),
    ...[...text.matchAll(/npm run ([a-z:]+)/g)].flatMap(([, name = ""]) =>
      name in scripts ? [] : [`npm run ${name}`],
    ),
    ...[...text.matchAll(/npx signalbox ([a-z]+)/g)].flatMap(([, name = ""]) =>
      command(name) ? [] : [name],
    ),
    ...(text.match(/(?:\/home\/|\/work\/|\/root\/|\/Users\/)[\w-]+/g) ?? []),
  ];
}

function leadsSomewhere(from: string, link: string): boolean {
  const [file = "", anchor] = link.split("#");
  const target = file === "" ? from : posix.join(posix.dirname(from), file);
  if (!isThere(target)) return false;
  return anchor === undefined || headingsIn(read(target)).map(anchorOf).includes(anchor);
}

/** What looks like a path of the repository, in backticks. A pattern or a placeholder is none. */
export function pathsIn(text: string): readonly string[] {
  return codeIn(text).filter((code) => /^(?:packages|docs|examples|scripts|test)\/[\w./-]*$/.test(code));
}

/** The files that the cells of a row name, below the folders of their columns. */
export function filesIn(cells: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(cells).flatMap(([folder, cell = ""]) =>
    codeIn(/`/.test(cell) ? cell : `\`${cell}\``)
      .filter((name) => /(?:\.ts|\/)$/.test(name))
      .map((name) => `${folder}/${name}`),
  );
}

/** What a pattern finds in the part of a source that another one cuts out. */
export function namesIn(file: string, part: RegExp, name: RegExp): readonly string[] {
  const [, text = ""] = part.exec(read(file)) ?? [];
  return [...new Set([...text.matchAll(name)].map(([, found = ""]) => found))];
}

/** Each once. */
export function sorted(names: Iterable<string>): readonly string[] {
  return [...new Set(names)].sort();
}

/** The title as the first argument of a call, and a function after it: that is how tests are written here. */
export function hasTest(text: string, title: string): boolean {
  const literal = JSON.stringify(title).replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`\\(\\s*${literal},\\s*(?:\\{[^}]*\\},\\s*)?(?:async )?\\(`).test(text);
}

/** Titles, and the file they are in. */
export function testsIn(text: string): readonly { readonly file: string; readonly title: string }[] {
  const [, titles = "", file = ""] = /^(.*) in `([^`]+)`$/s.exec(text.trim()) ?? [];
  return [...titles.matchAll(/"([^"]+)"/g)].map(([, title = ""]) => ({ file, title }));
}

/** The same, where a cell names several files. */
export function testsInCell(cell: string): readonly { readonly file: string; readonly title: string }[] {
  return cell.split(/(?<=`);/).flatMap(testsIn);
}
