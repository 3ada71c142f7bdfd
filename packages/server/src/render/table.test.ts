import { expect, test } from "vitest";
import { createLook } from "./look.ts";
import { alignColumns } from "./table.ts";

test("columns line up, whatever the cells are made of", () => {
  const { colors } = createLook({ color: true, unicode: true });

  expect(
    alignColumns([
      ["a", "1"],
      ["日本", "2"],
      ["long", "3"],
    ]),
  ).toEqual(["a     1", "日本  2", "long  3"]);
  expect(
    alignColumns([
      [colors.red("a"), "1"],
      ["long", "2"],
    ]),
  ).toEqual([`${colors.red("a")}     1`, "long  2"]);
});
