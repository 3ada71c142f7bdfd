import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "./canonical-json.ts";

describe("the canonical form", () => {
  it.each([
    ["keys in another order", { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }],
    ["a member that is not stored", { a: 1, b: undefined }, { a: 1 }],
    ["an instant and its text", { at: new Date(0) }, { at: "1970-01-01T00:00:00.000Z" }],
    ["a number written otherwise", [1.0, -0, 1e3], [1, 0, 1000]],
    ["nothing at all", undefined, null],
  ])("is the same for %s", (_, one, other) => {
    expect(canonicalJson(one)).toBe(canonicalJson(other));
  });

  it.each([
    ["the order of a list", [1, 2], [2, 1]],
    ["a text and a number", { a: "1" }, { a: 1 }],
    ["a member that is null and none", { a: null }, {}],
    ["where one text ends and the next begins", ["a", "b"], ['a","b']],
    ["keys that JavaScript treats specially", JSON.parse('{"__proto__":1}'), {}],
  ])("is another one for %s", (_, one, other) => {
    expect(canonicalJson(one)).not.toBe(canonicalJson(other));
  });

  it("reads back as what JSON made of the value, whatever it is", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
