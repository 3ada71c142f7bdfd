import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SchedulerError } from "./errors.ts";
import { compareVersions, parseVersion } from "./version.ts";

describe("a version", () => {
  it.each(["0", "3", "20261115.2", "1.0.0", "9223372036854775807"])("may be %s", (text) => {
    expect(parseVersion(text)).toBe(text);
  });

  it.each([
    ["nothing", ""],
    ["a word", "latest"],
    ["a letter in front", "v1"],
    ["a leading zero", "01"],
    ["a leading zero in a later part", "1.02"],
    ["a dot at the end", "1."],
    ["a dot in front", ".1"],
    ["two dots", "1..2"],
    ["a sign", "-1"],
    ["a space", "1 "],
    ["a line break at the end", "1\n"],
    ["a suffix", "1.0-rc1"],
    ["digits of another script", "١"],
    ["a part beyond bigint", "9223372036854775808"],
    ["more than 200 characters", "1".concat(".1".repeat(100))],
  ])("is refused with %s", (_, text) => {
    const refusal = new SchedulerError("INVALID_VERSION", { version: text });

    expect(() => parseVersion(text)).toThrow(refusal);
  });

  it("says in its refusal what would be right", () => {
    expect(() => parseVersion("v1")).toThrow(
      '"v1" is not a version; use dotted integers such as 3 or 20261115.2',
    );
  });
});

describe("the order of versions", () => {
  it.each([
    ["1.9", "1.10"],
    ["9", "10"],
    ["1", "1.0"],
    ["1.0", "1.0.0"],
    ["1.9.9", "2"],
    ["9223372036854775806", "9223372036854775807"],
  ])("puts %s before %s", (smaller, larger) => {
    expect(compareVersions(smaller, larger)).toBeLessThan(0);
    expect(compareVersions(larger, smaller)).toBeGreaterThan(0);
  });

  const parts = fc.array(fc.oneof(fc.bigInt(0n, 3n), fc.bigInt(0n, 2n ** 63n - 1n)), {
    minLength: 1,
    maxLength: 4,
  });
  const version = parts.map((numbers) => numbers.join("."));

  it("is total: every two are in order one way round, and equal only when they are the same", () => {
    fc.assert(
      fc.property(version, version, (a, b) => {
        expect(Math.sign(compareVersions(a, b))).toBe(0 - Math.sign(compareVersions(b, a)));
        expect(compareVersions(a, b) === 0).toBe(a === b);
        expect(compareVersions(a, a)).toBe(0);
      }),
    );
  });

  it("is transitive: what is sorted is in order between any two", () => {
    fc.assert(
      fc.property(fc.array(version, { minLength: 3, maxLength: 6 }), (versions) => {
        const sorted = versions.toSorted(compareVersions);

        for (const [i, low] of sorted.entries()) {
          for (const high of sorted.slice(i + 1)) expect(compareVersions(low, high)).toBeLessThanOrEqual(0);
        }
      }),
    );
  });

  it("is that of arrays of bigint in PostgreSQL: part by part, then the shorter first", () => {
    fc.assert(
      fc.property(parts, parts, (left, right) => {
        const at = left.findIndex((part, i) => part !== right[i]);
        const [a, b] = [left[at], right[at]];
        const expected = at < 0 ? left.length - right.length : b === undefined ? 1 : (a ?? 0n) < b ? -1 : 1;

        const compared = compareVersions(left.join("."), right.join("."));

        expect(Math.sign(compared)).toBe(Math.sign(expected));
      }),
    );
  });
});
