import { expect, test } from "vitest";
import { progressOf } from "./progress-of.ts";

const operation = (
  over: Partial<Parameters<typeof progressOf>[0]> = {},
): Parameters<typeof progressOf>[0] => {
  const eligible = { count: 10, atLeast: false };
  const expected = { matched: eligible, eligible, groups: [] };
  return { status: "RUNNING", done: 0, failed: 0, expected, ...over };
};

test("it is as far as what was done and failed, of what was expected", () => {
  expect(progressOf(operation({ done: 4, failed: 1 }))).toEqual({
    share: 0.5,
    difference: 0,
  });
});

test("it is whole at its end and not before, also where it comes to more", () => {
  expect(progressOf(operation({ done: 12 })).share).toBeLessThan(1);
  expect(progressOf(operation({ status: "DONE", done: 12 }))).toEqual({ share: 1, difference: 2 });
  expect(progressOf(operation({ status: "DONE", done: 7, failed: 1 }))).toEqual({
    share: 1,
    difference: -2,
  });
  expect(progressOf(operation({ status: "ABORTED", done: 5 })).share).toBe(0.5);
});

test("where the count stopped at its bound nothing is said of a difference", () => {
  const eligible = { count: 10, atLeast: true };

  expect(
    progressOf(operation({ status: "DONE", done: 99, expected: { matched: eligible, eligible, groups: [] } }))
      .difference,
  ).toBe(0);
});
