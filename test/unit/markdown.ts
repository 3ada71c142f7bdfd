/** Reads pages of the repository as far as the tests of the docs need it: links, code, headings, tables. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = new URL("../../", import.meta.url);

/** `path` is from the root of the repository. */
export function read(path: string): string {
  return readFileSync(fileURLToPath(new URL(path, root)), "utf8");
}

export function isThere(path: string): boolean {
  return existsSync(fileURLToPath(new URL(path, root)));
}

/** Every page below a folder, by its path from the root. */
export function pagesUnder(folder: string): readonly string[] {
  return readdirSync(new URL(`${folder}/`, root), { recursive: true, encoding: "utf8" })
    .map((path) => `${folder}/${path.replaceAll("\\", "/")}`)
    .filter((path) => path.endsWith(".md"))
    .sort();
}

/** Targets of relative links. */
export function linksIn(text: string): readonly string[] {
  return [...prose(text).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = ""]) =>
    /^[a-z]+:/.test(target) ? [] : [target],
  );
}

/** What stands in backticks. */
export function codeIn(text: string): readonly string[] {
  return [...prose(text).matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code);
}

export function blocksIn(text: string, language: string): readonly string[] {
  return [...text.matchAll(/^```(\w*)\n(.*?)\n```$/gms)].flatMap(([, name, block = ""]) =>
    name === language ? [block] : [],
  );
}

export function headingsIn(text: string): readonly string[] {
  return [...prose(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading);
}

/** As GitHub makes them. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-");
}

/** The cells of every table, without headers. */
export function rowsIn(text: string): readonly (readonly string[])[] {
  return prose(text)
    .split(/\n\s*\n/)
    .filter((part) => part.trim().startsWith("|"))
    .flatMap((table) => table.trim().split("\n").slice(2).map(cellsOf));
}

/** The cells of the first table under a heading, without its header; what is only code, without its backticks. */
export function tableUnder(text: string, heading: string): readonly (readonly string[])[] {
  const lines = text.split("\n");
  const at = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, "") === heading);
  const first = lines.findIndex((line, index) => index > at && line.startsWith("|"));
  const end = lines.findIndex((line, index) => index > first && !line.startsWith("|"));
  if (at < 0 || first < 0) throw new Error(`There is no table under "${heading}"`);
  return lines
    .slice(first + 2, end < 0 ? undefined : end)
    .map((line) => cellsOf(line).map((cell) => cell.replace(/^`([^`]+)`$/, "$1")));
}

function cellsOf(row: string): readonly string[] {
  return row
    .trim()
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** Without code blocks: what stands there is no link and no heading. */
function prose(text: string): string {
  return text.replaceAll(/^```.*?^```$/gms, "");
}
