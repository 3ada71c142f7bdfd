/** Runs one command and turns whatever comes of it into an exit code, and an error into one sentence. */

import { CommanderError } from "commander";
import { readConfig } from "../config.ts";
import { UsageError } from "../usage-error.ts";
import { createOutput, type Output } from "./output.ts";
import { createProgram } from "./program.ts";

export async function runCommandLine(args: readonly string[]): Promise<number> {
  const wish = wishesIn(args);
  const output = outputFor(wish.noColor);
  let exitCode = 0;
  const program = createProgram(output, wish.json, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...expandJson(args)], { from: "user" });
    return exitCode;
  } catch (error) {
    // Asked for help or the version: neither is worth loading all that errors can be.
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const { exitCodeOf } = await import("./exit-code.ts");
    const { errorLines } = await import("./error-lines.ts");
    for (const line of errorLines(error, wish)) output.note(line);
    return exitCodeOf(error);
  }
}

/** `--json=a,b` takes fields and `--json` takes none, also where an id follows; the parser knows only one of both. */
export function expandJson(args: readonly string[]): readonly string[] {
  const end = args.indexOf("--");
  return args.flatMap((arg, index) =>
    arg.startsWith("--json=") && (end === -1 || index < end) ? ["--json", "--fields", arg.slice(7)] : [arg],
  );
}

/** Looked at before anything is parsed, since what goes wrong there is to be said in the same way. */
function wishesIn(args: readonly string[]) {
  const end = args.indexOf("--");
  const options = end === -1 ? args : args.slice(0, end);
  const has = (...names: readonly string[]): boolean => options.some((option) => names.includes(option));
  const format = options[options.findIndex((option) => option === "-o" || option === "--output") + 1];
  return {
    json:
      options.some((option) => /^--json(=|$)|^(-o|--output)=?jsonl?$/.test(option)) ||
      (has("-o", "--output") && (format === "json" || format === "jsonl")),
    noColor: has("--no-color"),
    verbose: has("-v", "--verbose"),
  };
}

function outputFor(noColor: boolean): Output {
  try {
    const { color, unicode } = readConfig();
    return createOutput({ color: noColor ? false : color, unicode });
  } catch (error) {
    // A wrong setting is reported by the command that reads it.
    if (error instanceof UsageError) return createOutput({ color: false, unicode: false });
    throw error;
  }
}
