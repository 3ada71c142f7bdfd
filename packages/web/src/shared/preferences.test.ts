import { expect, test } from "vitest";
import { parsePreferences } from "./preferences.ts";

const DEFAULTS = { theme: "system", locale: null, timeZone: "browser", shortcuts: true, wrapLog: true };

test.each([
  ["nothing", null],
  ["what is no JSON", "{"],
  ["what is no object", '"dark"'],
  ["null", "null"],
  ["values that nobody offers", '{"theme":"pink","locale":"fr-FR","timeZone":"Mars/Base","shortcuts":"no"}'],
])("%s counts as no choice", (_, text) => {
  expect(parsePreferences(text)).toEqual(DEFAULTS);
});

test("what was chosen is kept", () => {
  const chosen = { theme: "dark", locale: "ja-JP", timeZone: "Asia/Tokyo", shortcuts: false, wrapLog: false };

  expect(parsePreferences(JSON.stringify(chosen))).toEqual(chosen);
});
