import { describe, expect, test } from "vitest";
import { ansiSpans } from "./ansi-spans.ts";

const ESC = "\u001b";

describe("a printed line", () => {
  test("keeps its colours and decorations as classes", () => {
    expect(ansiSpans(`${ESC}[1;31mERROR${ESC}[0m done`)).toEqual([
      { text: "ERROR", className: "ansi-red font-bold" },
      { text: " done", className: "" },
    ]);
  });

  test("shows the last state of a progress bar", () => {
    expect(textOf("10 %\r50 %\r100 %\r")).toBe("100 %");
  });

  test.each([
    ["a title", `${ESC}]0;owned\u0007x`, "x"],
    ["a link", `${ESC}]8;;http://evil.example${ESC}\\click${ESC}]8;;${ESC}\\`, "click"],
    ["moves of the cursor", `${ESC}[2J${ESC}[10;3Hx`, "x"],
    ["markup", "<script>alert(1)</script>", "<script>alert(1)</script>"],
    ["a turn of the direction of reading", "a\u202eb", "a·b"],
  ])("%s is no more than text", (_, line, text) => {
    expect(textOf(line)).toBe(text);
  });

  test("has the page's own colour where nobody knows how another would read", () => {
    expect(ansiSpans(`${ESC}[38;5;226mx`)).toEqual([{ text: "x", className: "" }]);
  });
});

function textOf(line: string): string {
  return ansiSpans(line)
    .map(({ text }) => text)
    .join("");
}
