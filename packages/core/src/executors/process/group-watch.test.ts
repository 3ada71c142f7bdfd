import { describe, expect, it } from "vitest";
import { isTooLate, nextAct } from "./group-watch.ts";

const lease = { life: "a", leaseMs: 60_000, renewedAtMs: 1_000 };
const group = {
  graceMs: 5_000,
  deadlineAtMs: Infinity,
  deadlineGraceMs: 5_000,
  termSentAtMs: null,
  killSent: false,
};

describe("a group under a lease", () => {
  it("is left alone until three quarters of the lease have gone without a beat", () => {
    expect(nextAct(group, lease, 45_999)).toEqual({ act: null, atMs: 46_000 });
    expect(nextAct(group, lease, 46_000)).toEqual({ act: "term", because: "lease" });
  });

  it("is left alone until it has run for too long, where that comes first", () => {
    const limited = { ...group, deadlineAtMs: 10_000 };

    expect(nextAct(limited, lease, 9_999)).toEqual({ act: null, atMs: 10_000 });
    expect(nextAct(limited, lease, 10_000)).toEqual({ act: "term", because: "run_timeout" });
    expect(nextAct({ ...group, deadlineAtMs: 90_000 }, lease, 9_999)).toEqual({ act: null, atMs: 46_000 });
  });

  it("ends for the sake of the lease where both are over: whoever has none may not say that it ran for too long", () => {
    expect(nextAct({ ...group, deadlineAtMs: 10_000 }, lease, 46_000)).toEqual({
      act: "term",
      because: "lease",
    });
  });

  it("gets KILL when its grace is over", () => {
    const told = { ...group, termSentAtMs: 10_000 };

    expect(nextAct(told, lease, 14_999)).toEqual({ act: null, atMs: 15_000 });
    expect(nextAct(told, lease, 15_000).act).toBe("kill");
  });

  it("gets KILL after eleven twelfths of the lease, however long its grace", () => {
    const told = { ...group, graceMs: 600_000, termSentAtMs: 46_000 };

    expect(nextAct(told, lease, 46_000)).toEqual({ act: null, atMs: expect.closeTo(1_000 + 55_000, -2) });
    expect(nextAct(told, lease, 56_000).act).toBe("kill");
  });

  it("gets KILL when it has run for too long, however long a grace it was given before or is given then", () => {
    const limited = { ...group, deadlineAtMs: 10_000, deadlineGraceMs: 1_000, graceMs: 600_000 };

    for (const termSentAtMs of [5_000, 10_000]) {
      const told = { ...limited, termSentAtMs };
      expect(nextAct(told, lease, 10_999)).toEqual({ act: null, atMs: 11_000 });
      expect(nextAct(told, lease, 11_000).act).toBe("kill");
    }
    expect(nextAct({ ...limited, graceMs: 100, termSentAtMs: 5_000 }, lease, 5_100).act).toBe("kill");
  });

  it("is left alone after KILL: nothing more can be done", () => {
    expect(nextAct({ ...group, termSentAtMs: 1, killSent: true }, lease, 99_000)).toEqual({
      act: null,
      atMs: null,
    });
  });

  it("is not started any more when it would have to end at once", () => {
    expect(isTooLate(lease, 45_999)).toBe(false);
    expect(isTooLate(lease, 46_000)).toBe(true);
  });
});
