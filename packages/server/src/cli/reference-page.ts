/** docs/reference/cli.md, from the commands themselves: a flag that is there is in the page. */

import type { Command, Option } from "commander";
import { COMMON } from "./shared-options.ts";

const INTRODUCTION = `# Command line

This page is written from the commands themselves, and a test compares the two
(\`npx vitest run --project unit packages/server/src/cli/reference-page.test.ts -u\` writes it anew).

- **Data goes to stdout, everything else to stderr.** In a pipe there is no colour, no escape code and nothing that moves.
- **Ids** may be whole, their beginning as long as it is unique, or the address of a page of the dashboard.
- **Which server**: \`--server\` or \`--context\`, else \`SIGNALBOX_SERVER_URL\`, \`SIGNALBOX_CONTEXT\`, the context that \`context use\`
  chose, else the \`dev\` that runs in this folder or above it.
- **Which token**: \`--token-file\`, else \`SIGNALBOX_TOKEN\`, \`SIGNALBOX_TOKEN_FILE\`, else the file of the context. A token is
  never a value on the command line, where others could read it, and never kept in the settings. The \`dev\` of a folder gets none
  unless \`--token-file\` says so.
- **Settings** are in \`$XDG_CONFIG_HOME/signalbox/config.json\` (\`signalbox config path\`), which only its owner may read.
- **Colour**: \`--color\` and \`--no-color\`, else \`FORCE_COLOR\`, \`NO_COLOR\`, the settings, the terminal.
- **\`--watch\`** redraws in its place in a terminal and leaves the last state there; elsewhere it writes a line for each change.
  It looks once a second (\`--interval\`) and goes on when the server is restarted. Ctrl-C detaches: the work goes on, exit code 130.
- **\`--json\`** prints one value, \`-o jsonl\` a line for each, \`-o name\` only what other commands take. With JSON an error is one
  object on stderr: \`{"error":{"code","message","hint"}}\`.
- **Exit codes** are in [errors](errors.md#exit-codes-of-the-command-line).
- **Completion**: \`signalbox completion --install\`. Ids and names are asked of the server, for at most 300 ms.
`;

export function referencePage(program: Command): string {
  const commands = leavesOf(program);
  const shared = new Map(
    commands.flatMap(({ options }) =>
      options.filter(isShared).map((option) => [option.flags, option] as const),
    ),
  );
  return [
    INTRODUCTION,
    "## Options that many commands share\n",
    "| option | meaning |\n|---|---|",
    ...[...shared.values()].map(optionRow),
    "\n## Commands",
    ...commands.map(sectionOf),
    "",
  ].join("\n");
}

/** Every command that can be typed, without the groups. */
export function leavesOf(command: Command): readonly Command[] {
  return command.commands
    .filter((each) => !each.name().startsWith("__"))
    .flatMap((each) => (each.commands.length === 0 ? [each] : leavesOf(each)));
}

function sectionOf(command: Command): string {
  const own = command.options.filter((option) => !option.hidden && !isShared(option));
  const rows = [
    ...command.registeredArguments.map(
      (argument) => `| \`${argument.name()}\` | ${cell(argument.description)} |`,
    ),
    ...own.map(optionRow),
  ];
  const usage = [pathOf(command), ...command.registeredArguments.map(argumentText)].join(" ");
  const text = command.description();
  return [
    `\n### \`${usage}\`\n`,
    `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`,
    ...(rows.length === 0 ? [] : ["\n| | |\n|---|---|", ...rows]),
  ].join("\n");
}

function isShared({ helpGroupHeading, hidden }: Option): boolean {
  return helpGroupHeading === COMMON && !hidden;
}

function optionRow({ flags, description, argChoices, defaultValue }: Option): string {
  const choices = argChoices === undefined ? "" : `: ${argChoices.join(", ")}`;
  const usual = typeof defaultValue === "number" ? ` (default: ${defaultValue})` : "";
  return `| \`${cell(flags)}\` | ${cell(`${description}${choices}${usual}`)} |`;
}

function argumentText(argument: Command["registeredArguments"][number]): string {
  return argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
