import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Backoff, backoffMs, DEFAULT_BACKOFF } from "./backoff.ts";
import { resolveTaskSpec } from "./task-spec.ts";

const ALMOST_ONE = 1 - Number.EPSILON / 2;

describe("the delay before the next attempt", () => {
  it("is by default 1 s at most after the first failure, and twice that after each further one", () => {
    const delays = [1, 2, 3, 4].map((failures) => backoffMs(DEFAULT_BACKOFF, failures, ALMOST_ONE));

    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000]);
  });

  it("is by default never more than ten minutes", () => {
    expect(backoffMs(DEFAULT_BACKOFF, 100, ALMOST_ONE)).toBe(600_000);
  });

  it("is at least half of the whole, so that the jitter does not become a hurry", () => {
    expect(backoffMs(DEFAULT_BACKOFF, 2, 0)).toBe(1_000);
  });

  it("is a whole number of milliseconds", () => {
    expect(backoffMs({ firstMs: 33, factor: 1.7, maxMs: 10_000 }, 3, 0.123)).toBe(54);
  });

  it("is nothing where the first delay is nothing, however large the factor", () => {
    expect(backoffMs({ firstMs: 0, factor: 1e6, maxMs: 1_000 }, 100, 0.5)).toBe(0);
  });
});

describe("whatever backoff a task may name", () => {
  const backoff: fc.Arbitrary<Backoff> = fc.record({
    firstMs: fc.nat({ max: 100_000_000 }),
    factor: fc.oneof(fc.constantFrom(1, 2, 1e6, 1e300), fc.double({ min: 1, max: 100, noNaN: true })),
    maxMs: fc.nat({ max: 100_000_000 }),
  });
  const failures = fc.integer({ min: 1, max: 100 });
  const random = fc.double({ min: 0, max: ALMOST_ONE, noNaN: true });

  it("is accepted by the task spec", () => {
    fc.assert(
      fc.property(backoff, (given) => {
        expect(resolveTaskSpec({ kind: "k", retry: { backoff: given } }).policy.backoff).toEqual(given);
      }),
    );
  });

  it("stays between half and the whole of the exponential delay, and below the maximum", () => {
    fc.assert(
      fc.property(backoff, failures, random, (given, count, chance) => {
        let whole = given.firstMs;
        for (let i = 1; i < count && whole > 0 && whole < given.maxMs; i++) whole *= given.factor;
        whole = Math.min(whole, given.maxMs);

        const delayMs = backoffMs(given, count, chance);

        expect(Number.isInteger(delayMs)).toBe(true);
        // Powers and repeated products differ in the last digits.
        expect(delayMs).toBeGreaterThanOrEqual(Math.floor((whole / 2) * (1 - 1e-9)));
        expect(delayMs).toBeLessThanOrEqual(Math.ceil(whole * (1 + 1e-9)));
        expect(delayMs).toBeLessThanOrEqual(given.maxMs);
      }),
    );
  });

  it("never gets shorter with another failure, nor with a larger random number", () => {
    fc.assert(
      fc.property(backoff, failures, random, random, (given, count, chance, other) => {
        const [low, high] = chance < other ? [chance, other] : [other, chance];

        expect(backoffMs(given, count + 1, low)).toBeGreaterThanOrEqual(backoffMs(given, count, low));
        expect(backoffMs(given, count, high)).toBeGreaterThanOrEqual(backoffMs(given, count, low));
      }),
    );
  });
});
