/**
 * Runs the guide. The `ts` blocks of a page are one program: it is type-checked, run against a database of its
 * own, and what it prints is compared with its comments `// → …`, in their order.
 */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createTestDatabase } from "@signalbox/core/testing";
import { afterAll, describe, expect, inject, it } from "vitest";
import { blocksIn, pagesUnder, read } from "../unit/markdown.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const INDEX = "docs/guide/README.md";
const pages = pagesUnder("docs/guide").filter((path) => path !== INDEX);
const programs = new Map(pages.map((path) => [path, blocksIn(read(path), "ts").join("\n\n")]));

// Inside the repository, where the packages are found; outside every folder that other tests read.
mkdirSync(`${ROOT}.guide`, { recursive: true });
const dir = mkdtempSync(`${ROOT}.guide/`);
afterAll(() => rmSync(dir, { recursive: true }));

describe("the guide", () => {
  it("has a program on every page, and every page in its index", () => {
    const index = read(INDEX);

    expect(pages.length).toBeGreaterThanOrEqual(8);
    for (const path of pages) {
      expect(programs.get(path)?.split("\n").length, path).toBeGreaterThan(20);
      expect(index).toContain(`(${path.replace("docs/guide/", "")})`);
    }
  });

  it("has the types right", async () => {
    expect(await typeErrorsOf(programs)).toBe("");
  });

  it("would not be believed with a wrong type", async () => {
    const wrong = 'import { exclusive } from "@signalbox/core";\nexclusive(7);\n';

    expect(await typeErrorsOf(new Map([["docs/guide/wrong.md", wrong]]))).toContain("TS2345");
  });

  it.each(pages)("%s runs, and prints what it says", { timeout: 60_000 }, async (path) => {
    const program = programs.get(path) ?? "";
    const expected = promisedBy(program);

    const printed = await outputOf(path, program);

    // A page without a promise is judged by its exit code: its program is a test.
    if (expected.length > 0) expect(printed).toEqual(expected);
    else expect(program).toContain('from "node:test"');
  });
});

/** What the program says that it prints. */
function promisedBy(program: string): readonly string[] {
  return [...program.matchAll(/\/\/ → (.*)$/gm)].map(([, text = ""]) => text);
}

async function outputOf(path: string, program: string): Promise<readonly string[]> {
  const database = await createTestDatabase(inject("adminUrl"));
  try {
    const file = write(dir, path, program);
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--import", "tsx", "--conditions=source", file],
      { cwd: ROOT, env: { ...process.env, DATABASE_URL: database.url, NO_COLOR: "1" }, timeout: 50_000 },
    );
    return stdout.trimEnd().split("\n");
  } finally {
    await database.drop();
  }
}

/** Empty when there is none. */
async function typeErrorsOf(texts: ReadonlyMap<string, string>): Promise<string> {
  const own = mkdtempSync(`${dir}/types-`);
  for (const [path, text] of texts) write(own, path, text);
  const config = {
    extends: `${ROOT}tsconfig.base.json`,
    // A matter of our own style: readers write process.env.NAME.
    compilerOptions: { noPropertyAccessFromIndexSignature: false },
    include: ["*.ts"],
  };
  writeFileSync(`${own}/tsconfig.json`, JSON.stringify(config));
  return await promisify(execFile)(process.execPath, [
    `${ROOT}node_modules/typescript/bin/tsc`,
    "-p",
    own,
  ]).then(
    ({ stdout }) => stdout,
    (error: { readonly stdout: string }) => error.stdout,
  );
}

function write(folder: string, path: string, text: string): string {
  const file = `${folder}/${path.split("/").at(-1)?.replace(".md", ".ts")}`;
  writeFileSync(file, text);
  return file;
}
