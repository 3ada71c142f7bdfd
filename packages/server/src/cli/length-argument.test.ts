import { expect, test } from "vitest";
import { lengthMs, parseInstant, parseLength, since } from "./length-argument.ts";

test.each([
  ["500ms", 500],
  ["30s", 30_000],
  ["5m", 300_000],
  ["2h", 7_200_000],
  ["1d", 86_400_000],
])("%s is a length", (text, ms) => {
  expect(parseLength(text)).toBe(ms);
  expect(lengthMs(text)).toBe(ms);
});

test.each([["0s"], ["5"], ["m"], ["-5s"], ["1.5s"], ["30d"], ["9999999999s"], [""]])(
  "%j is no length to wait for",
  (text) => {
    expect(() => lengthMs(text)).toThrow(/Give a length/);
  },
);

test.each([
  ["2026-02-28T23:59:59Z", "2026-02-28T23:59:59.000Z"],
  ["2028-02-29T00:00Z", "2028-02-29T00:00:00.000Z"],
  ["2026-11-16T14:00:00.5+02:00", "2026-11-16T12:00:00.500Z"],
])("%s is an instant", (text, instant) => {
  expect(parseInstant(text)?.toISOString()).toBe(instant);
});

test.each([
  ["2026-02-31T00:00:00Z"],
  ["2027-02-29T00:00:00Z"],
  ["2026-04-31T12:00:00+02:00"],
  ["2026-13-01T00:00:00Z"],
  ["2026-01-00T00:00:00Z"],
  ["2026-01-01T25:00:00Z"],
  ["2026-01-01T00:00:00"],
  ["2026-01-01"],
])("%s is a day or hour that does not exist, or no instant", (text) => {
  expect(parseInstant(text)).toBeNull();
});

test("since is an instant, or a length ago", () => {
  expect(since("2026-11-16T12:00:00Z")).toEqual(new Date("2026-11-16T12:00:00Z"));
  expect(Math.abs(Date.now() - 3_600_000 - since("1h").getTime())).toBeLessThan(5_000);
  expect(() => since("yesterday")).toThrow(/length ago/);
});
