import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { freeSlotsOf } from "./free-slots.ts";

describe("the free slots of a limit", () => {
  it("are below it, taken by nobody, rising, and as many as are wanted or as it has room for", () => {
    const given = fc.record({
      limit: fc.integer({ min: 1, max: 30 }),
      taken: fc.uniqueArray(fc.integer({ min: 0, max: 40 })).map((slots) => slots.toSorted((a, b) => a - b)),
      wanted: fc.integer({ min: 0, max: 40 }),
    });
    fc.assert(
      fc.property(given, ({ limit, taken, wanted }) => {
        const free = freeSlotsOf(limit, taken, wanted);
        // Some of those that are taken may be above a limit that was lowered: they count all the same.
        expect(free).toHaveLength(Math.max(0, Math.min(wanted, limit - taken.length)));
        expect(free).toEqual([...new Set(free)].toSorted((a, b) => a - b));
        for (const slot of free) expect(taken.includes(slot) || slot >= limit || slot < 0).toBe(false);
      }),
    );
  });

  it("are behind the last one where there is no limit", () => {
    expect(freeSlotsOf(0, [7], 2)).toEqual([8, 9]);
    expect(freeSlotsOf(0, [], 1)).toEqual([0]);
  });
});
