import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_JSON_CHARACTERS, MAX_JSON_DEPTH, writeJson } from "./json-value.ts";

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}

function doubled(levels: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < levels; i++) value = [value, value];
  return value;
}

class WrittenAsItIs {
  readonly a = 1;
  toJSON(): this {
    return this;
  }
}

class Point {
  readonly x = 1;
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
    ["a list with holes", Array.from({ length: 2 }).concat([1])],
    ["a member called __proto__", JSON.parse('{"__proto__":{"a":1}}')],
    ["values in their wrappers", [new String("a"), new Number(1), new Boolean(false)]],
    ["a number below zero that is none", -0],
    ["a Date, which says itself how it is written", new Date(0)],
    ["a class that says itself how it is written", { toJSON: () => ({ a: [1] }) }],
    ["a class that says it is written as it is", new WrittenAsItIs()],
    ["a class with members that JSON writes", new Point()],
    ["a Buffer and a URL, which say themselves how they are written", [Buffer.from("a"), new URL("a:b")]],
    ["a Map that says itself how it is written", Object.assign(new Map(), { toJSON: () => [1] })],
    ["an object without a prototype", Object.create(null)],
    ["an object of another realm", runInNewContext("({ a: {}, b: [] })")],
    ["a member called toJSON that is not a function", { toJSON: "yes" }],
    ["one nested as deep as is allowed", nested(MAX_JSON_DEPTH)],
    ["one as long as is allowed", "x".repeat(MAX_JSON_CHARACTERS - 2)],
    ["as many numbers as are as long as is allowed", Array.from({ length: 800 }, () => 1e300)],
  ])("is %s", (_, value) => {
    expect(writeJson(value)).toEqual({ kind: "written", text: JSON.stringify(value) });
  });
});

it("is looked at once: what is written is what was checked", () => {
  const looks = { atGetter: 0, atMethod: 0, atToJson: 0 };
  const value = {
    get getter() {
      looks.atGetter += 1;
      return 1;
    },
    inner: {
      get toJSON() {
        looks.atMethod += 1;
        return (key: string) => {
          looks.atToJson += 1;
          return key;
        };
      },
    },
  };

  expect(writeJson(value)).toEqual({ kind: "written", text: `{"getter":1,"inner":"inner"}` });
  expect(looks).toEqual({ atGetter: 1, atMethod: 1, atToJson: 1 });
});

it("is written as JSON.stringify would, whatever it is", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(writeJson(value)).toEqual({ kind: "written", text: JSON.stringify(value) });
    }),
  );
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
      "is more than 262144 characters of JSON, which is the most that is stored",
    ],
  ])("is %s, and the problem says so", (_, value, problem) => {
    expect(writeJson(value)).toEqual({ kind: "problem", at: "", problem });
  });

  it.each([
    ["a list of nothing but holes", () => Object.assign([], { length: 4_294_967_295 })],
    ["one list in many places", () => doubled(60)],
    ["one text in many places", () => Array.from({ length: 100_000 }, () => "x".repeat(100_000))],
    // Some of these are written short here, and by PostgreSQL with all their zeros.
    ["a thousand of a large number", () => Array.from({ length: 1_000 }, () => -1e300)],
    ["a thousand of a small number", () => Array.from({ length: 1_000 }, () => 1.5e-300)],
  ])("is %s: it is not copied to its end", (_, value) => {
    expect(writeJson({ a: value() })).toEqual({
      kind: "problem",
      at: "",
      problem: "is more than 262144 characters of JSON, which is the most that is stored",
    });
  });

  class Hidden {
    readonly #secret = 1;
    get secret(): number {
      return this.#secret;
    }
  }
  class FieldsBesides extends Map<string, number> {
    readonly name = "besides";
  }

  it.each([
    ["Map", new Map([["a", 1]])],
    ["Set", new Set([1])],
    ["FieldsBesides", new FieldsBesides([["a", 1]])],
    ["WeakMap", new WeakMap()],
    ["Promise", Promise.resolve(1)],
    ["RegExp", /a/],
    ["Error", new Error("why")],
    ["TypeError", Object.assign(new TypeError("why"), { code: "E" })],
    ["ArrayBuffer", new ArrayBuffer(1)],
    ["Uint8Array", new Uint8Array([1])],
    ["Float64Array", new Float64Array()],
    ["URLSearchParams", new URLSearchParams("a=1")],
    ["Hidden", new Hidden()],
    ["a class without a name", Object.create(Object.create({ inherited: 1 }, { constructor: { value: 1 } }))],
  ])("is an instance of %s: JSON would keep nothing of it, or something else", (name, value) => {
    expect(writeJson({ a: [value] })).toEqual({
      kind: "problem",
      at: "a[0]",
      problem: `an instance of ${name} is not JSON; give a plain object, a list or a text`,
    });
  });

  it("is a Date that is no instant", () => {
    expect(writeJson([new Date(Number.NaN)])).toEqual({
      kind: "problem",
      at: "[0]",
      problem: "an invalid Date is not JSON",
    });
  });

  it("is named by the path to it", () => {
    expect(writeJson({ mail: { to: ["a", "\u0000"] } })).toMatchObject({ at: "mail.to[1]" });
    expect(writeJson([[{ n: Number.NaN }]])).toMatchObject({ at: "[0][0].n" });
  });

  it("may be the name of a member", () => {
    expect(writeJson({ a: { "\ud83d": 1 } })).toEqual({
      kind: "problem",
      at: "a.\ufffd",
      problem: "contains half a surrogate pair, which is not text",
    });
  });

  it("is one nested too deep", () => {
    expect(writeJson(nested(MAX_JSON_DEPTH + 1))).toMatchObject({
      problem: "is nested more than 64 levels deep",
    });
  });

  it("is one that contains itself", () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;

    expect(writeJson(circle)).toMatchObject({ problem: "is nested more than 64 levels deep" });
  });

  it("is found in what an object says itself how it is written", () => {
    const poison = { toJSON: () => ({ text: "\u0000" }) };

    expect(writeJson([poison])).toEqual({
      kind: "problem",
      at: "[0].text",
      problem: "contains a NUL character, which cannot be stored",
    });
    expect(writeJson({ a: { toJSON: () => 1n } })).toEqual({
      kind: "problem",
      at: "a",
      problem: "a bigint is not JSON",
    });
  });
});
