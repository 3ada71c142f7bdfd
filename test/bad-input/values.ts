/** What nobody should send, and what is said to whoever does. */

/** JSON as it comes from a wire or a program, by a name of ours. `problem` is the rest of the sentence. */
export interface BadJson {
  readonly name: string;
  readonly value: unknown;
  /** The same as the text that a program or a client would send. */
  readonly text: string;
  readonly problem: string;
}

const DEEP = "[".repeat(20_000) + "]".repeat(20_000);
const LARGE = JSON.stringify("x".repeat(10_000_000));

export const BAD_JSON: readonly BadJson[] = [
  ["a NUL character", String.raw`"a\u0000b"`, "contains a NUL character, which cannot be stored"],
  ["a lone surrogate", String.raw`"a\ud800b"`, "contains half a surrogate pair, which is not text"],
  ["1e100000", "1e100000", "Infinity is not a JSON number"],
  ["nesting 20,000 deep", DEEP, "is nested more than 64 levels deep"],
  ["10 MB", LARGE, "is more than 262144 characters of JSON, which is the most that is stored"],
].map(([name = "", text = "", problem = ""]) => ({
  name,
  text,
  value: JSON.parse(text) as unknown,
  problem,
}));

/** What only a program has: JSON would write `{}`, null or something else for it. */
export const BAD_OBJECTS: readonly Omit<BadJson, "text">[] = [
  ...[
    new Map([["a", 1]]),
    new Set([1]),
    /a/,
    new Error("why"),
    new Uint8Array([1]),
    new URLSearchParams("a=1"),
  ].map((value) => ({
    name: `an instance of ${value.constructor.name}`,
    value,
    problem: `an instance of ${value.constructor.name} is not JSON; give a plain object, a list or a text`,
  })),
  { name: "an invalid Date", value: new Date(Number.NaN), problem: "an invalid Date is not JSON" },
];

export interface BadText {
  readonly name: string;
  readonly text: string;
  /** What is said of it as a name. */
  readonly problem: string;
  /** What is kept of it as a message. */
  readonly kept: string;
}

/** Names and other short texts. */
export const BAD_TEXT: readonly BadText[] = [
  { name: "a NUL character", text: "a\u0000b", problem: "contains a control character", kept: "a\ufffdb" },
  {
    name: "a lone surrogate",
    text: "a\ud800b",
    problem: "contains half a surrogate pair, which is not text",
    kept: "a\ufffdb",
  },
  {
    name: "10 MB",
    text: "x".repeat(10_000_000),
    problem: "is longer than 200 characters",
    kept: "x".repeat(2_000),
  },
];
