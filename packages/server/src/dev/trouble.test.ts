import { expect, test } from "vitest";
import { createTroubleFilter } from "./trouble.ts";

test("the same trouble is told once, and again after a while with how often it came", () => {
  const filter = createTroubleFilter();

  expect(filter("no database", 0)).toBe("no database");
  expect(filter("no database", 100)).toBeNull();
  expect(filter("no database", 200)).toBeNull();
  expect(filter("something else", 300)).toBe("something else");
  expect(filter("no database", 5_000)).toBe("no database  (and 2 times before)");
});
