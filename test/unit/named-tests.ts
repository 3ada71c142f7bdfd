/** What holds a page whose rows end with the tests that show them: each of those is there, and no file of tests is left out. */
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { read, rowsIn } from "./markdown.ts";
import { hasTest, testsInCell } from "./page-rules.ts";

interface NamedTests {
  /** Fewer rows than these: the page was not read. */
  readonly rowsAtLeast: number;
  /** Whose files of tests the page must name, all but a few. */
  readonly folder: string;
  readonly but?: readonly string[];
}

export function holdsItsTests(page: string, { rowsAtLeast, folder, but = [] }: NamedTests): void {
  const rows = rowsIn(read(page));
  const named = rows.map((row) => testsInCell(row.at(-1) ?? ""));

  test(`every row of ${page} names tests that are there`, () => {
    expect(rows.length).toBeGreaterThan(rowsAtLeast);
    expect(rows.filter((_, index) => named[index]?.length === 0)).toEqual([]);
    expect(named.flat().filter(({ file, title }) => !hasTest(read(file), title))).toEqual([]);
  });

  test(`every file of ${folder} is named in ${page}`, () => {
    const files = readdirSync(new URL(`../../${folder}`, import.meta.url)).filter(
      (name) => name.endsWith(".test.ts") && !but.includes(name),
    );

    expect(files.length).toBeGreaterThan(5);
    expect(files.filter((name) => !named.flat().some(({ file }) => file === `${folder}/${name}`))).toEqual(
      [],
    );
  });
}
