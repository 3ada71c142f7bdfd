import { ProblemError, UnreachableError } from "@signalbox/contract";
import { SchedulerError } from "@signalbox/core/domain";
import { CommanderError } from "commander";
import { expect, test } from "vitest";
import { PLAIN_LOOK } from "../render/look.ts";
import { UsageError } from "../usage-error.ts";
import { errorCodeOf, exitCodeOf } from "./exit-code.ts";
import { NoServerError } from "./find-server.ts";
import type { Output } from "./output.ts";
import { createProgram } from "./program.ts";

test.each<[string, unknown, number, string]>([
  ["an answer that says not found", problem(404, "TASK_NOT_FOUND"), 6, "TASK_NOT_FOUND"],
  ["an answer that refuses the input", problem(422, "INVALID_INPUT"), 2, "INVALID_INPUT"],
  ["a database that is gone", problem(503, "DATABASE_UNREACHABLE"), 9, "DATABASE_UNREACHABLE"],
  ["a bug of the server", problem(500, "INTERNAL"), 1, "INTERNAL"],
  [
    "what a command refuses by itself",
    new SchedulerError("SCHEMA_NOT_CURRENT", { found: 1, needed: 2 }),
    7,
    "SCHEMA_NOT_CURRENT",
  ],
  ["no server here", new NoServerError("none"), 9, "UNREACHABLE"],
  ["no answer", new UnreachableError("http://127.0.0.1:1", "nothing listens there"), 9, "UNREACHABLE"],
  ["a wrong flag", new CommanderError(1, "commander.unknownOption", "unknown"), 2, "USAGE"],
  ["a wrong value", new UsageError("no"), 2, "USAGE"],
  ["anything else", new Error("bug"), 1, "UNEXPECTED"],
])("%s has its exit code", (_, error, exitCode, code) => {
  expect(exitCodeOf(error)).toBe(exitCode);
  expect(errorCodeOf(error)).toBe(code);
});

test("asking for help is no error", () => {
  expect(exitCodeOf(new CommanderError(0, "commander.helpDisplayed", ""))).toBe(0);
  expect(exitCodeOf(new CommanderError(0, "commander.help", ""))).toBe(0);
  expect(exitCodeOf(new CommanderError(1, "commander.help", ""))).toBe(2);
});

test("help names every command", async () => {
  const said: string[] = [];
  const output: Output = {
    look: PLAIN_LOOK,
    data: (line) => said.push(line),
    note: () => {},
    whenClosed: () => {},
  };

  await createProgram(output, false, () => {})
    .parseAsync(["--help"], { from: "user" })
    .catch(() => {});

  for (const command of ["dev", "status", "why", "enqueue", "cancel", "retry"])
    expect(said.join("\n")).toContain(`  ${command} `);
});

function problem(status: number, code: string): ProblemError {
  return new ProblemError({ type: "about:blank", title: "", status, code, detail: "" });
}
