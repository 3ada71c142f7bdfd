/** Runs one command and turns whatever comes of it into an exit code, and an error into one sentence. */

import { CommanderError } from "commander";
import { readConfig } from "../config.ts";
import { UsageError } from "../usage-error.ts";
import { EXIT, errorCodeOf, exitCodeOf } from "./exit-code.ts";
import { createOutput, type Output } from "./output.ts";
import { createProgram } from "./program.ts";

export async function runCommandLine(args: readonly string[]): Promise<number> {
  const json = args.includes("--json");
  const output = outputFor(args);
  let exitCode: number = EXIT.ok;
  const program = createProgram(output, json, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...args], { from: "user" });
    return exitCode;
  } catch (error) {
    // Commander has said it already.
    if (!(error instanceof CommanderError) || (json && exitCodeOf(error) !== EXIT.ok)) {
      output.note(errorText(error, json));
    }
    return exitCodeOf(error);
  }
}

function outputFor(args: readonly string[]): Output {
  try {
    const { color, unicode } = readConfig();
    return createOutput({ color: args.includes("--no-color") ? false : color, unicode });
  } catch (error) {
    // A wrong setting is reported by the command that reads it.
    if (error instanceof UsageError) return createOutput({ color: false, unicode: false });
    throw error;
  }
}

function errorText(error: unknown, json: boolean): string {
  const message = error instanceof Error ? error.message : String(error);
  if (json) return JSON.stringify({ error: { code: errorCodeOf(error), message } });
  // Only a bug is worth a stack.
  const isBug = exitCodeOf(error) === EXIT.unexpected && error instanceof Error;
  return isBug ? (error.stack ?? message) : message;
}
