import { expect, test } from "vitest";
import { bearerOf, createTokenCheck, requireToken } from "./token.ts";

const TOKEN = "0123456789abcdef";

test("only the token itself is the token", () => {
  const isToken = createTokenCheck(TOKEN);

  expect(isToken(TOKEN)).toBe(true);
  for (const other of ["", "0123456789abcdee", `${TOKEN}x`, TOKEN.slice(1), TOKEN.toUpperCase()])
    expect(isToken(other)).toBe(false);
});

test.each([
  [undefined, null],
  ["", null],
  ["Basic dXNlcjpwYXNz", null],
  ["Bearer", null],
  ["Bearer two words", null],
  [`Bearer ${TOKEN}`, TOKEN],
  [`bearer  ${TOKEN} `, TOKEN],
])("the header %j has the token %j", (header, token) => {
  expect(bearerOf(header)).toBe(token);
});

test("a token is long enough to be a secret, and can be sent", () => {
  expect(requireToken(TOKEN, "SIGNALBOX_TOKEN")).toBe(TOKEN);
  expect(() => requireToken("changeme", "SIGNALBOX_TOKEN")).toThrow("SIGNALBOX_TOKEN has 8 characters");
  expect(() => requireToken("x".repeat(513), "SIGNALBOX_TOKEN")).toThrow("has 513 characters");
  expect(() => requireToken("0123456789 abcdef", "SIGNALBOX_TOKEN")).toThrow("that no header can carry");
});

test("a refusal does not show what it refuses", () => {
  const refusal = (text: string): string => {
    try {
      return requireToken(text, "SIGNALBOX_TOKEN");
    } catch (error) {
      return String(error);
    }
  };

  expect(refusal("hunter2")).not.toContain("hunter2");
  expect(refusal("correct horse battery staple")).not.toContain("horse");
});
