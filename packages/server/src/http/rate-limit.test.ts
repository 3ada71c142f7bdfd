import fc from "fast-check";
import { expect, test } from "vitest";
import { clientOf, createRateLimit } from "./rate-limit.ts";

test("so many at once, then as many as time brings back", () => {
  const limit = createRateLimit({ perSecond: 10, burst: 3 });
  const take = (nowMs: number): number | null => limit.take("ana", nowMs);

  expect([take(0), take(0), take(0), take(0)]).toEqual([null, null, null, 100]);
  expect([take(99), take(100), take(100)]).toEqual([1, null, 100]);
  expect([take(10_000), take(10_000), take(10_000), take(10_000)]).toEqual([null, null, null, 100]);
});

test("what is refused costs nothing: whoever waits as told gets in", () => {
  const limit = createRateLimit({ perSecond: 0.2, burst: 1 });
  limit.take("ana", 0);

  expect(limit.take("ana", 1_000)).toBe(4_000);
  expect(limit.take("ana", 4_999)).toBe(1);
  expect(limit.take("ana", 5_000)).toBeNull();
});

test("clients do not disturb each other", () => {
  const limit = createRateLimit({ perSecond: 1, burst: 1 });

  expect([limit.take("ana", 0), limit.take("ben", 0), limit.take("ana", 0)]).toEqual([null, null, 1_000]);
});

test("those who asked longest ago are forgotten, not those who ask now", () => {
  const limit = createRateLimit({ perSecond: 1, burst: 1 });
  limit.take("ana", 0);
  limit.take("ben", 500);
  limit.take("ana", 1_000);
  for (let other = 0; other < 9_999; other++) limit.take(`other ${other}`, 1_000);

  expect(limit.take("ana", 1_000)).toBe(1_000);
  expect(limit.take("ben", 1_000)).toBeNull();
});

test("never more than the burst and what the time since then brings", () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 200 });
  fc.assert(
    fc.property(gaps, (waits) => {
      const limit = createRateLimit({ perSecond: 10, burst: 5 });
      let nowMs = 0;
      let taken = 0;
      for (const waitMs of waits) {
        nowMs += waitMs;
        if (limit.take("ana", nowMs) === null) taken += 1;
      }
      expect(taken).toBeLessThanOrEqual(5 + nowMs / 100);
    }),
  );
});

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:0db8:0001:0002::1", "2001:db8:1:2"],
  ["2001:db8::5", "2001:db8:0:0"],
  ["::1", "0:0:0:0"],
  ["fe80::1%eth0", "fe80:0:0:0"],
])("%s is the client %s", (address, client) => {
  expect(clientOf(address)).toBe(client);
});
