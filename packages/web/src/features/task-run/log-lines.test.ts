import { describe, expect, test } from "vitest";
import { addEntries, firstError, lineAt } from "./log-lines.ts";

const at = "2026-11-17T12:00:00Z";

describe("lines", () => {
  test("are put together across entries of a stream, with the offsets of their bytes", () => {
    const lines = addEntries([], [entry("äb\nc", 0), entry("d\n", 5), entry("e\n", 7)]);

    expect(lines.map(({ text, offset, open }) => [text, offset, open])).toEqual([
      ["äb", 0, false],
      ["cd", 4, false],
      ["e", 7, false],
    ]);
  });

  test("of two streams are not mixed", () => {
    const lines = addEntries([], [entry("out", 0), { ...entry("err\n", 3), stream: "stderr" }]);

    expect(lines.map(({ text, stream }) => [stream, text])).toEqual([
      ["stdout", "out"],
      ["stderr", "err"],
    ]);
  });

  test("say how much was left out before them", () => {
    const lines = addEntries([], [entry("a", 0), { ...entry("b\n", 900), leftOutBytes: 899 }]);

    expect(lines.map(({ text, leftOutBytes }) => [text, leftOutBytes])).toEqual([
      ["a", 0],
      ["b", 899],
    ]);
  });
});

test("a byte is found in its line", () => {
  const lines = addEntries([], [entry("abc\ndef\nghi\n", 0)]);

  expect([0, 3, 4, 7, 8, 99].map((offset) => lineAt(lines, offset))).toEqual([0, 0, 1, 1, 2, 2]);
});

test("the first error is the first line that speaks of one, else the first on stderr", () => {
  expect(firstError(addEntries([], [entry("ok\nFATAL: no space\nerror again\n", 0)]))).toBe(1);
  expect(firstError(addEntries([], [entry("ok\n", 0), { ...entry("hm\n", 3), stream: "stderr" }]))).toBe(1);
  expect(firstError(addEntries([], [entry("ok\n", 0)]))).toBeNull();
});

function entry(text: string, offset: number) {
  return { stream: "stdout" as const, text, at, offset, leftOutBytes: 0 };
}
