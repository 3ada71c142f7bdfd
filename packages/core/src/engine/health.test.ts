import { describe, expect, test } from "vitest";
import { type HealthFacts, judgeHealth } from "./health.ts";

const well: HealthFacts = {
  state: "started",
  hasLease: true,
  isLagging: false,
  slots: 10,
  executing: 10,
  stuck: 0,
};

describe("an instance", () => {
  test("is ready while it has its lease and gets to its work, however busy it is", () => {
    expect(judgeHealth(well)).toEqual({ ready: true, problems: [], slots: 10, executing: 10, stuck: 0 });
  });

  test.each<[string, Partial<HealthFacts>]>([
    ["NOT_STARTED", { state: "not_started", hasLease: false }],
    ["NO_LEASE", { hasLease: false }],
    ["DRAINING", { state: "draining" }],
    ["EVENT_LOOP_LAG", { isLagging: true }],
    ["SLOTS_STUCK", { stuck: 5 }],
  ])("is not ready: %s", (problem, facts) => {
    expect(judgeHealth({ ...well, ...facts })).toMatchObject({ ready: false, problems: [problem] });
  });

  test("is ready with fewer than half of its slots stuck, and not with its only one", () => {
    expect(judgeHealth({ ...well, stuck: 4 }).ready).toBe(true);
    expect(judgeHealth({ ...well, slots: 1, stuck: 1 }).ready).toBe(false);
  });
});
