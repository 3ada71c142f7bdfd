/** How a command ends, as a number. The table is part of the interface: scripts rely on it. */

import { ProblemError, UnreachableError } from "@signalbox/contract";
import { type ErrorCode, SchedulerError } from "@signalbox/core/domain";
import { CommanderError } from "commander";
import { DatabaseProblemError } from "../dev/database-problem.ts";
import { PostgresLaunchError } from "../postgres/launch-error.ts";
import { UsageError } from "../usage-error.ts";
import { NoServerError } from "./find-server.ts";

export const EXIT = {
  ok: 0,
  unexpected: 1,
  usage: 2,
  failed: 3,
  canceled: 4,
  timedOut: 5,
  notFound: 6,
  refused: 7,
  notAllowed: 8,
  unreachable: 9,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const BY_HTTP_STATUS: Readonly<Record<number, ExitCode>> = {
  400: EXIT.usage,
  401: EXIT.notAllowed,
  403: EXIT.notAllowed,
  404: EXIT.notFound,
  408: EXIT.unreachable,
  409: EXIT.refused,
  413: EXIT.usage,
  414: EXIT.usage,
  415: EXIT.usage,
  421: EXIT.notAllowed,
  422: EXIT.usage,
  429: EXIT.refused,
  431: EXIT.usage,
  503: EXIT.unreachable,
};

const NO_DATABASE: ReadonlySet<ErrorCode> = new Set([
  "DATABASE_UNREACHABLE",
  "DATABASE_REFUSED",
  "ANSWER_LOST",
]);
const UNREACHABLE = [UnreachableError, NoServerError, DatabaseProblemError, PostgresLaunchError] as const;

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof ProblemError) return BY_HTTP_STATUS[error.problem.status] ?? EXIT.unexpected;
  if (error instanceof UsageError) return EXIT.usage;
  if (error instanceof CommanderError) return isHelp(error) ? EXIT.ok : EXIT.usage;
  if (error instanceof SchedulerError) return NO_DATABASE.has(error.code) ? EXIT.unreachable : EXIT.refused;
  return UNREACHABLE.some((kind) => error instanceof kind) ? EXIT.unreachable : EXIT.unexpected;
}

/** A stable code for `--json`. */
export function errorCodeOf(error: unknown): string {
  if (error instanceof ProblemError) return error.problem.code;
  const exitCode = exitCodeOf(error);
  if (exitCode === EXIT.refused && error instanceof SchedulerError) return error.code;
  if (exitCode === EXIT.usage) return "USAGE";
  return exitCode === EXIT.unreachable ? "UNREACHABLE" : "UNEXPECTED";
}

function isHelp({ code, exitCode }: CommanderError): boolean {
  // "help" was asked for where it is no error; the same is shown where a command is missing.
  const wasAsked = code === "commander.help" && exitCode === 0;
  return wasAsked || code === "commander.helpDisplayed" || code === "commander.version";
}
