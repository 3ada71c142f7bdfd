import { expect, test } from "vitest";
import { judgeFailure } from "./stream-failures.ts";

test("three failures within half a minute are often, and each rests longer", () => {
  const first = judgeFailure([], 0);
  const second = judgeFailure(first.failedAt, 10_000);
  const third = judgeFailure(second.failedAt, 20_000);

  expect([first, second, third].map(({ often }) => often)).toEqual([false, false, true]);
  expect([first, second, third].map(({ restMs }) => restMs)).toEqual([500, 1_000, 2_000]);
});

test("what is longer ago is forgotten", () => {
  expect(judgeFailure([0, 1_000], 31_500)).toEqual({ failedAt: [31_500], often: false, restMs: 500 });
});
