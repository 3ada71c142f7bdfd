import { expect, test } from "vitest";
import { nextRestMs } from "./poller.ts";

test.each([
  ["what changes is asked for quickly", 30_000, { changed: true, open: false }, 2_000],
  ["what is open is never older than a few seconds", 4_000, { changed: false, open: true }, 4_000],
  ["what does not change is asked for more seldom each time", 8_000, { changed: false, open: false }, 16_000],
  ["but at least every half minute", 30_000, { changed: false, open: false }, 30_000],
])("%s", (_, restMs, seen, next) => {
  expect(nextRestMs(restMs, seen)).toBe(next);
});
