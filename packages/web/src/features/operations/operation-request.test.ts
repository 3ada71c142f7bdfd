import { expect, test } from "vitest";
import { filterOf, newKey, searchOf, typedPattern } from "./operation-request.ts";

test("what is chosen is asked for by ids, or by the filter of the list", () => {
  const ids = new Set(["b", "a"]);

  expect(filterOf({ kind: "rows", ids, anchor: null }, { kind: "mail" })).toEqual({ ids: ["a", "b"] });
  expect(filterOf({ kind: "all" }, { status: "FAILED,DONE", queue: "night" })).toEqual({
    status: ["DONE", "FAILED"],
    queue: "night",
  });
});

test("everything there is is asked for by nobody", () => {
  expect(filterOf({ kind: "all" }, {})).toBeNull();
  expect(filterOf({ kind: "all" }, { status: "SKIPPED" })).toBeNull();
});

test("a filter leads back to the list that it came from", () => {
  const search = { status: "FAILED", tag: "eu" };

  expect(searchOf(filterOf({ kind: "all" }, search) ?? {})).toEqual(search);
});

test.each([
  ["10240", true],
  ["10,240", true],
  ["10.240", true],
  ["1024", false],
  ["102400", false],
])("%s typed for 10240: %s", (text, fits) => {
  expect(new RegExp(`^(?:${typedPattern(10_240)})$`, "v").test(text)).toBe(fits);
});

test("a key is new each time, and such as a header carries", () => {
  expect(newKey()).toMatch(/^dashboard-[0-9a-f]{32}$/);
  expect(newKey()).not.toBe(newKey());
});
