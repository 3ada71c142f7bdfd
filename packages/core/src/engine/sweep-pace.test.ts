import { expect, it } from "vitest";
import { asTaskRunId } from "../domain/ids.ts";
import { SweepPace } from "./sweep-pace.ts";

const POLL_MS = 1_000;
const SWEEP_MS = 30_000;
const HERE = asTaskRunId("00000000-0000-4000-8000-000000000001");
const NOTHING = { straysLeft: false, sweptTo: null, sweepOver: false };
const BITTEN = { straysLeft: false, sweptTo: HERE, sweepOver: false };
const OVER = { straysLeft: false, sweptTo: null, sweepOver: true };

it("looks for strays at once, then as often as it polls", () => {
  const pace = new SweepPace(POLL_MS, 0);
  const looks = pace.next(0);
  pace.passed(looks, NOTHING, 5);

  expect(looks).toEqual({ straysToo: true });
  expect(pace.next(1_004)).toEqual({ straysToo: false });
  expect(pace.next(1_005)).toEqual({ straysToo: true });
});

it("looks for strays again at once where some were left", () => {
  const pace = new SweepPace(POLL_MS, 0);
  pace.passed(pace.next(0), { ...NOTHING, straysLeft: true }, 5);

  expect(pace.next(5)).toEqual({ straysToo: true });
});

it("begins a sweep at the front, and goes on where the last bite ended", () => {
  const pace = new SweepPace(POLL_MS, 0);
  const first = pace.next(SWEEP_MS);
  pace.passed(first, BITTEN, SWEEP_MS + 2);

  expect(first).toEqual({ sweepAfter: null, straysToo: true });
  expect(pace.next(SWEEP_MS + 102)).toEqual({ sweepAfter: HERE, straysToo: true });
});

it("takes no bite with each pass, however many are woken meanwhile", () => {
  const pace = new SweepPace(POLL_MS, 0);
  pace.passed(pace.next(SWEEP_MS), BITTEN, SWEEP_MS + 2);
  const woken = pace.next(SWEEP_MS + 60);
  pace.passed(woken, NOTHING, SWEEP_MS + 70);

  expect(woken).toEqual({ straysToo: false });
  expect(pace.againInMs(null, SWEEP_MS + 70)).toBe(32);
  expect(pace.againInMs(null, SWEEP_MS + 200)).toBe(0);
  expect(pace.next(SWEEP_MS + 102)).toEqual({ sweepAfter: HERE, straysToo: true });
});

it("rests nineteen times as long as a bite took, and a second at most", () => {
  const pace = new SweepPace(POLL_MS, 0);
  pace.passed(pace.next(SWEEP_MS), BITTEN, SWEEP_MS + 20);
  const short = pace.againInMs(null, SWEEP_MS + 20);
  pace.passed(pace.next(SWEEP_MS + 400), BITTEN, SWEEP_MS + 500);

  expect(short).toBe(380);
  expect(pace.againInMs(null, SWEEP_MS + 500)).toBe(1_000);
});

it("is as due as before where somebody else had the lock, and only what it took in the end counts", () => {
  const pace = new SweepPace(POLL_MS, 0);
  const missed = pace.next(SWEEP_MS);
  pace.missed(missed, SWEEP_MS + 1);
  const again = pace.next(SWEEP_MS + 15);
  pace.passed(again, BITTEN, SWEEP_MS + 25);

  expect(again).toEqual(missed);
  expect(pace.againInMs(null, SWEEP_MS + 25)).toBe(190);
});

it("looks for strays as soon as before where somebody else had the lock", () => {
  const pace = new SweepPace(POLL_MS, 0);
  pace.missed(pace.next(0), 1);

  expect(pace.next(15)).toEqual({ straysToo: true });
});

it("does not come with the pass after one that threw", () => {
  const pace = new SweepPace(POLL_MS, 0);
  const threw = pace.next(SWEEP_MS);

  expect(threw).toEqual({ sweepAfter: null, straysToo: true });
  expect(pace.next(SWEEP_MS + 250)).toEqual({ straysToo: false });
  expect(pace.next(SWEEP_MS + POLL_MS)).toEqual({ straysToo: true });
  expect(pace.next(2 * SWEEP_MS)).toEqual({ sweepAfter: null, straysToo: true });
});

it("has no next bite before a sweep has begun, nor after it is over", () => {
  const pace = new SweepPace(POLL_MS, 0);
  const before = pace.againInMs(null, 0);
  pace.passed(pace.next(SWEEP_MS), OVER, SWEEP_MS + 10);

  expect(before).toBeNull();
  expect(pace.againInMs(null, SWEEP_MS + 10)).toBeNull();
  expect(pace.next(2 * SWEEP_MS + 9)).not.toHaveProperty("sweepAfter");
  expect(pace.next(2 * SWEEP_MS + 10)).toEqual({ sweepAfter: null, straysToo: true });
});

it("asks for the next pass when a gate opens by time, or when the next bite is due", () => {
  const pace = new SweepPace(POLL_MS, 0);
  const alone = pace.againInMs(700, 0);
  pace.passed(pace.next(SWEEP_MS), BITTEN, SWEEP_MS + 2);

  expect(alone).toBe(700);
  expect(pace.againInMs(700, SWEEP_MS + 2)).toBe(100);
  expect(pace.againInMs(40, SWEEP_MS + 2)).toBe(40);
});
