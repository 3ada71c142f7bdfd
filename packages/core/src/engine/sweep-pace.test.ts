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
  expect(pace.nextBiteInMs(SWEEP_MS + 70)).toBe(32);
  expect(pace.nextBiteInMs(SWEEP_MS + 200)).toBe(0);
  expect(pace.next(SWEEP_MS + 102)).toEqual({ sweepAfter: HERE, straysToo: true });
});

it("rests nineteen times as long as a bite took", () => {
  const pace = new SweepPace(POLL_MS, 0);
  pace.passed(pace.next(SWEEP_MS), BITTEN, SWEEP_MS + 20);
  const missed = pace.next(SWEEP_MS + 400);
  // Somebody else had the gate lock: only what it took in the end counts.
  pace.passed(pace.next(SWEEP_MS + 450), BITTEN, SWEEP_MS + 460);

  expect(missed).toEqual({ sweepAfter: HERE, straysToo: true });
  expect(pace.nextBiteInMs(SWEEP_MS + 460)).toBe(190);
});

it("has no next bite before a sweep has begun, nor after it is over", () => {
  const pace = new SweepPace(POLL_MS, 0);
  const before = pace.nextBiteInMs(0);
  pace.passed(pace.next(SWEEP_MS), OVER, SWEEP_MS + 10);

  expect(before).toBeNull();
  expect(pace.nextBiteInMs(SWEEP_MS + 10)).toBeNull();
  expect(pace.next(2 * SWEEP_MS + 9)).not.toHaveProperty("sweepAfter");
  expect(pace.next(2 * SWEEP_MS + 10)).toEqual({ sweepAfter: null, straysToo: true });
});
