import { expect, test } from "vitest";
import { createLogger } from "../telemetry/logger.ts";
import { textLog } from "./text-log.ts";

function logged(write: (logger: ReturnType<typeof createLogger>) => void): readonly string[] {
  const lines: string[] = [];
  write(createLogger({ destination: textLog((line) => void lines.push(line)) }));
  return lines.map((line) => line.replace(/^\S+ {2}/, ""));
}

test("an entry is one line that a person can read", () => {
  const lines = logged((logger) => {
    logger.info({ url: "http://127.0.0.1:7410", kinds: ["report"] }, "serving");
    logger.warn({ reason: "two words" }, "careful");
  });

  expect(lines).toEqual([
    'info   serving  url=http://127.0.0.1:7410  kinds=["report"]\n',
    'warn   careful  reason="two words"\n',
  ]);
});

test("nothing breaks the line, turns it around or shows a database's URL", () => {
  const [line = "", ...more] = logged((logger) => {
    logger.error({ title: "a\nb\u202e\u001b[2J", at: "postgres://me:secret@db/app" }, "x\ny\u2028z");
  });

  expect(more).toEqual([]);
  for (const unsafe of ["\n", "\u202e", "\u001b", "\u2028", "secret"])
    expect(line.trimEnd()).not.toContain(unsafe);
  expect(line).toContain("x\\ny\\u2028z");
});
