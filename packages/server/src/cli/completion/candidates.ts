/** What can come next on the line: commands, options, choices, and names that the server knows. */

import type { Command, Option } from "commander";

export interface Candidate {
  readonly value: string;
  readonly about: string;
}

/** What kind of name an argument is; asked of the server. */
export type Named = "task" | "run" | "operation" | "queue" | "resource" | "instance";

export interface NextWord {
  readonly candidates: readonly Candidate[];
  /** Names that only a server knows. */
  readonly named: Named | null;
}

const NOTHING: NextWord = { candidates: [], named: null };

/** `words` are those after the program's name; the last one is the one that is being typed. */
export function nextWord(program: Command, words: readonly string[]): NextWord {
  const typed = words.at(-1) ?? "";
  const { command, args, pending } = walk(program, words.slice(0, -1));
  if (pending !== null) return fitting(ofOption(pending), typed);
  if (typed.startsWith("-")) return fitting({ candidates: optionsOf(command), named: null }, typed);
  if (command.commands.length > 0) return fitting({ candidates: commandsOf(command), named: null }, typed);
  return fitting(ofArgument(command, args), typed);
}

interface Place {
  readonly command: Command;
  /** How many arguments of it are there already. */
  readonly args: number;
  /** The option whose value is typed now. */
  readonly pending: Option | null;
}

function walk(program: Command, words: readonly string[]): Place {
  let place: Place = { command: program, args: 0, pending: null };
  for (const word of words) place = step(place, word);
  return place;
}

function step({ command, args, pending }: Place, word: string): Place {
  if (pending !== null) return { command, args, pending: null };
  if (word.startsWith("-")) {
    const option = command.options.find(({ long, short }) => long === word || short === word);
    return { command, args, pending: option?.required === true ? option : null };
  }
  const sub = command.commands.find((each) => each.name() === word);
  return sub === undefined
    ? { command, args: args + 1, pending: null }
    : { command: sub, args: 0, pending: null };
}

function commandsOf(command: Command): readonly Candidate[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((each) => ({ value: each.name(), about: each.description() }));
}

function optionsOf(command: Command): readonly Candidate[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .map(({ long, short, description }) => ({ value: long ?? short ?? "", about: description }));
}

const NAMED_OPTIONS: Readonly<Record<string, Named>> = { run: "run", queue: "queue", resource: "resource" };

function ofOption(option: Option): NextWord {
  const candidates = (option.argChoices ?? []).map((value) => ({ value, about: "" }));
  return { candidates, named: NAMED_OPTIONS[option.attributeName()] ?? null };
}

function ofArgument(command: Command, index: number): NextWord {
  const argument = command.registeredArguments[index] ?? null;
  if (argument === null) return NOTHING;
  const candidates = (argument.argChoices ?? []).map((value) => ({ value, about: "" }));
  return { candidates, named: namedOf(command, argument.name()) };
}

const GROUP_IDS: Readonly<Record<string, Named>> = { runs: "run", operation: "operation" };

/** By the words with which commands declare their arguments. */
function namedOf(command: Command, argument: string): Named | null {
  const group = command.parent?.name() ?? "";
  if (argument === "id") return GROUP_IDS[group] ?? "task";
  if (argument === "name" && (group === "queue" || group === "resource")) return group;
  return argument === "instance" ? "instance" : null;
}

function fitting({ candidates, named }: NextWord, typed: string): NextWord {
  return { candidates: candidates.filter(({ value }) => value.startsWith(typed)), named };
}
