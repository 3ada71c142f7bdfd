/** Holds docs/reference/faults.md: every test that it names is there, and no long trial is left out. */
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { read, rowsIn } from "./markdown.ts";
import { hasTest, testsInCell } from "./page-rules.ts";

const rows = rowsIn(read("docs/reference/faults.md"));
const named = rows.flatMap((row) => testsInCell(row.at(-1) ?? ""));

test("every row of docs/reference/faults.md names tests that are there", () => {
  expect(rows.length).toBeGreaterThan(25);
  expect(rows.filter((row) => testsInCell(row.at(-1) ?? "").length === 0)).toEqual([]);
  expect(named.filter(({ file, title }) => !hasTest(read(file), title))).toEqual([]);
});

test("every long trial with faults is named in docs/reference/faults.md", () => {
  const withoutFaults = ["memory.long.test.ts", "model.long.test.ts"];
  const trials = readdirSync(new URL("../long", import.meta.url)).filter(
    (name) => name.endsWith(".test.ts") && !withoutFaults.includes(name),
  );

  expect(trials.length).toBeGreaterThan(5);
  expect(trials.filter((name) => !named.some(({ file }) => file === `test/long/${name}`))).toEqual([]);
});
