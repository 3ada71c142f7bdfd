import { describe, expect, it } from "vitest";
import { LOG_CHUNK_BYTES, LOG_HEAD_BYTES, LOG_TAIL_BYTES } from "../domain/log.ts";
import { LogBacklog } from "./log-backlog.ts";

const bytes = (text: string): Buffer => Buffer.from(text);
const texts = (backlog: LogBacklog): string[] => backlog.take(false).map(({ text }) => text);

describe("a log that is not stored yet", () => {
  it("joins what one stream printed, and keeps the streams in their order", () => {
    const backlog = new LogBacklog();
    for (const text of ["a", "b"]) backlog.write("stdout", bytes(text));
    backlog.write("stderr", bytes("!"));
    backlog.write("stdout", bytes("c"));

    expect(backlog.take(false)).toEqual([
      { start: 0, end: 2, stream: "stdout", text: "ab" },
      { start: 2, end: 3, stream: "stderr", text: "!" },
      { start: 3, end: 4, stream: "stdout", text: "c" },
    ]);
  });

  it("gives the same chunks until they are stored, whatever was printed meanwhile", () => {
    const backlog = new LogBacklog();
    backlog.write("stdout", bytes("a"));
    const first = backlog.take(false);
    backlog.write("stdout", bytes("b"));

    expect(backlog.take(false)).toEqual(first);
    backlog.stored();
    expect(texts(backlog)).toEqual(["b"]);
  });

  it("replaces what is no UTF-8, and NUL, but not a character that comes in two pieces", () => {
    const backlog = new LogBacklog();
    const euro = bytes("€");
    backlog.write("stdout", Buffer.concat([bytes("a\u0000"), Buffer.from([0xff]), euro.subarray(0, 2)]));
    const first = texts(backlog);
    backlog.stored();
    backlog.write("stderr", bytes("x"));
    backlog.write("stdout", euro.subarray(2));

    expect(first).toEqual(["a\uFFFD\uFFFD"]);
    expect(texts(backlog)).toEqual(["x", "€"]);
  });

  it("says that a stream ended in the middle of a character", () => {
    const backlog = new LogBacklog();
    backlog.write("stdout", bytes("€").subarray(0, 2));
    backlog.take(false);
    backlog.stored();

    expect(backlog.hasHalfCharacter).toBe(true);
    expect(backlog.take(true)).toEqual([{ start: 2, end: 3, stream: "stdout", text: "\uFFFD" }]);
  });

  it("keeps the beginning and the end of much output, and the offsets tell what is missing", () => {
    const backlog = new LogBacklog();
    const block = Buffer.alloc(50_000, "x");
    for (let count = 0; count < 200; count += 1) backlog.write("stdout", block);
    backlog.write("stdout", bytes("the end"));
    const chunks = backlog.take(false);

    const total = 200 * 50_000 + 7;
    expect(chunks.at(0)?.start).toBe(0);
    expect(chunks.at(-1)?.end).toBe(total);
    expect(chunks.at(-1)?.text.endsWith("the end")).toBe(true);
    const gaps = chunks.filter(({ start }, index) => index > 0 && start !== chunks[index - 1]?.end);
    expect(gaps).toHaveLength(1);
    expect(gaps[0]?.start).toBeLessThanOrEqual(total - LOG_TAIL_BYTES);
    expect(chunks.filter(({ start }) => start < LOG_HEAD_BYTES).at(-1)?.end).toBe(LOG_HEAD_BYTES);
    const kept = chunks.reduce((sum, { start, end }) => sum + end - start, 0);
    expect(kept).toBeLessThan(LOG_HEAD_BYTES + LOG_TAIL_BYTES + 2 * LOG_CHUNK_BYTES);
    expect(Math.max(...chunks.map(({ start, end }) => end - start))).toBeLessThanOrEqual(LOG_CHUNK_BYTES);
  });

  it("bounds what many tiny pieces of two streams cost", () => {
    const backlog = new LogBacklog();
    for (let count = 0; count < 80_000; count += 1)
      backlog.write(count % 2 === 0 ? "stdout" : "stderr", bytes("x"));

    const chunks = backlog.take(false);
    expect(chunks.length).toBeLessThan(75_000);
    expect(chunks.at(-1)?.end).toBe(80_000);
  });
});
