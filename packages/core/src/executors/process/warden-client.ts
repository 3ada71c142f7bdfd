/** A running warden, seen from its instance. */

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { endOrphans } from "./end-orphans.ts";
import { forkerCommand, PERL } from "./fork-by-perl.ts";
import { type FrozenWatch, PATIENCE, type Patience, watchForFrozen } from "./frozen-watch.ts";
import { type ProcessSpec, type RunningProcess, WardenLostError } from "./running-process.ts";
import { START_MARK } from "./start-mark.ts";
import { startWarden } from "./start-warden.ts";
import { commandLine, killWithChildren, signalGroup } from "./system-processes.ts";
import { type Child, finish, newChild, readOutput, withResolvers } from "./warden-child.ts";
import { lastWordsIn } from "./warden-folder.ts";
import {
  BEAT_SOCKET,
  type FromWarden,
  LIFELINE_FD,
  OUTPUT_SOCKET,
  readLines,
  type StartMessage,
  sayTogether,
  type ToWarden,
} from "./warden-messages.ts";

export interface Warden {
  readonly folder: string;
  readonly beatSocket: string;
  start(
    id: string,
    spec: ProcessSpec,
    watch: Pick<StartMessage, "lease" | "deadline">,
  ): Promise<RunningProcess>;
  /** Also one that was not told of yet: it may hang before it is a program. */
  stop(id: string, graceMs: number): void;
  /** Ends it when its last process has ended. */
  retire(): void;
  close(): Promise<void>;
}

const CLOSE_PATIENCE_MS = 10_000;

/** `onLost` is called once when the warden has ended, whatever the reason. */
export async function openWarden(
  folder: string,
  onLost: () => void,
  patience: Patience = PATIENCE,
  perl: string = PERL,
): Promise<Warden> {
  const children = new Map<string, Child>();
  const { server, warden } = await startOrTidyUp(folder, perl, children);
  const lifeline = warden.stdio[LIFELINE_FD] as Socket;
  const send = sayTogether<ToWarden>((text) => void lifeline.write(text));
  const ready = withResolvers<void>();
  const gone = new Promise<void>((resolve) => {
    const lose = (why: string): void => {
      ready.reject(notStarted(why));
      frozen.end();
      server.close();
      onLost();
      endLeftBy(warden, children, perl, folder).then(resolve, resolve);
    };
    warden.once("exit", (code, signal) => lose(lastWordsIn(folder) || `It ended with ${signal ?? code}`));
  });
  // What could not be written or signalled is told by the exit.
  warden.on("error", () => {});
  lifeline.on("error", () => {});
  // Whoever waits for a frozen one waits for ever: the instance ends its groups then, and the next process gets a new one.
  const frozen = watchForFrozen(
    () => send({ kind: "ask" }),
    () => killWithChildren(warden),
    patience,
  );
  lifeline.setEncoding("utf8").on(
    "data",
    readLines<FromWarden>((message) => {
      frozen.heard();
      if (message.kind === "ready") ready.resolve();
      else hear(message, children, send, frozen.askUnless);
    }),
  );
  frozen.askUnless(ready.promise, patience.beginMs);
  await ready.promise;
  return {
    folder,
    beatSocket: join(folder, BEAT_SOCKET),
    start: async (id, spec, { lease, deadline }) => {
      if (warden.exitCode !== null || warden.signalCode !== null) throw new WardenLostError();
      // Of what prints no more the end should be known soon.
      const child = newChild(spec, () => frozen.askUnless(child.ended.promise, 0));
      children.set(id, child);
      send({ kind: "start", id, lease, deadline, ...marked(spec, id) });
      frozen.askUnless(child.started.promise, 0);
      return await child.started.promise;
    },
    stop: (id, graceMs) => send({ kind: "stop", id, graceMs }),
    retire: () => void endsOf(children).then(() => lifeline.end()),
    close: async () => {
      lifeline.end();
      await Promise.race([gone, wait(CLOSE_PATIENCE_MS, undefined, { ref: false })]);
      for (const { outputs } of children.values()) for (const output of outputs) output.destroy();
      server.close();
    },
  };
}

function marked(
  { argv, cwd, env, stdinFile, graceMs }: ProcessSpec,
  id: string,
): Pick<StartMessage, "argv" | "cwd" | "env" | "stdinFile" | "graceMs"> {
  return { argv, cwd, env: { ...env, [START_MARK]: id }, stdinFile: stdinFile ?? null, graceMs };
}

async function endsOf(children: ReadonlyMap<string, Child>): Promise<void> {
  const ends = [...children.values()].map(async ({ started, ended }) => {
    await started.promise;
    await ended.promise;
  });
  await Promise.allSettled(ends);
}

async function startOrTidyUp(
  folder: string,
  perl: string,
  children: ReadonlyMap<string, Child>,
): Promise<{ readonly server: Server; readonly warden: ChildProcess }> {
  let server: Server | null = null;
  try {
    server = await listen(join(folder, OUTPUT_SOCKET), children);
    return { server, warden: await startWarden(folder, perl) };
  } catch (error) {
    server?.close();
    await remove(folder);
    throw notStarted((error as Error).message);
  }
}

async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

async function endLeftBy(
  { pid, spawnargs }: ChildProcess,
  children: Map<string, Child>,
  perl: string,
  folder: string,
): Promise<void> {
  // Who forks for it is of its group, and must not begin any more what it was asked for.
  if (pid !== undefined) signalGroup(pid, "SIGKILL");
  await endOrphans(children, new Set([spawnargs, forkerCommand(perl, folder)].map(commandLine)));
  // It removes its folder itself, unless it was killed.
  await remove(folder);
}

function notStarted(why: string): Error {
  return new Error(`The warden could not be started: ${why}`);
}

function hear(
  message: Exclude<FromWarden, { kind: "ready" }>,
  children: Map<string, Child>,
  send: (message: ToWarden) => void,
  askUnless: FrozenWatch["askUnless"],
): void {
  const { id } = message;
  const child = children.get(id);
  if (child === undefined) return;
  if (message.kind === "started") {
    const { pid, startTime } = message;
    child.pid = pid;
    const stop = (graceMs: number): void => {
      send({ kind: "stop", id, graceMs });
      askUnless(child.ended.promise, graceMs);
    };
    child.started.resolve({ pid, startTime, ended: child.ended.promise, stop });
  } else if (message.kind === "not_started") {
    children.delete(id);
    child.started.reject(new Error(message.message));
  } else {
    const { exitCode, signal, because, told } = message;
    finish(children, id, { exitCode, signal, because, told });
  }
}

/** Each output is a connection of its own that begins with a line: whose it is, and which. */
async function listen(path: string, children: ReadonlyMap<string, Child>): Promise<Server> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    let head = Buffer.alloc(0);
    const readHead = (piece: Buffer): void => {
      head = Buffer.concat([head, piece]);
      const end = head.indexOf("\n");
      if (end < 0) return;
      socket.off("data", readHead);
      const [id = "", stream] = head.toString("latin1", 0, end).split(" ");
      const child = children.get(id);
      if (child === undefined || (stream !== "stdout" && stream !== "stderr")) socket.destroy();
      else readOutput(socket, child, stream, head.subarray(end + 1));
    };
    socket.on("data", readHead);
  });
  server.listen(path);
  await once(server, "listening");
  // A connection that could not be taken (no more files) is the child's trouble, not the instance's.
  server.on("error", () => {});
  return server;
}
