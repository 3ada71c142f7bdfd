/** The next command to type after a refusal. Null: the sentence says it all. */

import { ProblemError, UnreachableError } from "@signalbox/contract";
import { CommanderError } from "commander";

const HINTS: Readonly<Record<string, string>> = {
  TASK_NOT_FOUND: "What there is: signalbox task list",
  RUN_NOT_FOUND: "What there is: signalbox runs list",
  OPERATION_NOT_FOUND: "What there is: signalbox operation list",
  NOT_DEFERRABLE: "How it stands: signalbox task show <id>",
  AMBIGUOUS_ID: "Whole ids: signalbox task list -o wide",
  NOT_RETRYABLE: "How it stands: signalbox task show <id>",
  UNKNOWN_RATE: "Set it first: signalbox limit set rate <name> <amount>/<length>",
  NO_SUCH_ROUTE: "The server may be older than this command: compare signalbox version",
  UNAUTHENTICATED: "Give its token: --token-file <file>, SIGNALBOX_TOKEN_FILE or SIGNALBOX_TOKEN",
};

export function hintOf(error: unknown): string | null {
  if (error instanceof ProblemError) {
    const { code, status } = error.problem;
    return HINTS[code] ?? (status === 401 ? (HINTS["UNAUTHENTICATED"] ?? null) : null);
  }
  if (error instanceof UnreachableError) return "Whether it can be reached and is well: signalbox doctor";
  if (error instanceof CommanderError) return "What can be typed: signalbox --help";
  return null;
}
