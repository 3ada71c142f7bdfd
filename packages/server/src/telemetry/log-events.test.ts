import type { SchedulerEvent } from "@signalbox/core";
import { describe, expect, test } from "vitest";
import { logEvents } from "./log-events.ts";
import { createLogger, type LogOptions } from "./logger.ts";

const DATABASE_URL = "postgres://ana:s3cret@db.example:5432/orders";

/** The lines that these events become. */
function linesOf(events: readonly unknown[], level: LogOptions["level"] = "debug"): readonly string[] {
  const lines: string[] = [];
  const log = logEvents(createLogger({ level, destination: { write: (line) => void lines.push(line) } }));
  for (const event of events) log(event as SchedulerEvent);
  return lines;
}

function entryOf(event: unknown): Record<string, unknown> {
  const [line = "{}"] = linesOf([event]);
  return JSON.parse(line) as Record<string, unknown>;
}

describe("an event becomes a line of JSON", () => {
  test("with its type, its fields, an instant and a level by name", () => {
    const event = { type: "instance.lost", lostInstanceId: "b", lostName: "inst-b", silentMs: 3_640 };

    expect(entryOf(event)).toMatchObject({
      level: "warn",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      event: "instance.lost",
      lostInstanceId: "b",
      lostName: "inst-b",
      silentMs: 3_640,
      msg: "instance.lost",
    });
  });

  test.each([
    ["debug", { type: "loop.passed", loop: "promoter", tookMs: 1 }],
    ["debug", { type: "task_run.settled", status: "DONE" }],
    ["warn", { type: "task_run.settled", status: "FAILED" }],
    ["info", { type: "task_run.rescued" }],
    ["info", { type: "instance.joined" }],
    ["error", { type: "instance.fenced" }],
    ["error", { type: "slots.stuck", stuck: 1, slots: 4 }],
    ["info", { type: "slots.stuck", stuck: 0, slots: 4 }],
    ["warn", { type: "database.watched", overlong: true }],
    ["debug", { type: "database.watched", overlong: false }],
  ])("with the level %s: %o", (level, event) => {
    expect(entryOf(event)["level"]).toBe(level);
  });

  test("or none, below the level of the logger", () => {
    expect(linesOf([{ type: "gate.lock_missed" }], "info")).toEqual([]);
  });
});

describe("an error", () => {
  test("is told with its code and message, and without what somebody put on it", () => {
    const error = Object.assign(new Error("too many clients"), { code: "53300", config: { password: "x" } });

    const entry = entryOf({ type: "loop.failed", loop: "claimer", error });

    expect(entry["error"]).toEqual({
      name: "Error",
      code: "53300",
      message: "too many clients",
      stack: expect.stringContaining("too many clients"),
    });
  });

  test("of a host with several addresses says what went wrong with each", () => {
    const error = new AggregateError([new Error("refused ::1"), new Error("refused 127.0.0.1")]);

    expect(entryOf({ type: "listener.lost", error })["error"]).toMatchObject({
      message: "refused ::1; refused 127.0.0.1",
    });
  });

  test.each([
    ["nothing", undefined],
    ["a text", "away"],
    ["an object without a text", Object.create(null)],
  ])("may be %s", (_, error) => {
    expect(entryOf({ type: "connection.lost", error })).toHaveProperty("error.message");
  });

  test("that comes again and again is told once, and others beside it", () => {
    const failed = (loop: string) => ({ type: "loop.failed", loop, error: new Error("away") });

    const lines = linesOf([failed("claimer"), failed("claimer"), failed("settler"), failed("claimer")]);

    expect(lines).toHaveLength(2);
  });
});

describe("whatever an event holds, the line", () => {
  test("shows no database URL", () => {
    const invalid = new TypeError(`Invalid URL: ${DATABASE_URL}`);
    Object.assign(invalid, { input: DATABASE_URL });

    const [line = ""] = linesOf([
      { type: "loop.failed", loop: "joiner", error: invalid, hint: `see ${DATABASE_URL}` },
    ]);

    expect(line).not.toMatch(/s3cret|db\.example/);
    expect(line).toContain("postgres://[hidden]");
  });

  test("is one line, without characters that move the cursor or turn the text around", () => {
    const hostile = 'a\n{"level":"error"}\r\u001b[2K\u009b2K\u007f\u0085\u2028\u202e\u2066\u0000"\\';

    const [line = ""] = linesOf([{ type: "task_run.settled", status: "FAILED", message: hostile }]);

    // oxlint-disable-next-line no-control-regex -- they are what is looked for
    expect(line.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u202e\u2066]/);
    expect(line.endsWith("}\n")).toBe(true);
    expect(JSON.parse(line)).toHaveProperty("message", hostile);
  });

  test.each([
    ["plain", "x"],
    ["escaped by JSON", "\u0001"],
    ["escaped by us", "\u009b"],
    ["wide", "語"],
  ])("has at most 8 kB: %s", (_, character) => {
    const text = character.repeat(100_000);
    const error = new Error(text);
    const [failed = "", settled = "", promoted = ""] = linesOf([
      { type: "loop.failed", loop: text, error },
      { type: "task_run.settled", status: "FAILED", message: text, title: text, kind: text },
      { type: "task_run.promoted", taskRunIds: Array(500).fill("0".repeat(36)) },
    ]);

    for (const line of [failed, settled, promoted]) {
      expect(Buffer.byteLength(line)).toBeLessThanOrEqual(8_192);
      expect(JSON.parse(line)).toBeTypeOf("object");
    }
    expect(Buffer.byteLength(failed)).toBeGreaterThan(2_000);
  });
});
