import { describe, expect, it } from "vitest";
import { DeferError, letGo, RetryLaterError } from "./answers.ts";

const YEAR_MS = 31_536_000_000;

describe("a time that an executor asks for", () => {
  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY, YEAR_MS + 1])("cannot be %d ms", (ms) => {
    expect(() => new DeferError(ms)).toThrow(`delayMs: ${ms} is not between 0 and ${YEAR_MS} milliseconds`);
    expect(() => new RetryLaterError(ms, "later")).toThrow("afterMs");
    expect(() => letGo({ handle: 1, pollInMs: ms, deadlineInMs: 1 })).toThrow("pollInMs");
    expect(() => letGo({ handle: 1, pollInMs: 1, deadlineInMs: ms })).toThrow("deadlineInMs");
  });

  it("is a whole number of milliseconds", () => {
    expect(new DeferError(0.6).delayMs).toBe(1);
    expect(new RetryLaterError(YEAR_MS, "later").afterMs).toBe(YEAR_MS);
    expect(letGo({ handle: null, pollInMs: 1.4, deadlineInMs: 2.6 }).job).toEqual({
      handle: null,
      pollInMs: 1,
      deadlineInMs: 3,
    });
  });
});
