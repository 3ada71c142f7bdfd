import { expect, it } from "vitest";
import { resolveListFilter } from "./filter.ts";

// What the database would refuse, or what nothing can be called: told before it is asked.
const NO_NAMES = ["a\u0000b", "\ud800", "", "x".repeat(201), "a\nb"];

it.each([
  ["kind", (name: string) => ({ kind: name })],
  ["queue", (name: string) => ({ queue: name })],
  ["tag", (name: string) => ({ tag: name })],
  ["outcome", (name: string) => ({ outcome: ["LEASE_LOST", name] })],
] as const)("a list by a %s that nothing can have is refused in one sentence", (field, filterBy) => {
  for (const name of NO_NAMES)
    expect(() => resolveListFilter(filterBy(name))).toThrow(
      expect.objectContaining({
        code: "INVALID_FILTER",
        message: expect.stringContaining(`has a ${field} that `),
      }),
    );
});

it("a list by outcomes that something may have is taken as it is", () => {
  expect(resolveListFilter({ outcome: ["LEASE_LOST", "größer"] })).toEqual({
    outcome: ["LEASE_LOST", "größer"],
  });
});
