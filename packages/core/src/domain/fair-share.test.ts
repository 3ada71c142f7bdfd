import { expect, it } from "vitest";
import { fairShareOf } from "./fair-share.ts";

it.each([
  [0, 20],
  [1, 20],
  [10, 20],
  [11, 22],
  [400, 800],
])("of a cluster with %d slots is %d", (slots, share) => {
  expect(fairShareOf(slots)).toBe(share);
});
