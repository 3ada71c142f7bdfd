import { describe, expect, test } from "vitest";
import { holdRows } from "./hold-rows.ts";

describe("while somebody is at work on the list", () => {
  test("new rows wait, and changed ones change in place", () => {
    const held = holdRows(rows("b1", "a1"), rows("d1", "c1", "b2", "a1"), true);

    expect(held).toEqual({ shown: rows("b2", "a1"), newer: 2 });
  });

  test("one that was committed late waits as well, although it is not the newest", () => {
    expect(holdRows(rows("d1", "a1"), rows("d1", "b1", "a1"), true)).toEqual({
      shown: rows("d1", "a1"),
      newer: 1,
    });
  });

  test("rows that do not match any more stay where they are", () => {
    expect(holdRows(rows("c1", "b1", "a1"), rows("c1", "a1"), true).shown).toEqual(rows("c1", "b1", "a1"));
  });

  test("older ones follow at the end", () => {
    expect(holdRows(rows("c1", "b1"), rows("c1", "b1", "a1"), true)).toEqual({
      shown: rows("c1", "b1", "a1"),
      newer: 0,
    });
  });
});

test("otherwise the list is as it comes", () => {
  expect(holdRows(rows("a1"), rows("b1", "a1"), false)).toEqual({ shown: rows("b1", "a1"), newer: 0 });
});

/** "b2" is row b in its second version. */
function rows(...names: readonly string[]) {
  return names.map((name) => ({ taskRunId: name.charAt(0), rowVersion: Number(name.charAt(1)) }));
}
