/** Holds docs/reference/bad-input.md: every test that it names is there, and no test of the tier is left out. */
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { read, rowsIn } from "./markdown.ts";
import { hasTest, testsInCell } from "./page-rules.ts";

const FOLDER = "test/bad-input";
const rows = rowsIn(read("docs/reference/bad-input.md"));
const named = rows.flatMap((row) => testsInCell(row.at(-1) ?? ""));

test("every row of docs/reference/bad-input.md names tests that are there", () => {
  expect(rows.length).toBeGreaterThan(25);
  expect(rows.filter((row) => testsInCell(row.at(-1) ?? "").length === 0)).toEqual([]);
  expect(named.filter(({ file, title }) => !hasTest(read(file), title))).toEqual([]);
});

test("every file of the tier is named in docs/reference/bad-input.md", () => {
  const files = readdirSync(new URL(`../../${FOLDER}`, import.meta.url)).filter((name) =>
    name.endsWith(".test.ts"),
  );

  expect(files.length).toBeGreaterThan(5);
  expect(files.filter((name) => !named.some(({ file }) => file === `${FOLDER}/${name}`))).toEqual([]);
});
