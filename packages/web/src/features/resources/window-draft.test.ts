import type { WindowSpec } from "@signalbox/contract";
import { describe, expect, test } from "vitest";
import { draftOf, windowOf, withWindow } from "./window-draft.ts";

const NIGHT: WindowSpec = {
  kind: "maintenance",
  opens: "0 2 * * *",
  lastsMs: 5_400_000,
  timeZone: "Europe/Berlin",
};
const HOLIDAY: WindowSpec = {
  kind: "freeze",
  from: "2026-12-24T00:00:00.000Z",
  until: "2026-12-27T00:00:00.000Z",
};

describe("a window", () => {
  test.each([NIGHT, HOLIDAY])("that is typed as it is stays as it is: $kind", (window) => {
    expect(windowOf(draftOf(window, "UTC"))).toEqual(window);
  });

  test("that is nothing yet is one every night, in the time zone of the reader", () => {
    expect(windowOf(draftOf(null, "Asia/Tokyo"))).toEqual({
      kind: "maintenance",
      opens: "0 2 * * *",
      lastsMs: 3_600_000,
      timeZone: "Asia/Tokyo",
    });
  });

  test("that cannot be one is sent as it was typed: the server says what is wrong", () => {
    expect(windowOf({ ...draftOf(HOLIDAY, "UTC"), from: "soon" })).toMatchObject({ from: "soon" });
  });
});

describe("of several windows", () => {
  const other = { ...NIGHT, opens: "0 3 * * *" };

  test("one is added, changed in its place, or taken away", () => {
    expect(withWindow([NIGHT], null, HOLIDAY)).toEqual([NIGHT, HOLIDAY]);
    expect(withWindow([NIGHT, HOLIDAY], NIGHT, other)).toEqual([other, HOLIDAY]);
    expect(withWindow([NIGHT, HOLIDAY], NIGHT, null)).toEqual([HOLIDAY]);
  });

  test("one that is there twice is taken away once", () => {
    expect(withWindow([NIGHT, NIGHT], NIGHT, null)).toEqual([NIGHT]);
  });
});
