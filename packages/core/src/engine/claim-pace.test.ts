import { expect, it } from "vitest";
import { ClaimPace } from "./claim-pace.ts";

it("asks the short statement first, for no more than there are slots and than it is good for", () => {
  expect(new ClaimPace().few(5)).toBe(5);
  expect(new ClaimPace().few(500)).toBe(20);
});

it("goes by the statement for many from where there are more until that gets fewer than it wanted", () => {
  const pace = new ClaimPace();

  pace.gotFew({ wanted: 20, seen: 21, got: 0 });
  expect([pace.few(100), pace.tookAll]).toEqual([null, false]);
  pace.gotMany({ wanted: 100, got: 100 });
  expect(pace.few(100)).toBe(null);
  pace.gotMany({ wanted: 100, got: 30 });
  expect(pace.few(100)).toBe(null);
  pace.gotMany({ wanted: 3, got: 3 });
  expect(pace.few(100)).toBe(null);
  pace.gotMany({ wanted: 100, got: 3 });
  expect([pace.few(100), pace.tookAll]).toEqual([20, false]);
});

it("knows that nothing is left after a claim that took all it saw, until the next one begins", () => {
  const pace = new ClaimPace();
  expect(pace.tookAll).toBe(false);

  pace.gotFew({ wanted: 5, seen: 2, got: 2 });
  expect(pace.tookAll).toBe(true);

  pace.begin();
  expect(pace.tookAll).toBe(false);
});

it("knows that something may be left where somebody else was taking it, until a look has found nothing", () => {
  const pace = new ClaimPace();

  pace.gotFew({ wanted: 5, seen: 2, got: 1 });
  expect(pace.tookAll).toBe(false);

  pace.foundNothing();
  expect(pace.tookAll).toBe(true);
});
