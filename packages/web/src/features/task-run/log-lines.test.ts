import type { LogEntry } from "@signalbox/contract";
import { describe, expect, test } from "vitest";
import { addEntry, firstError, type LogLine, lineAt, linkedLine, linkTo } from "./log-lines.ts";

const at = "2026-11-17T12:00:00Z";

describe("lines", () => {
  test("are put together across entries of a stream, with the offsets of their bytes", () => {
    const lines = linesOf([entry("äb\nc", 0), entry("d\n", 5), entry("e\n", 7)]);

    expect(lines.map(({ text, offset, open }) => [text, offset, open])).toEqual([
      ["äb", 0, false],
      ["cd", 4, false],
      ["e", 7, false],
    ]);
  });

  test("of two streams are not mixed", () => {
    const lines = linesOf([entry("out", 0), { ...entry("err\n", 3), stream: "stderr" }]);

    expect(lines.map(({ text, stream }) => [stream, text])).toEqual([
      ["stdout", "out"],
      ["stderr", "err"],
    ]);
  });

  test("say how much was left out before them", () => {
    const lines = linesOf([entry("a", 0), { ...entry("b\n", 900), leftOutBytes: 899 }]);

    expect(lines.map(({ text, leftOutBytes }) => [text, leftOutBytes])).toEqual([
      ["a", 0],
      ["b", 899],
    ]);
  });
});

describe("a progress bar", () => {
  test("is one line with its last state, however often and in however many parts it moved", () => {
    const moves = Array.from({ length: 5_000 }, (_, step) => entry(`${step} of 5000\r`, step * 20));
    const lines = linesOf([entry("begin\n", 0), ...moves, entry("5000 of 5000\ndone\n", 100_000)]);

    expect(lines.map(({ text }) => text)).toEqual(["begin", "5000 of 5000", "done"]);
  });

  test("that ends as lines end elsewhere is not emptied", () => {
    expect(linesOf([entry("one\r\ntwo\r", 0)]).map(({ text }) => text)).toEqual(["one\r", "two\r"]);
  });
});

describe("a link to a line", () => {
  test("is its number", () => {
    const lines = linesOf([entry("a\nb\nc\n", 0)]);

    expect(lines.map(linkTo)).toEqual(["#L1", "#L2", "#L3"]);
    expect([linkedLine(lines, "#L3"), linkedLine(lines, "#L4"), linkedLine(lines, "#log")]).toEqual([
      2,
      null,
      null,
    ]);
  });

  test("is its place in bytes behind what was left out: nobody knows its number", () => {
    const lines = linesOf([entry("a\n", 0), { ...entry("b\nc\n", 900), leftOutBytes: 898 }]);

    expect(lines.map(linkTo)).toEqual(["#L1", "#o900", "#o902"]);
    expect([linkedLine(lines, "#o902"), linkedLine(lines, "#L3")]).toEqual([2, null]);
  });
});

test("a byte is found in its line", () => {
  const lines = linesOf([entry("abc\ndef\nghi\n", 0)]);

  expect([0, 3, 4, 7, 8, 99].map((offset) => lineAt(lines, offset))).toEqual([0, 0, 1, 1, 2, 2]);
});

test("the first error is the first line that speaks of one, else the first on stderr", () => {
  expect(firstError(linesOf([entry("ok\nFATAL: no space\nerror again\n", 0)]))).toBe(1);
  expect(firstError(linesOf([entry("ok\n\u001b[1;31mERROR\u001b[0m: no space\n", 0)]))).toBe(1);
  expect(firstError(linesOf([entry("no terrorists\n", 0)]))).toBeNull();
  expect(firstError(linesOf([entry("ok\n", 0), { ...entry("hm\n", 3), stream: "stderr" }]))).toBe(1);
  expect(firstError(linesOf([entry("ok\n", 0)]))).toBeNull();
});

function linesOf(entries: readonly LogEntry[]): readonly LogLine[] {
  const lines: LogLine[] = [];
  for (const each of entries) addEntry(lines, each);
  return lines;
}

function entry(text: string, offset: number) {
  return { stream: "stdout" as const, text, at, offset, leftOutBytes: 0 };
}
