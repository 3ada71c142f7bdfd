/** JSON that parsers and stores stumble over. `taken`: it can be kept, and must come back as `JSON.parse` reads it. */

export interface JsonText {
  readonly name: string;
  readonly text: string;
  readonly taken: boolean;
}

const DEPTH = 64;
const nested = (depth: number, open: string, close: string): string =>
  `${open.repeat(depth)}1${close.repeat(depth)}`;
const keys = (count: number): string =>
  `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join()}}`;

export const JSON_TEXTS: readonly JsonText[] = [
  ["lists as deep as may be", nested(DEPTH, "[", "]"), true],
  ["lists one deeper", nested(DEPTH + 1, "[", "]"), false],
  ["objects as deep as may be", nested(DEPTH, '{"a":', "}"), true],
  ["objects one deeper", nested(DEPTH + 1, '{"a":', "}"), false],
  ["lists 100,000 deep", nested(100_000, "[", "]"), false],
  ["objects 100,000 deep", nested(100_000, '{"a":', "}"), false],
  ["10,000 members", keys(10_000), true],
  ["50,000 members", keys(50_000), false],
  ["a text of 200,000 characters", JSON.stringify("x".repeat(200_000)), true],
  ["a text of 300,000 characters", JSON.stringify("x".repeat(300_000)), false],
  ["a name of 200,000 characters", `{${JSON.stringify("x".repeat(200_000))}:1}`, true],
  ["1e308", "1e308", true],
  ["-1e308", "-1e308", true],
  ["1e309", "1e309", false],
  ["-1e309 in a list", "[-1e309]", false],
  ["1e-308", "1e-308", true],
  ["1e-400, which is nothing", "1e-400", true],
  ["-0", "-0", true],
  ["an integer that is no double", "9007199254740993", true],
  ["400 digits", "9".repeat(400), false],
  ["NUL in a text", String.raw`"a\u0000b"`, false],
  ["NUL in a name", String.raw`{"a\u0000b":1}`, false],
  ["half a pair, the first", String.raw`"\ud83d"`, false],
  ["half a pair, the second", String.raw`"\ude00"`, false],
  ["the halves the wrong way round", String.raw`"\ude00\ud83d"`, false],
  ["half a pair in a name", String.raw`{"\ud800":1}`, false],
  ["a pair, escaped", String.raw`"\ud83d\ude00"`, true],
  ["other control characters", String.raw`"\u0001\u001b[2J\u007f\u2028\u202e"`, true],
  ["a member twice", '{"a":1,"a":2}', false],
  ["a member twice, far inside", '[{"b":{"a":1,"\\u0061":2}}]', false],
  ["a name in two objects", '[{"a":1},{"a":{"a":2}}]', true],
  ["__proto__", '{"__proto__":{"admin":true}}', false],
  ["__proto__, escaped", String.raw`{"\u005f_proto__":{"admin":true}}`, false],
  ["__proto__ far inside", '[[{"a":{"__proto__":1}}]]', false],
  ["constructor.prototype", '{"constructor":{"prototype":{"admin":true}}}', false],
  ["constructor alone", '{"constructor":"x","prototype":1}', true],
  ["names that objects have", '{"toString":1,"valueOf":2,"hasOwnProperty":3,"toJSON":4,"then":5}', true],
  ["an empty name", '{"":1}', true],
  ["a comment", "{/**/}", false],
  ["a comma too many", "[1,]", false],
  ["NaN", "NaN", false],
  ["hexadecimal", "0x10", false],
  ["a number with a zero before it", "01", false],
  ["apostrophes", "{'a':1}", false],
  ["two values", "1 2", false],
  ["an end that is missing", '{"a":[1', false],
].map(([name, text, taken]) => ({ name: String(name), text: String(text), taken: taken === true }));
