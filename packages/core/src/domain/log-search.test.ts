import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LogStream } from "./log.ts";
import { createLogSearcher, MOST_COUNTED_MATCHES, type SearchedChunk } from "./log-search.ts";

const AT = new Date("2026-11-17T12:00:00Z");

/** What was printed one after the other; a number is what was left out. */
function chunksOf(...printed: readonly (string | readonly [LogStream, string] | number)[]): SearchedChunk[] {
  let offset = 0;
  return printed.flatMap((each) => {
    if (typeof each === "number") {
      offset += each;
      return [];
    }
    const [stream, text] = typeof each === "string" ? (["stdout", each] as const) : each;
    const startOffset = offset;
    offset += Buffer.byteLength(text);
    return [{ stream, text, at: AT, startOffset, endOffset: offset }];
  });
}

function search(
  text: string,
  chunks: readonly SearchedChunk[],
  options: { from?: number; limit?: number } = {},
) {
  const searcher = createLogSearcher({ search: text, ...options });
  searcher.read(chunks);
  return searcher.found();
}

describe("a search in a log", () => {
  it("finds each line once, whatever the case, and says where it begins", () => {
    const found = search("error", chunksOf("ok\nä Error: no error\n", "none\n", "ERROR\r\n"));

    expect(found).toEqual({
      matches: [
        { stream: "stdout", text: "ä Error: no error", at: AT, offset: 3, entryOffset: 0 },
        { stream: "stdout", text: "ERROR", at: AT, offset: 27, entryOffset: 27 },
      ],
      total: { count: 2, atLeast: false },
      next: null,
    });
  });

  it("puts a line together that came in pieces, also with another stream between them", () => {
    const found = search(
      "half a line",
      chunksOf("so\nhalf ", ["stderr", "Half a "], "a line\n", ["stderr", "line"]),
    );

    expect(found.matches).toMatchObject([
      { stream: "stdout", text: "half a line", offset: 3, entryOffset: 0 },
      { stream: "stderr", text: "Half a line", offset: 8, entryOffset: 8 },
    ]);
  });

  it("does not put together what was printed before and after a part that is not kept", () => {
    expect(search("ab", chunksOf("a", 1_000, "b\nab")).matches).toMatchObject([
      { text: "ab", offset: 1_003, entryOffset: 1_001 },
    ]);
  });

  it("is read page by page, and counts all the same", () => {
    const chunks = chunksOf("a1\na2\n", "a3\na4\n");

    const first = search("A", chunks, { limit: 3 });
    const rest = search("A", chunks, { limit: 3, from: first.next ?? -1 });

    expect(first.matches.map(({ text }) => text)).toEqual(["a1", "a2", "a3"]);
    expect(rest).toMatchObject({
      matches: [{ text: "a4" }],
      total: { count: 4, atLeast: false },
      next: null,
    });
  });

  it("keeps the order of the log where a line ends after others that began behind it, and every page goes on", () => {
    const chunks = chunksOf("error: progress ", ["stderr", "error: two\n"], "100%\n");

    const first = search("error", chunks, { limit: 1 });
    const rest = search("error", chunks, { limit: 1, from: first.next ?? -1 });

    expect(first).toMatchObject({ matches: [{ text: "error: progress 100%", offset: 0 }], next: 16 });
    expect(rest).toMatchObject({ matches: [{ text: "error: two", offset: 16 }], next: null });
  });

  it("reads on behind what is counted until the page is full", () => {
    const line = { stream: "stdout" as const, text: "x\n".repeat(MOST_COUNTED_MATCHES + 1), at: AT };
    const searcher = createLogSearcher({ search: "x", limit: 2, from: 20_000 });

    expect(searcher.read([{ ...line, startOffset: 0, endOffset: 20_002 }])).toBe(true);
    expect(searcher.read([{ ...line, startOffset: 20_002, endOffset: 40_004 }])).toBe(false);
    expect(searcher.found()).toMatchObject({
      matches: [{ offset: 20_000 }, { offset: 20_002 }],
      next: 20_004,
    });
  });

  it("shows of a long line the part around the text, and cuts no character in two", () => {
    const found = search("here", chunksOf(`${"😀".repeat(1_000)}here${"😀".repeat(1_000)}`));

    const [match] = found.matches;
    expect(match?.text).toMatch(/^(?:😀)+here(?:😀)+$/u);
    expect(match?.text.length).toBeLessThanOrEqual(500);
  });

  it("stops where enough was counted", () => {
    const searcher = createLogSearcher({ search: "x", limit: 1 });
    const line = { stream: "stdout" as const, text: "x\n".repeat(MOST_COUNTED_MATCHES), at: AT };

    expect(searcher.read([{ ...line, startOffset: 0, endOffset: 20_000 }])).toBe(true);
    expect(searcher.read([{ ...line, startOffset: 20_000, endOffset: 40_000 }])).toBe(false);
    expect(searcher.found().total).toEqual({ count: MOST_COUNTED_MATCHES, atLeast: true });
  });

  it("finds what a look at the whole text finds, wherever it was cut", () => {
    const letters = fc.array(fc.constantFrom("a", "B", "\n", "é"), { maxLength: 40 });
    fc.assert(
      fc.property(
        letters,
        fc.array(fc.nat(39)),
        fc.constantFrom("a", "ab", "é", "BA"),
        (text, cuts, wanted) => {
          const whole = text.join("");
          const at = [...new Set(cuts)]
            .filter((cut) => cut > 0 && cut < whole.length)
            .toSorted((a, b) => a - b);
          const pieces = [0, ...at]
            .map((from, index) => whole.slice(from, at[index]))
            .filter((piece) => piece !== "");

          const { matches } = search(wanted, chunksOf(...pieces));

          const lines = whole.split("\n").filter((line) => line.toLowerCase().includes(wanted.toLowerCase()));
          expect(matches.map((match) => match.text)).toEqual(lines);
          for (const { offset, text: line } of matches)
            expect(Buffer.from(whole).subarray(offset).toString().startsWith(line)).toBe(true);
        },
      ),
    );
  });
});
