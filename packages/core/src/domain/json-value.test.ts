import { describe, expect, it } from "vitest";
import { MAX_JSON_CHARACTERS, MAX_JSON_DEPTH, problemWithJson } from "./json-value.ts";

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}

class WrittenAsItIs {
  readonly a = 1;
  toJSON(): this {
    return this;
  }
}

describe("a value that can be stored", () => {
  it.each([
    ["null", null],
    ["text", "näïve 漢字 😀"],
    ["a number", -1.5e300],
    ["a boolean", false],
    ["a list", [1, "a", null, [true]]],
    ["an object", { a: { b: [1, { c: "d" }] }, e: undefined }],
    ["an empty object", {}],
    ["a Date, which says itself how it is written", new Date(0)],
    ["a class that says itself how it is written", { toJSON: () => ({ a: [1] }) }],
    ["a class that says it is written as it is", new WrittenAsItIs()],
    ["a member called toJSON that is not a function", { toJSON: "yes" }],
    ["one nested as deep as is allowed", nested(MAX_JSON_DEPTH)],
    ["one as long as is allowed", "x".repeat(MAX_JSON_CHARACTERS - 2)],
  ])("is %s", (_, value) => {
    expect(problemWithJson(value)).toBeNull();
  });
});

describe("a value that cannot be stored", () => {
  it.each([
    ["a NUL character", "a\u0000b", "contains a NUL character, which cannot be stored"],
    ["the first half of a pair", "\ud83d", "contains half a surrogate pair, which is not text"],
    ["the second half of a pair", "x\ude00x", "contains half a surrogate pair, which is not text"],
    [
      "the halves of a pair the wrong way round",
      "\ude00\ud83d",
      "contains half a surrogate pair, which is not text",
    ],
    ["NaN", Number.NaN, "NaN is not a JSON number"],
    ["infinity", Number.NEGATIVE_INFINITY, "-Infinity is not a JSON number"],
    ["a bigint", 1n, "a bigint is not JSON"],
    ["a function", () => 1, "a function is not JSON"],
    ["a symbol", Symbol("s"), "a symbol is not JSON"],
    [
      "one character too many",
      "x".repeat(MAX_JSON_CHARACTERS - 1),
      "is 262145 characters of JSON, at most 262144 are stored",
    ],
  ])("is %s, and the problem says so", (_, value, problem) => {
    expect(problemWithJson(value)).toEqual({ at: "", problem });
  });

  it("is named by the path to it", () => {
    expect(problemWithJson({ mail: { to: ["a", "\u0000"] } })?.at).toBe("mail.to[1]");
    expect(problemWithJson([[{ n: Number.NaN }]])?.at).toBe("[0][0].n");
  });

  it("may be the name of a member", () => {
    expect(problemWithJson({ a: { "\ud83d": 1 } })).toEqual({
      at: "a.\ufffd",
      problem: "contains half a surrogate pair, which is not text",
    });
  });

  it("is one nested too deep", () => {
    const problem = problemWithJson(nested(MAX_JSON_DEPTH + 1));

    expect(problem?.problem).toBe("is nested more than 64 levels deep");
  });

  it("is one that contains itself", () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;

    expect(problemWithJson(circle)?.problem).toBe("is nested more than 64 levels deep");
  });

  it("is found in what an object says itself how it is written", () => {
    const poison = { toJSON: () => ({ text: "\u0000" }) };

    expect(problemWithJson([poison])).toEqual({
      at: "[0].text",
      problem: "contains a NUL character, which cannot be stored",
    });
    expect(problemWithJson({ a: { toJSON: () => 1n } })).toEqual({
      at: "a",
      problem: "a bigint is not JSON",
    });
  });
});
