/** An error as it is written to stderr: for people a sentence and the next command, for programs one object. */

import { ProblemError, UnreachableError } from "@signalbox/contract";
import { CommanderError } from "commander";
import { safeText } from "../render/task-name.ts";
import { EXIT, errorCodeOf, exitCodeOf } from "./exit-code.ts";
import { hintOf } from "./hint.ts";
import { unreachableSentence } from "./unreachable.ts";

export interface ErrorWish {
  readonly json: boolean;
  readonly verbose: boolean;
}

export function errorLines(error: unknown, { json, verbose }: ErrorWish): readonly string[] {
  const message = messageOf(error);
  const hint = hintOf(error);
  if (json) return [JSON.stringify({ error: { code: errorCodeOf(error), message, ...extras(error, hint) } })];
  // Commander has said it already.
  const said = error instanceof CommanderError ? [] : sentences(error, message);
  return [...said, ...(hint === null ? [] : [hint]), ...(verbose ? causesOf(error) : [])];
}

function extras(error: unknown, hint: string | null): object {
  const requestId = error instanceof ProblemError ? error.problem.requestId : undefined;
  return {
    ...(hint === null ? {} : { hint }),
    ...(requestId === undefined ? {} : { requestId }),
  };
}

function messageOf(error: unknown): string {
  if (error instanceof UnreachableError) return unreachableSentence(error);
  const message = error instanceof Error ? error.message : String(error);
  return error instanceof CommanderError ? message.replace(/^error: /, "") : message;
}

function sentences(error: unknown, message: string): readonly string[] {
  // Only a bug is worth a stack.
  const isBug =
    exitCodeOf(error) === EXIT.unexpected && error instanceof Error && !(error instanceof ProblemError);
  return isBug ? (error.stack ?? message).split("\n") : [safeText(message)];
}

function causesOf(error: unknown): readonly string[] {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error ? [`  because: ${safeText(cause.message)}`, ...causesOf(cause)] : [];
}
