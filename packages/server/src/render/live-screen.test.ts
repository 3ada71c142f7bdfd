import { expect, test, vi } from "vitest";
import { fitLine, fitLines } from "./fit.ts";
import { createLiveScreen, frameUpdate } from "./live-screen.ts";
import { createLook } from "./look.ts";
import { widthOf } from "./table.ts";

const UP = "\u001b[";

test("only lines that have changed are written again", () => {
  expect(frameUpdate([], ["a", "b"])).toBe(`${UP}2Ka\n${UP}2Kb\n`);
  expect(frameUpdate(["a", "b"], ["a", "c"])).toBe(`${UP}2A\r\n${UP}2Kc\n`);
  expect(frameUpdate(["a", "b"], ["a", "b"])).toBe(`${UP}2A\r\n\n`);
});

test("what a shorter frame leaves below is erased", () => {
  expect(frameUpdate(["a", "b", "c"], ["a"])).toBe(`${UP}3A\r\n${UP}0J`);
});

test("a line is cut where it would wrap, wide characters count twice, and colours end", () => {
  const { colors } = createLook({ color: true, unicode: true });

  expect(fitLine("abcdef", 6, "…")).toBe("abcdef");
  expect(fitLine("abcdefg", 6, "…")).toBe("abcde…");
  expect(widthOf(fitLine("漢字漢字", 5, "…"))).toBeLessThanOrEqual(5);
  expect(fitLine(colors.red("abcdefg"), 4, "…")).toBe("\u001b[31mabc…\u001b[0m");
});

test("a frame fits the terminal and says how much it does not show", () => {
  const lines = ["1", "2", "3", "4", "5"];

  expect(fitLines(lines, { columns: 80, rows: 6 }, true)).toEqual(lines);
  expect(fitLines(lines, { columns: 80, rows: 5 }, true)).toEqual(["1", "2", "3", "… 2 more lines"]);
  expect(fitLines(lines, { columns: 80, rows: 5 }, false).at(-1)).toBe("... 2 more lines");
});

test("at most ten frames in a second, and the last one is always drawn", () => {
  vi.useFakeTimers();
  const written: string[] = [];
  const terminal = {
    write: (text: string) => void written.push(text),
    size: () => ({ columns: 80, rows: 24 }),
    unicode: true,
  };
  const screen = createLiveScreen(terminal, () => Date.now());

  for (let count = 0; count < 50; count++) {
    screen.show([String(count)]);
    vi.advanceTimersByTime(20);
  }
  vi.advanceTimersByTime(200);
  vi.useRealTimers();

  expect(written.length).toBeLessThanOrEqual(12);
  expect(written.at(-1)).toContain("49");
});

test("what is shown last stays, in full", () => {
  const written: string[] = [];
  const terminal = {
    write: (text: string) => void written.push(text),
    size: () => ({ columns: 10, rows: 3 }),
    unicode: true,
  };
  const screen = createLiveScreen(terminal, () => 0);

  screen.show(["1", "2", "3", "4"]);
  screen.end(["a line that is longer than the terminal", "2", "3", "4"]);

  expect(written.at(-1)).toBe(`${UP}2A\r${UP}0Ja line that is longer than the terminal\n2\n3\n4\n`);
});
