import { expect, it } from "vitest";
import { fairShareOf } from "./fair-share.ts";

it("is what the cluster can take up in two rounds", () => {
  expect(fairShareOf(50)).toBe(100);
});

it("is never so small that fast instances run dry between two passes", () => {
  expect(fairShareOf(1)).toBe(20);
  expect(fairShareOf(0)).toBe(20);
});
