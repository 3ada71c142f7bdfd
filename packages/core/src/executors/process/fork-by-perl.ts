/** The forker as a process of its own: `forker.pl`, as the warden knows it. */

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { getSystemErrorName } from "node:util";
import type { Begun, Forker } from "./forker.ts";
import { readLines, type StartMessage } from "./warden-messages.ts";

/** Never looked for along a PATH: whoever can write there could run anything as this user. */
export const PERL = "/usr/bin/perl";

/** One that has not answered by then does not do. */
const BEGIN_MS = 5_000;

const FILE = fileURLToPath(new URL("../../../forker/forker.pl", import.meta.url));

type FromForker =
  | { readonly kind: "ready" }
  | { readonly kind: "forked"; readonly id: string; readonly pid: number }
  | {
      readonly kind: "started";
      readonly id: string;
      readonly pid: number;
      readonly startTime: string;
    }
  | { readonly kind: "failed"; readonly id: string; readonly at: string; readonly errno: number }
  | { readonly kind: "exited"; readonly pid: number; readonly exitCode: number; readonly signal: number };

interface Asked {
  readonly start: StartMessage;
  readonly onForked: (pid: number) => void;
  readonly resolve: (begun: Begun) => void;
  readonly reject: (error: Error) => void;
}

type OnExit = (exit: Awaited<Begun["exited"]>) => void;

/** Its command line, which a child has too until it becomes a program of its own. */
export function forkerCommand(perl: string, folder: string): readonly [string, ...string[]] {
  return [perl, FILE, folder];
}

/** Null where there is no Perl, or one that does not do: it ends, or says nothing. `onLost` is called when it has ended after it had begun. */
export async function openPerlForker(
  perl: string,
  folder: string,
  onLost: () => void,
): Promise<Forker | null> {
  if (!existsSync(perl)) return null;
  const [command, ...args] = forkerCommand(perl, folder);
  // In the group of the warden: who ends that ends both.
  const child = spawn(command, args, { cwd: "/", env: {}, stdio: ["pipe", "pipe", "inherit"] });
  const talk = talkTo(child);
  const gone = new Promise<"gone">((resolve) => {
    child.once("exit", () => resolve("gone"));
    child.once("error", () => resolve("gone"));
  });
  const late = wait(BEGIN_MS, "gone" as const, { ref: false });
  if ((await Promise.race([talk.answered(), gone, late])) === "gone") {
    child.kill("SIGKILL");
    return null;
  }
  void gone.then(onLost);
  return {
    begin: async (start, { requireWanted, onForked }) => {
      requireWanted();
      return await talk.begin(start, onForked);
    },
    answers: async () => {
      talk.send([]);
      await talk.answered();
    },
    kill: () => void child.kill("SIGKILL"),
  };
}

function talkTo({ stdin, stdout }: ChildProcessByStdio<Writable, Readable, null>): {
  readonly send: (parts: readonly string[]) => void;
  readonly begin: (start: StartMessage, onForked: (pid: number) => void) => Promise<Begun>;
  readonly answered: () => Promise<void>;
} {
  const asked = new Map<string, Asked>();
  const running = new Map<number, OnExit>();
  let onAnswer: (() => void)[] = [];
  const send = (parts: readonly string[]): void => {
    // What is asked for in one turn goes out in one write.
    if (stdin.writableCorked === 0) {
      stdin.cork();
      process.nextTick(() => stdin.uncork());
    }
    stdin.write(framed(parts));
  };
  // What could not be written is told by its exit.
  stdin.on("error", () => {});
  stdout.setEncoding("utf8").on(
    "data",
    readLines<FromForker>((message) => {
      if (message.kind === "ready") {
        const told = onAnswer;
        onAnswer = [];
        for (const tell of told) tell();
      } else if (message.kind === "exited") {
        running.get(message.pid)?.(exitOf(message));
        running.delete(message.pid);
      } else if (message.kind === "forked") {
        asked.get(message.id)?.onForked(message.pid);
      } else {
        const one = asked.get(message.id);
        asked.delete(message.id);
        if (message.kind === "failed") one?.reject(notStarted(message, one.start));
        else one?.resolve(begun(message, running));
      }
    }),
  );
  return {
    send,
    begin: async (start, onForked) =>
      await new Promise((resolve, reject) => {
        asked.set(start.id, { start, onForked, resolve, reject });
        send(partsOf(start));
      }),
    answered: async () => await new Promise((resolve) => onAnswer.push(resolve)),
  };
}

function begun(
  { pid, startTime }: Extract<FromForker, { kind: "started" }>,
  running: Map<number, OnExit>,
): Begun {
  const exited = new Promise<Awaited<Begun["exited"]>>((resolve) => running.set(pid, resolve));
  return { pid, startTime: startTime === "" ? null : startTime, exited };
}

function exitOf({ exitCode, signal }: Extract<FromForker, { kind: "exited" }>): Awaited<Begun["exited"]> {
  return signal === 0 ? { exitCode, signal: null } : { exitCode: null, signal: nameOf(signal) };
}

function nameOf(signal: number): NodeJS.Signals {
  const names = Object.entries(constants.signals) as [NodeJS.Signals, number][];
  return names.find(([, number]) => number === signal)?.[0] ?? (`SIG${signal}` as NodeJS.Signals);
}

/** In the words that `child_process` would have used. */
function notStarted({ at, errno }: Extract<FromForker, { kind: "failed" }>, { argv }: StartMessage): Error {
  const what = at === "spawn" ? `spawn ${argv[0]}` : at;
  return new Error(`${what} ${errno > 0 ? getSystemErrorName(-errno) : "failed"}`);
}

function partsOf({ id, cwd, stdinFile, argv, env }: StartMessage): readonly string[] {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return [id, cwd, stdinFile ?? "/dev/null", String(argv.length), ...argv, ...variables];
}

/** None of them has a NUL in it: the system could take none that has. */
export function framed(parts: readonly string[]): Buffer {
  const text = parts.join("\0");
  const bytes = Buffer.allocUnsafe(4 + Buffer.byteLength(text));
  bytes.writeUInt32BE(bytes.length - 4);
  bytes.write(text, 4);
  return bytes;
}
