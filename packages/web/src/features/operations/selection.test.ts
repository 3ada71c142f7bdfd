import { describe, expect, test } from "vitest";
import {
  choosePart,
  isChosen,
  MOST_ROWS,
  NOTHING,
  pageState,
  type Selection,
  toggle,
  togglePage,
} from "./selection.ts";

const SHOWN = ["a", "b", "c", "d"];
const idsOf = (selection: Selection): readonly string[] =>
  selection.kind === "all" ? ["all"] : [...selection.ids].toSorted();

describe("a selection", () => {
  test("takes a row in, and takes it out again", () => {
    const one = toggle(NOTHING, "b", SHOWN);

    expect(idsOf(one)).toEqual(["b"]);
    expect(idsOf(toggle(one, "b", SHOWN))).toEqual([]);
  });

  test("takes all rows from the one before to this one, upwards too", () => {
    const from = toggle(NOTHING, "c", SHOWN);

    expect(idsOf(choosePart(from, "a", SHOWN))).toEqual(["a", "b", "c"]);
    expect(idsOf(choosePart(from, "d", SHOWN))).toEqual(["c", "d"]);
    expect(idsOf(choosePart(NOTHING, "d", SHOWN))).toEqual(["d"]);
  });

  test("of the page is all that is shown, and nothing the second time", () => {
    const page = togglePage(toggle(NOTHING, "a", SHOWN), SHOWN);

    expect(idsOf(page)).toEqual(SHOWN);
    expect(pageState(page, SHOWN)).toBe("all");
    expect(pageState(toggle(page, "a", SHOWN), SHOWN)).toBe("some");
    expect(idsOf(togglePage(page, SHOWN))).toEqual([]);
  });

  test("has no more rows than an operation takes", () => {
    const many = Array.from({ length: MOST_ROWS + 1 }, (_, index) => `row ${index}`);

    const page = togglePage(NOTHING, many);

    expect(idsOf(page)).toHaveLength(MOST_ROWS);
    expect(pageState(page, many)).toBe("all");
  });

  test("of all that the filter fits has every row, and becomes one of rows when one is taken out", () => {
    const all: Selection = { kind: "all" };

    expect(isChosen(all, "z")).toBe(true);
    expect(idsOf(toggle(all, "b", SHOWN))).toEqual(["a", "c", "d"]);
  });
});
