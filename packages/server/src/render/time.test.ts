import { expect, test } from "vitest";
import { PLAIN_LOOK } from "./look.ts";
import { clockText, lengthText, relativeText } from "./time.ts";

test.each([
  [-500, "0.0 s"],
  [3_649, "3.6 s"],
  [9_999, "9.9 s"],
  [42_900, "42 s"],
  [252_000, "4 min 12 s"],
  [240_000, "4 min"],
  [8_040_000, "2 h 14 min"],
  [266_400_000, "3 d 2 h"],
])("%d ms are %s", (ms, text) => {
  expect(lengthText(ms)).toBe(text);
});

test("an instant is ahead or ago", () => {
  expect(relativeText("2026-11-16T12:00:12Z", "2026-11-16T12:00:00Z")).toBe("in 12 s");
  expect(relativeText("2026-11-16T11:59:56Z", "2026-11-16T12:00:00Z")).toBe("4.0 s ago");
});

test("another day is named, in the reader's time zone", () => {
  const berlin = { ...PLAIN_LOOK, timeZone: "Europe/Berlin" };

  expect(clockText("2026-11-16T22:30:00Z", "2026-11-16T12:00:00Z", berlin)).toBe("23:30:00");
  expect(clockText("2026-11-16T23:30:00Z", "2026-11-16T12:00:00Z", berlin)).toBe("2026-11-17 00:30:00");
});
