import { mkdir, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Command } from "commander";
import { readClientConfig } from "../../config.ts";
import { safeText } from "../../render/task-name.ts";
import { UsageError } from "../../usage-error.ts";
import { nextWord } from "../completion/candidates.ts";
import { SCRIPTS, SHELLS, type Shell } from "../completion/scripts.ts";
import type { Output } from "../output.ts";

export interface CompletionOptions {
  readonly install?: true;
}

export async function completion(
  given: string | undefined,
  { install }: CompletionOptions,
  output: Output,
): Promise<void> {
  const shell = shellOf(given);
  if (install !== true) {
    output.data(SCRIPTS[shell].trimEnd());
    return;
  }
  const { file, after } = placeFor(shell, readClientConfig().configHome);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, SCRIPTS[shell]);
  output.data(file);
  output.note(after);
}

function shellOf(given: string | undefined): Shell {
  const name = given ?? basename(readClientConfig().shell ?? "");
  const shell = SHELLS.find((each) => each === name);
  if (shell !== undefined) return shell;
  const said = name === "" ? "Which shell is not known" : `"${name}" is not a shell that is known here`;
  throw new UsageError(`${said}; give one of ${SHELLS.join(", ")}`);
}

/** Where each of them looks by itself; for the others the line that is missing is said. */
function placeFor(shell: Shell, configHome: string): { readonly file: string; readonly after: string } {
  const home = homedir();
  const places: Readonly<Record<Shell, readonly [file: string, after: string]>> = {
    bash: [
      join(home, ".local", "share", "bash-completion", "completions", "signalbox"),
      "It is there in the next shell, where bash-completion is installed.",
    ],
    zsh: [
      join(home, ".zfunc", "_signalbox"),
      "Have these two lines in ~/.zshrc: fpath+=~/.zfunc and autoload -Uz compinit && compinit",
    ],
    fish: [join(configHome, "fish", "completions", "signalbox.fish"), "It is there in the next shell."],
    powershell: [
      join(configHome, "powershell", "signalbox.ps1"),
      `Have this line in your $PROFILE: . "${join(configHome, "powershell", "signalbox.ps1")}"`,
    ],
  };
  const [file, after] = places[shell];
  return { file, after };
}

/** Answers a shell. Never an error: somebody is typing. */
export async function complete(program: Command, words: readonly string[], output: Output): Promise<void> {
  const typed = words.map((word) => (word === '""' ? "" : word));
  const { candidates, named } = nextWord(program, typed);
  const last = typed.at(-1) ?? "";
  const known =
    named === null ? [] : await (await import("../completion/known-names.ts")).knownNames(named, last);
  for (const { value, about } of [...candidates, ...known]) {
    output.data(`${safeText(value)}\t${safeText(about)}`);
  }
}
