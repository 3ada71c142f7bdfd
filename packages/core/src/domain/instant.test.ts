import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { isDate, isInstant } from "./instant.ts";

it("a Date of another realm is one, and what only looks like one is not", () => {
  const foreign: unknown = runInNewContext("new Date(0)");

  expect(foreign instanceof Date).toBe(false);
  expect([foreign, new Date(Number.NaN), Object.create(Date.prototype), 0, null].map(isDate)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});

it.each([
  [new Date(0), true],
  [new Date("9999-12-31T23:59:59.999Z"), true],
  [new Date(-1), false],
  [new Date(Date.UTC(10_000)), false],
  [new Date(Number.NaN), false],
  ["2026-01-01", false],
])("%s as what can be stored: %s", (value, expected) => {
  expect(isInstant(value)).toBe(expected);
});
