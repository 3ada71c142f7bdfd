/** The completion of each shell in that shell: what TAB would offer, asked of a real server where only it knows. */

import { execFile, execFileSync } from "node:child_process";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { flaky, openCli } from "../../packages/server/test/cli-fixture.ts";

const MAIN = fileURLToPath(new URL("../../packages/server/dist/cli/main.js", import.meta.url));
const WITHIN_MS = 50_000;

const box = await openCli(inject("adminUrl"));
let taskRunId: string;

beforeAll(async () => {
  const program = join(box.home, "signalbox");
  await writeFile(program, `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
  await chmod(program, 0o755);
  ({ taskRunId } = await box.scheduler.enqueue(flaky.task(null, { title: "a long title; $(touch canary)" })));
});
afterAll(box.close);

function isThere(shell: string): boolean {
  try {
    execFileSync(shell, ["-c", "exit 0"], { stdio: "ignore" });
    return true;
  } catch {
    process.stdout.write(`completion in ${shell}: skipped, it is not installed (scripts/ci-tools.sh)\n`);
    return false;
  }
}

/** A script in a shell that has read nothing of whoever runs the tests. */
async function run(shell: string, args: readonly string[], script: string): Promise<string> {
  const env = {
    PATH: `${box.home}:${process.env["PATH"] ?? ""}`,
    HOME: box.home,
    XDG_CONFIG_HOME: box.home,
    SIGNALBOX_SERVER_URL: box.server,
    TERM: "dumb",
  };
  return await new Promise((resolve, reject) => {
    const done = (error: Error | null, stdout: string, stderr: string): void =>
      error === null ? resolve(stdout) : reject(new Error(`${error.message}\n${stdout}\n${stderr}`));
    execFile(shell, [...args, "-c", script], { env, cwd: box.home, timeout: WITHIN_MS }, done);
  });
}

/** The words on the line so far; the last one is being typed. Answers what is offered. */
type Offers = (...words: readonly string[]) => Promise<readonly string[]>;

const linesOf = (text: string): readonly string[] => text.split("\n").filter((line) => line !== "");

const inBash: Offers = async (...words) => {
  const typed = words.map((word) => `'${word}'`).join(" ");
  const script = `source <(signalbox completion bash); COMP_WORDS=(signalbox ${typed}); COMP_CWORD=${words.length}
    _signalbox; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return linesOf(await run("bash", ["--norc", "--noprofile"], script));
};

const inFish: Offers = async (...words) => {
  const script = `signalbox completion fish | source; complete -C 'signalbox ${words.join(" ")}'`;
  return linesOf(await run("fish", ["--no-config"], script)).map((line) => line.split("\t")[0] ?? "");
};

/** In a terminal of its own, since zsh completes nowhere else: TAB, and then the line is printed. */
const inZsh: Offers = async (...words) => {
  const script = `zmodload zsh/zpty; zpty z zsh -f -i
    zpty -w z 'PS1=; unsetopt beep; autoload -Uz compinit; compinit -u -D; source <(signalbox completion zsh); echo rea""dy'
    zpty -r -m z line '*ready*'
    zpty -w -n z $'signalbox ${words.join(" ")}\\t\\001print -r -- is: \\005\\n'
    zpty -r -m z line $'*\\nis: *\\n*'; print -r -- "$line"; zpty -d z`;
  const [, line = ""] = /\nis: (.*?)\r?\n/.exec(await run("zsh", ["-f"], script)) ?? [];
  return [line.trim().split(" ").at(-1) ?? ""];
};

describe.each([
  ["bash", inBash],
  ["fish", inFish],
  ["zsh", inZsh],
] as const)("%s", (shell, offers) => {
  const it = test.skipIf(!isThere(shell));

  it("completes commands, options and choices", async () => {
    expect(await offers("stat")).toEqual(["status"]);
    expect(await offers("task", "sh")).toEqual(["show"]);
    expect(await offers("task", "list", "--wat")).toEqual(["--watch"]);
    expect(await offers("status", "-o", "wi")).toEqual(["wide"]);
  });

  it("completes the id of a task that the server knows, and runs nothing of its title", async () => {
    const typed = taskRunId.slice(0, 6);

    // Who types waits no longer than a moment, and presses TAB again.
    await expect.poll(async () => await offers("why", typed), { timeout: WITHIN_MS }).toEqual([taskRunId]);
    expect(linesOf(await run("bash", [], "ls"))).not.toContain("canary");
  });
});
