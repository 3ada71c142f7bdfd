import { expect, it } from "vitest";
import { ClaimFront } from "./claim-front.ts";

const WHOLE = { atMs: 1_000, withinMs: null, availableMs: [40, 300, 7], isAll: true };

it("begins with a look at everything", () => {
  expect(new ClaimFront().withinMs(0)).toBeNull();
});

it("begins where the last one did that got all it wanted, with room for clocks", () => {
  const front = new ClaimFront();

  front.got(WHOLE);

  expect(front.withinMs(1_010)).toBe(10 + 300 + 250);
});

it("looks at everything after one that got less", () => {
  const front = new ClaimFront();
  front.got(WHOLE);

  front.got({ atMs: 1_010, withinMs: 560, availableMs: [5], isAll: false });

  expect(front.withinMs(1_020)).toBeNull();
});

it("looks at everything now and then, however much there is at the front", () => {
  const front = new ClaimFront();
  front.got(WHOLE);
  for (let atMs = 1_010; atMs < 1_250; atMs += 10)
    front.got({ atMs, withinMs: front.withinMs(atMs), availableMs: [1], isAll: true });

  expect(front.withinMs(1_250)).toBeNull();
});
