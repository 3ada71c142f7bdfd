import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { PATIENCE, watchForFrozen } from "./frozen-watch.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const never = new Promise<void>(() => {});

it("asks when something is late, and gives up who does not answer", async () => {
  const [ask, giveUp] = [vi.fn(), vi.fn()];
  watchForFrozen(ask, giveUp, PATIENCE).askUnless(never, 0);

  await vi.advanceTimersByTimeAsync(1_999);
  expect(ask).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(5_000);
  expect([ask.mock.calls.length, giveUp.mock.calls.length]).toEqual([1, 0]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(giveUp).toHaveBeenCalledTimes(1);
});

it("asks nobody who is in time, and lets go of who answers", async () => {
  const [ask, giveUp] = [vi.fn(), vi.fn()];
  const watch = watchForFrozen(ask, giveUp, PATIENCE);
  watch.askUnless(Promise.resolve(), 0);
  watch.askUnless(Promise.reject(new Error("not started")), 0);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(ask).not.toHaveBeenCalled();

  watch.askUnless(never, 0);
  await vi.advanceTimersByTimeAsync(6_000);
  watch.heard();
  await vi.advanceTimersByTimeAsync(60_000);
  expect([ask.mock.calls.length, giveUp.mock.calls.length]).toEqual([1, 0]);
});

it("asks nobody who has gone, and gives up nobody in its place", async () => {
  const [ask, giveUp] = [vi.fn(), vi.fn()];
  const watch = watchForFrozen(ask, giveUp, PATIENCE);
  watch.askUnless(never, 0);
  watch.askUnless(never, 10_000);
  await vi.advanceTimersByTimeAsync(3_000);

  watch.end();

  await vi.advanceTimersByTimeAsync(60_000);
  expect([ask.mock.calls.length, giveUp.mock.calls.length]).toEqual([1, 0]);
});
