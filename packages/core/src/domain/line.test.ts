import { describe, expect, it } from "vitest";
import { lineEntry } from "../testing/builders.ts";
import { asTaskRunId } from "./ids.ts";
import { comparePlaces, isAhead } from "./line.ts";

const place = lineEntry({ taskRunId: asTaskRunId("m"), priority: 5, enqueuedUs: 100 });

describe("the line", () => {
  it("puts the more urgent first, whenever it came", () => {
    const urgent = { ...place, priority: 4, enqueuedUs: 900 };

    expect(isAhead(urgent, place)).toBe(true);
    expect(isAhead(place, urgent)).toBe(false);
  });

  it("puts the earlier first among equally urgent ones, whatever their ids", () => {
    const earlier = { ...place, taskRunId: asTaskRunId("z"), enqueuedUs: 99 };

    expect(isAhead(earlier, place)).toBe(true);
    expect(isAhead(place, earlier)).toBe(false);
  });

  it("tells those of one instant apart by their ids", () => {
    const twin = { ...place, taskRunId: asTaskRunId("n") };

    expect(isAhead(place, twin)).toBe(true);
    expect(isAhead(twin, place)).toBe(false);
  });

  it("tells two microseconds of today apart", () => {
    const todayUs = Date.UTC(2026, 10, 15) * 1_000;

    expect(isAhead({ ...place, enqueuedUs: todayUs }, { ...place, enqueuedUs: todayUs + 1 })).toBe(true);
  });

  it("puts nobody ahead of themselves", () => {
    expect(comparePlaces(place, { ...place })).toBe(0);
    expect(isAhead(place, { ...place })).toBe(false);
  });
});
