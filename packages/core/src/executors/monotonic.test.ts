import { afterEach, expect, it, vi } from "vitest";
import { monotonicMs } from "./monotonic.ts";

afterEach(() => {
  vi.useRealTimers();
});

it.each([3_600_000, -3_600_000])("does not follow a clock that is set by %i ms", (offMs) => {
  const before = monotonicMs();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + offMs });

  const passedMs = monotonicMs() - before;

  expect(passedMs).toBeGreaterThanOrEqual(0);
  expect(passedMs).toBeLessThan(60_000);
});
