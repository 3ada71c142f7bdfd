import { expect, it } from "vitest";
import { idsAfter } from "./counted-ids.ts";

it("counts on from the first id, before what is random", () => {
  const first = "019a8f00-1234-7abc-8def-fffe01234567";

  expect([0, 1, 2].map(idsAfter(first))).toEqual([
    first,
    "019a8f00-1234-7abc-8def-ffff01234567",
    "019a8f00-1234-7abc-8df0-000001234567",
  ]);
});

it("keeps the variant also after the largest that is drawn", () => {
  expect(idsAfter("019a8f00-1234-7abc-9fff-ffff01234567")(99_999)).toBe(
    "019a8f00-1234-7abc-a001-869e01234567",
  );
});
