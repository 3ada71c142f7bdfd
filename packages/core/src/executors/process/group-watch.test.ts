import { describe, expect, it } from "vitest";
import { isTooLate, nextAct } from "./group-watch.ts";

const lease = { life: "a", leaseMs: 60_000, renewedAtMs: 1_000 };
const group = { graceMs: 5_000, termSentAtMs: null, killSent: false };

describe("a group under a lease", () => {
  it("is left alone until three quarters of the lease have gone without a beat", () => {
    expect(nextAct(group, lease, 45_999)).toEqual({ act: null, atMs: 46_000 });
    expect(nextAct(group, lease, 46_000).act).toBe("term");
  });

  it("gets KILL when its grace is over", () => {
    const told = { ...group, termSentAtMs: 10_000 };

    expect(nextAct(told, lease, 14_999)).toEqual({ act: null, atMs: 15_000 });
    expect(nextAct(told, lease, 15_000).act).toBe("kill");
  });

  it("gets KILL after eleven twelfths of the lease, however long its grace", () => {
    const told = { graceMs: 600_000, termSentAtMs: 46_000, killSent: false };
    const { act, atMs } = nextAct(told, lease, 46_000);

    expect(act).toBeNull();
    expect(atMs).toBeCloseTo(1_000 + (60_000 * 11) / 12, -2);
    expect(nextAct(told, lease, 56_000).act).toBe("kill");
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
