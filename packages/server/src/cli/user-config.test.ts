import { expect, test } from "vitest";
import { contextCalled, parseUserConfig } from "./user-config.ts";

const PATH = "/home/ann/config.json";

test("what is there is read, what is not is empty", () => {
  const prod = { server: "https://sb.example", tokenFile: "/run/token" };

  expect(parseUserConfig("{}", PATH)).toEqual({ contexts: {}, defaults: {} });
  expect(parseUserConfig(JSON.stringify({ context: "prod", contexts: { prod } }), PATH)).toEqual({
    context: "prod",
    contexts: { prod },
    defaults: {},
  });
});

test.each([
  ["{", "is not JSON"],
  ["[]", "is not an object"],
  ['{"context":1}', "has a context that is not a name"],
  ['{"contexts":{"prod":{}}}', "has contexts that are not of the form"],
  ['{"contexts":{"prod":{"server":"x","tokenFile":1}}}', "has contexts that are not of the form"],
  ['{"defaults":{"tz":1}}', "has defaults that are not texts"],
])("%s is refused with its place", (text, problem) => {
  expect(() => parseUserConfig(text, PATH)).toThrow(`${PATH} ${problem}`);
});

test("only contexts that were added are found", () => {
  const config = parseUserConfig('{"contexts":{"prod":{"server":"https://sb.example"}}}', PATH);

  expect(contextCalled(config, "prod").server).toBe("https://sb.example");
  expect(() => contextCalled(config, "constructor")).toThrow(
    'No context is called "constructor" (known: prod)',
  );
});
