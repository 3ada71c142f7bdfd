/** Between the parser and a command: what was typed before and after the command's name, and how to speak. */

import type { Command } from "commander";
import { readConfig } from "../config.ts";
import { createLook, type Look } from "../render/look.ts";
import type { ExitCode } from "./exit-code.ts";
import type { Output } from "./output.ts";
import type { LookOptions } from "./shared-options.ts";
import { type Defaults, readUserConfig } from "./user-config.ts";

/** What every declaration of a command is handed. */
export interface Tools {
  readonly output: Output;
  readonly onExit: (exitCode: number) => void;
}

type Run<Options> = (
  args: readonly (string | undefined)[],
  options: Options,
  output: Output,
) => Promise<ExitCode | undefined> | Promise<void>;

/** The action of a command. Without an exit code it ended well. */
export function acts<Options>(tools: Tools, run: Run<Options>): (...given: unknown[]) => Promise<void> {
  return async (...given) => {
    const command = given.at(-1) as Command;
    const { defaults } = await readUserConfig();
    const options = { ...usualFormat(command, defaults), ...optionsOf(command) };
    const output = tuned(tools.output, options as LookOptions, defaults);
    const exitCode = await run(command.processedArgs, options as Options, output);
    if (typeof exitCode === "number") tools.onExit(exitCode);
  };
}

/** `signalbox --server X status` means the same as `signalbox status --server X`; the nearest wins. */
function optionsOf(command: Command): Readonly<Record<string, unknown>> {
  const outer = command.parent === null ? {} : optionsOf(command.parent);
  const given = Object.entries(command.opts()).filter(
    ([name]) => !(name in outer) || command.getOptionValueSource(name) !== "default",
  );
  return { ...outer, ...Object.fromEntries(given) };
}

/** What the user set for all commands, where this one knows formats and was told none. */
function usualFormat(command: Command, { output }: Defaults): object {
  const knows = command.options.some(({ long }) => long === "--output");
  const { json, fields } = command.opts();
  return knows && output !== undefined && json === undefined && fields === undefined ? { output } : {};
}

/** As this one invocation wants it: colour, time zone, and silence beside the data. */
function tuned(output: Output, options: LookOptions, defaults: Defaults): Output {
  const timeZone = options.tz ?? defaults.tz;
  const look: Look = {
    ...createLook({ color: colorOf(options, defaults.color, output.look), unicode: output.look.unicode }),
    ...(timeZone === undefined ? {} : { timeZone }),
  };
  return { ...output, look, note: options.quiet === true ? () => {} : output.note };
}

/** Flag, environment, file, terminal: the first that says something. */
function colorOf({ color }: LookOptions, inFile: string | undefined, { colors }: Look): boolean {
  const byFlag = wishOf(color === false ? "never" : color);
  return byFlag ?? readConfig().color ?? wishOf(inFile) ?? colors.isColorSupported;
}

function wishOf(when: string | undefined): boolean | null {
  return when === "always" ? true : when === "never" ? false : null;
}
