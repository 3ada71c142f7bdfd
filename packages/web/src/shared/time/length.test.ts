import { expect, test } from "vitest";
import { lengthText, relativeText, steadyText } from "./length.ts";

test.each([
  [-5, "0 ms"],
  [340, "340 ms"],
  [3_690, "3.6 sec"],
  [42_900, "42 sec"],
  [252_000, "4 min 12 sec"],
  [8_040_000, "2 hr 14 min"],
  [266_400_000, "3 days 2 hr"],
])("%d ms is %s", (ms, text) => {
  expect(lengthText(ms, "en-US")).toBe(text);
});

test("a ticking clock shows whole seconds", () => {
  expect(steadyText(3_690, "en-US")).toBe("3 sec");
});

test("a language has its own units", () => {
  expect(lengthText(252_000, "zh-CN")).toBe("4分钟 12秒");
});

test.each([
  [12_400, "in 12 sec."],
  [-240_000, "4 min. ago"],
  [300, "now"],
])("%d ms ahead is %s", (ms, text) => {
  expect(relativeText(ms, "en-US")).toBe(text);
});
