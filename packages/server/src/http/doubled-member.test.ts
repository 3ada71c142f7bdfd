import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { doubledMember } from "./doubled-member.ts";

describe("a name", () => {
  test.each([
    ["beside itself", '{"a":1,"a":2}', "a"],
    ["with others between", '{"a":1,"b":{"c":1},"a":2}', "a"],
    ["far inside", '[{"x":[{"kind":1,"kind":1}]}]', "kind"],
    ["written in another way", String.raw`{"a":1,"\u0061" : 2}`, "a"],
    ["that is empty", '{"":1,"":2}', ""],
    ["with quotation marks in it", String.raw`{"\"\\":1,"\"\\":2}`, '"\\'],
  ])("%s is found", (_, text, name) => {
    expect(doubledMember(text, JSON.parse(text))).toBe(name);
  });

  test.each([
    ["in two objects", '[{"a":1},{"a":2}]'],
    ["in an object and in one inside it", '{"a":{"a":1}}'],
    ["and a text that looks like a member", String.raw`{"a":"\"a\":1","b":"a"}`],
    ["and a text that ends with a backslash", String.raw`{"a":"\\","b":"\\\\"}`],
  ])("%s is there once", (_, text) => {
    expect(doubledMember(text, JSON.parse(text))).toBeNull();
  });

  test("is there once in whatever JSON.stringify writes, and twice where one is added", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), fc.string(), (text, name) => {
        expect(doubledMember(text, JSON.parse(text))).toBeNull();
        const key = JSON.stringify(name);
        const twice = `{${key}:${text},${key}:0}`;
        expect(doubledMember(twice, JSON.parse(twice))).not.toBeNull();
      }),
    );
  });
});
