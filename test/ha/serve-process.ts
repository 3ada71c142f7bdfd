/** `signalbox serve` and other commands as real processes, of compiled code. */

import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../packages/server/dist/cli/main.js", import.meta.url));
const TASKS = fileURLToPath(new URL("./serve-tasks.mjs", import.meta.url));
const WITHIN_MS = 50_000;

export const TOKEN = "correct-horse-battery-staple";

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Command {
  readonly ended: Promise<Ended>;
  readonly stderr: () => string;
  kill(signal: NodeJS.Signals): void;
  /** Resolves when it is on stderr. */
  says(text: string): Promise<void>;
}

export type Environment = Readonly<Record<string, string>>;

/** With nothing of the environment of the tests. */
export function startCommand(words: readonly string[], env: Environment): Command {
  const child = spawn(process.execPath, [MAIN, ...words], {
    env: { NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  const watchers = new Set<() => void>();
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
    for (const look of watchers) look();
  });
  const ended = new Promise<Ended>((resolve) => {
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
  const says = async (text: string): Promise<void> => {
    await new Promise<void>((resolve, reject) => {
      const fail = (why: string): void => reject(new Error(`${why} before it said ${text}: ${stderr}`));
      const timer = setTimeout(() => fail("Time is up"), WITHIN_MS);
      const look = (): void => {
        if (!stderr.includes(text)) return;
        clearTimeout(timer);
        watchers.delete(look);
        resolve();
      };
      watchers.add(look);
      void ended.then(({ code }) => fail(`It ended with ${code}`));
      look();
    });
  };
  return { ended, stderr: () => stderr, kill: (signal) => void child.kill(signal), says };
}

export interface Server extends Command {
  readonly url: string;
  readonly port: number;
  readonly ask: (path: string, request?: Request) => Promise<Answer>;
}

interface Request {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Answer {
  readonly status: number;
  readonly json: unknown;
}

/** With a token and tasks; answers when it serves. */
export async function startServer(
  databaseUrl: string,
  {
    words = [],
    env = {},
    tasks = true,
  }: { words?: readonly string[]; env?: Environment; tasks?: boolean } = {},
): Promise<Server> {
  const port = await freePort();
  const command = startCommand(
    ["serve", "--port", String(port), ...(tasks ? ["--tasks", TASKS] : []), ...words],
    { DATABASE_URL: databaseUrl, SIGNALBOX_TOKEN: TOKEN, ...env },
  );
  const url = `http://127.0.0.1:${port}`;
  await command.says('"instance.joined"');
  return { ...command, url, port, ask: async (path, request) => await ask(`${url}${path}`, request) };
}

async function ask(url: string, { headers, ...request }: Request = {}): Promise<Answer> {
  const response = await fetch(url, {
    ...request,
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", ...headers },
    signal: AbortSignal.timeout(WITHIN_MS),
  });
  return { status: response.status, json: await response.json() };
}

/** Free a moment ago. */
export async function freePort(): Promise<number> {
  return await new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
