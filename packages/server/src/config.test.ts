import { expect, test } from "vitest";
import { readConfig } from "./config.ts";

test("nothing set is nothing given", () => {
  expect(readConfig({})).toEqual({
    databaseUrl: null,
    directUrl: null,
    pgBinDir: null,
    serverUrl: null,
    port: null,
    color: null,
    ci: false,
    unicode: true,
  });
});

test("our own variable wins, and an empty one is not set", () => {
  const env = { DATABASE_URL: "postgres://theirs/db", SIGNALBOX_DATABASE_URL: "postgres://ours/db" };

  expect(readConfig(env).databaseUrl).toBe("postgres://ours/db");
  expect(readConfig({ ...env, SIGNALBOX_DATABASE_URL: "" }).databaseUrl).toBe("postgres://theirs/db");
});

test.each([
  [{ FORCE_COLOR: "1", NO_COLOR: "1" }, true],
  [{ FORCE_COLOR: "0" }, false],
  [{ NO_COLOR: "1" }, false],
  [{ NO_COLOR: "" }, null],
])("colour with %o", (env, color) => {
  expect(readConfig(env).color).toBe(color);
});

test.each([["seven"], ["0"], ["65536"], ["-1"]])("the port %s is refused by name", (text) => {
  expect(() => readConfig({ SIGNALBOX_PORT: text })).toThrow(`SIGNALBOX_PORT is "${text}"`);
});

test.each([
  [{ LANG: "C" }, false],
  [{ LC_ALL: "C", LANG: "en_US.UTF-8" }, false],
  [{ LANG: "de_DE.utf8" }, true],
])("symbols with %o", (env, unicode) => {
  expect(readConfig(env).unicode).toBe(unicode);
});
