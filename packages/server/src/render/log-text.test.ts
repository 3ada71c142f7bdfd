import { expect, test } from "vitest";
import { createLineSplitter, logText } from "./log-text.ts";

const ESC = "\u001b";

test("colours are let through where they can be shown, and ended", () => {
  expect(logText(`${ESC}[31mred`, true)).toBe(`${ESC}[31mred${ESC}[0m`);
  expect(logText("plain", true)).toBe("plain");
});

test.each([
  [`${ESC}[31mred${ESC}[0m`, "red"],
  [`${ESC}[2J${ESC}[Hgone`, "gone"],
  [`${ESC}]0;title\u0007text`, "text"],
  ["a\u0007b\u0000c", "a·b·c"],
  ["a\tb", "a\tb"],
  ["\u009b31mred", "red"],
  ["abc\u202edef", "abc·def"],
])("elsewhere %j is %j", (given, shown) => {
  expect(logText(given, false)).toBe(shown);
});

test.each([[true], [false]])("nothing that moves the cursor gets through (colour: %s)", (color) => {
  const nasty = `${ESC}[2J${ESC}]8;;http://x${ESC}\\link${ESC}[10A${ESC}c${ESC}[?25l${ESC}P1;2|x${ESC}\\${ESC}`;

  expect(logText(nasty, color)).not.toContain(ESC);
});

test("pieces become lines, each stream by itself", () => {
  const splitter = createLineSplitter();

  expect(splitter.push("stdout", "one\ntw")).toEqual(["one"]);
  expect(splitter.push("stderr", "oops\r\n")).toEqual(["oops"]);
  expect(splitter.push("stdout", "o\nthree")).toEqual(["two"]);
  expect(splitter.rest()).toEqual(["three"]);
});

test("a progress bar that returns to the beginning of its line becomes lines", () => {
  const splitter = createLineSplitter();

  expect(splitter.push("stdout", "10%\r20%\r30%\n")).toEqual(["10%", "20%", "30%"]);
  expect(splitter.push("stdout", "40%\r")).toEqual([]);
  expect(splitter.push("stdout", "\n50%")).toEqual(["40%"]);
});

test("a line without an end does not grow for ever", () => {
  const splitter = createLineSplitter();

  expect(splitter.push("stdout", "x".repeat(70_000))).toHaveLength(1);
});
