/** The options that many commands understand. A command takes only those that mean something to it. */

import { type Command, InvalidArgumentError, Option } from "commander";
import { lengthMs } from "./length-argument.ts";

export const FORMATS = ["table", "wide", "json", "jsonl", "name"] as const;
export type Format = (typeof FORMATS)[number];
export const COLORS = ["auto", "always", "never"] as const;

/** How a command speaks. */
export interface LookOptions {
  readonly color?: (typeof COLORS)[number] | false;
  readonly tz?: string;
  readonly quiet?: true;
  readonly verbose?: true;
}

/** Whom it asks. */
export interface ServerOptions {
  readonly server?: string;
  readonly tokenFile?: string;
  readonly context?: string;
  /** How long an answer, or with `watch` the end of what is watched, is waited for, in milliseconds. */
  readonly timeout?: number;
  readonly verbose?: true;
}

/** In which form it answers. */
export interface FormatOptions {
  readonly output?: Format;
  readonly json?: true;
  /** From `--json=a,b`. */
  readonly fields?: readonly string[];
}

export interface ListOptions extends FormatOptions {
  readonly columns?: readonly string[];
  readonly limit?: number;
}

export interface WatchOptions {
  readonly watch?: true;
  /** Milliseconds. */
  readonly interval?: number;
}

/** How a change is asked for. */
export interface ChangeOptions {
  readonly yes?: true;
  readonly reason?: string;
  readonly dryRun?: true;
  readonly input?: boolean;
}

export type AskOptions = ServerOptions & FormatOptions & LookOptions;

export const COMMON = "Options of every command:";

/** What the program itself takes, before the name of a command. */
export function withLook(command: Command): Command {
  return command
    .addOption(new Option("--color <when>", "whether to use colour").choices([...COLORS]).helpGroup(COMMON))
    .addOption(new Option("--no-color", "no colour").helpGroup(COMMON))
    .addOption(new Option("--tz <zone>", "show times of this zone").argParser(timeZone).helpGroup(COMMON))
    .addOption(new Option("-q, --quiet", "only the data and errors").helpGroup(COMMON))
    .addOption(new Option("-v, --verbose", "say whom it asks, and more about errors").helpGroup(COMMON));
}

export function withServer(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--server <url>",
        "the server to ask (default: the context, else the one that runs in this folder)",
      ).helpGroup(COMMON),
    )
    .addOption(new Option("--token-file <file>", "a file with the token of the server").helpGroup(COMMON))
    .addOption(new Option("--context <name>", "a server by the name it was given").helpGroup(COMMON))
    .addOption(
      new Option(
        "--timeout <length>",
        "how long to wait, such as 30s or 5m (default: 10s for an answer; for ever with --watch)",
      )
        .argParser(lengthMs)
        .helpGroup(COMMON),
    );
}

export function withFormat(command: Command): Command {
  return command
    .addOption(
      new Option("-o, --output <format>", "the form of the answer").choices([...FORMATS]).helpGroup(COMMON),
    )
    .addOption(new Option("--json", "print JSON; with --json=a,b only these fields").helpGroup(COMMON))
    .addOption(new Option("--fields <names>").argParser(names).hideHelp());
}

/** A command that asks a server and answers. */
export function withAsking(command: Command): Command {
  return withLook(withFormat(withServer(command)));
}

/** `columns` in the order in which they are shown. */
export function withList(command: Command, most: number, usually: number): Command {
  return withAsking(
    command
      .option("--columns <names>", "only these columns, in this order", names)
      .option("--limit <n>", "how many at most", wholeNumber(1, most), usually),
  );
}

export function withWatch(command: Command): Command {
  return command
    .option("-w, --watch", "go on showing it; Ctrl-C leaves the work alone")
    .option(
      "--interval <length>",
      "how often to look with --watch where the server tells nothing by itself (default: 1s)",
      lengthMs,
    );
}

export function withReason(command: Command): Command {
  return withDryRun(command.option("--reason <text>", "why, for those who wonder later"));
}

export function withDryRun(command: Command): Command {
  return command
    .option("--dry-run", "say what would be done, and do nothing")
    .option("-y, --yes", "do not ask whether it is meant")
    .option("--no-input", "never ask anything");
}

export function wholeNumber(low: number, high: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= low && value <= high) return value;
    throw new InvalidArgumentError(`Give a whole number from ${low} to ${high}.`);
  };
}

export function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

/** "a,b" */
export function names(text: string): readonly string[] {
  const given = text.split(",").map((name) => name.trim());
  if (given.every((name) => name !== "")) return given;
  throw new InvalidArgumentError("Give names with commas between them.");
}

export function timeZone(text: string): string {
  try {
    return new Intl.DateTimeFormat("en-GB", { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    throw new InvalidArgumentError('Give a name such as "Europe/Berlin" or "UTC".');
  }
}

export function formatOf({ output, json, fields }: FormatOptions): Format {
  if (output !== undefined) return output;
  return json === true || fields !== undefined ? "json" : "table";
}

export function isJson(options: FormatOptions): boolean {
  return formatOf(options) === "json" || formatOf(options) === "jsonl";
}
