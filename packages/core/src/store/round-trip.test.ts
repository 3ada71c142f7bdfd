import type pg from "pg";
import { expect, it } from "vitest";
import { asNamed, isPrepared, isShort, prepareLater } from "./round-trip.ts";

it("takes nothing for prepared where the driver does not say what is", () => {
  const client = { connection: {} } as unknown as pg.PoolClient;

  prepareLater(client, [asNamed("COMMIT")]);

  expect(isPrepared(client, asNamed("COMMIT"))).toBe(false);
});

it.each([
  [["x".repeat(900)], true],
  [["x".repeat(901)], false],
  [["x".repeat(450), "x".repeat(451)], false],
  // Two bytes each.
  [["ä".repeat(451)], false],
  [[1, true, null, new Date(0)], true],
  // The driver makes a text of it, of whatever length.
  [[{}], false],
  [[Buffer.alloc(1)], false],
])("is short: %s, %s", (values, short) => {
  expect(isShort([{ name: "one", text: "", values }])).toBe(short);
});

it("counts the values of all statements", () => {
  const half = { name: "half", text: "", values: ["x".repeat(450)] };

  expect(isShort([half, asNamed("COMMIT"), half])).toBe(true);
  expect(isShort([half, half, { ...half, values: [1] }])).toBe(false);
});
