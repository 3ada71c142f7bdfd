/** A server that answers, and the command line in front of it: as calls, or as processes as people start them. */

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env as ownEnvironment } from "node:process";
import { fileURLToPath } from "node:url";
import { defineTask } from "@signalbox/core";
import { createManualScheduler, createTestDatabase } from "@signalbox/core/testing";
import { EXIT } from "../src/cli/exit-code.ts";
import { createProgram } from "../src/cli/program.ts";
import { expandJson } from "../src/cli/run-command-line.ts";
import { createApi } from "../src/http/create-api.ts";
import { listenOnLoopback } from "../src/http/listen.ts";
import { PLAIN_LOOK } from "../src/render/look.ts";

const MAIN = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));

export const flaky = defineTask({
  kind: "flaky",
  run: (_, { attempt, log }) => {
    log(`attempt ${attempt}`);
    log("\u001b[31mred\u001b[2J\u001b[0m");
    if (attempt === 1) throw new Error("Not yet\u001b[2J");
  },
});

/** What a call said, on both ways out. */
export interface Said {
  readonly said: string;
  readonly noted: string;
  readonly exitCode: number;
}

export interface RunningProcess {
  /** Resolves when stdout has it. */
  readonly sees: (text: string) => Promise<void>;
  readonly interrupt: () => void;
  readonly end: Promise<Said>;
}

export async function openCli(adminUrl: string) {
  const database = await createTestDatabase(adminUrl);
  const scheduler = await createManualScheduler({ databaseUrl: database.url, tasks: [flaky] });
  const api = createApi({ scheduler, serverId: "server-1", logger: { error: () => {} } });
  const { url: server } = await listenOnLoopback(api, 28_510);
  const home = await mkdtemp(join(tmpdir(), "signalbox-cli-"));

  const start = (words: readonly string[], env: Record<string, string> = {}): RunningProcess =>
    startProcess(words, { SIGNALBOX_SERVER_URL: server, XDG_CONFIG_HOME: home, ...env }, home);
  return {
    scheduler,
    server,
    home,
    databaseUrl: database.url,
    /** Rejects with what the command throws. */
    typed: async (...words: readonly string[]): Promise<Said> => await typed([...words, "--server", server]),
    start,
    run: async (...words: readonly string[]): Promise<Said> => await start(words).end,
    close: async () => {
      await api.close();
      await scheduler.close();
      await database.drop();
      await rm(home, { recursive: true, force: true });
    },
  };
}

async function typed(words: readonly string[]): Promise<Said> {
  const said: string[] = [];
  const noted: string[] = [];
  let exitCode: number = EXIT.ok;
  const output = {
    look: PLAIN_LOOK,
    data: (line: string) => said.push(line),
    note: (line: string) => noted.push(line),
    whenClosed: () => {},
  };
  const program = createProgram(output, true, (code) => {
    exitCode = code;
  });
  await program.parseAsync([...expandJson(words)], { from: "user" });
  return { said: said.join("\n"), noted: noted.join("\n"), exitCode };
}

/** Of compiled code, as a release runs it: `npm run build` before. */
function startProcess(words: readonly string[], env: Record<string, string>, cwd: string): RunningProcess {
  const { FORCE_COLOR: _, NO_COLOR: __, CI: ___, ...inherited } = ownEnvironment;
  const child = spawn(process.execPath, [MAIN, ...words], {
    cwd,
    env: { ...inherited, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [said, noted] = ["", ""];
  const waiting = new Set<() => void>();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    for (const look of waiting) look();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    noted += text;
  });
  const end = new Promise<Said>((resolve) => {
    child.once("close", (code) => resolve({ said, noted, exitCode: code ?? -1 }));
  });
  const sees = async (text: string): Promise<void> =>
    await new Promise((resolve, reject) => {
      const look = (): void => {
        if (!said.includes(text)) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
      void end.then(() => reject(new Error(`It ended without "${text}": ${said}${noted}`)));
    });
  return { sees, interrupt: () => void child.kill("SIGINT"), end };
}
