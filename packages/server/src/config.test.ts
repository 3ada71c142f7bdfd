import { expect, test } from "vitest";
import { readConfig } from "./config.ts";

test("nothing set is nothing given", () => {
  expect(readConfig({})).toEqual({
    databaseUrl: null,
    directUrl: null,
    pgBinDir: null,
    serverUrl: null,
    token: null,
    tokenFile: null,
    host: null,
    port: null,
    basePath: "",
    trustedProxies: null,
    environmentName: null,
    instanceName: null,
    logLevel: "info",
    logFormat: null,
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

test.each([
  ["", ""],
  ["/", ""],
  ["/signalbox", "/signalbox"],
  ["/tools/signalbox/", "/tools/signalbox"],
])("the base path %j is %j", (text, basePath) => {
  expect(readConfig({ SIGNALBOX_BASE_PATH: text }).basePath).toBe(basePath);
});

test.each([["signalbox"], ["/a//b"], ["/../etc"], ["/a b"], ["/a?b"], ["/%2e"]])(
  "the base path %s is refused by name",
  (text) => {
    expect(() => readConfig({ SIGNALBOX_BASE_PATH: text })).toThrow(`SIGNALBOX_BASE_PATH is "${text}"`);
  },
);

test("what a log shows, and how, is one of a few words", () => {
  expect(readConfig({ SIGNALBOX_LOG_LEVEL: "debug", SIGNALBOX_LOG_FORMAT: "json" })).toMatchObject({
    logLevel: "debug",
    logFormat: "json",
  });
  expect(() => readConfig({ SIGNALBOX_LOG_LEVEL: "loud" })).toThrow(
    'SIGNALBOX_LOG_LEVEL is "loud"; give one of trace, debug, info, warn, error',
  );
});

test.each([["10.0.0.0/8"], ["127.0.0.1, ::1"], ["fd00::/8,192.0.2.1"]])("proxies can be %s", (text) => {
  expect(readConfig({ SIGNALBOX_TRUSTED_PROXIES: text }).trustedProxies).toBe(text);
});

test.each([["true"], ["10.0.0.0/33"], ["10.0.0.0/0"], ["10.0.0.0/8/8"], ["proxy.example"], ["10.0.0.1,,"]])(
  "proxies cannot be %s",
  (text) => {
    expect(() => readConfig({ SIGNALBOX_TRUSTED_PROXIES: text })).toThrow("SIGNALBOX_TRUSTED_PROXIES has");
  },
);
