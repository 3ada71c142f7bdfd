/** A running warden, seen from its instance. */

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type FrozenWatch, PATIENCE, type Patience, watchForFrozen } from "./frozen-watch.ts";
import {
  type ProcessEnd,
  type ProcessSpec,
  type RunningProcess,
  WardenLostError,
} from "./running-process.ts";
import { startWarden } from "./start-warden.ts";
import { killWithChildren, livingGroups, signalGroup } from "./system-processes.ts";
import { lastWordsIn } from "./warden-folder.ts";
import {
  BEAT_SOCKET,
  type FromWarden,
  LIFELINE_FD,
  line,
  OUTPUT_SOCKET,
  readLines,
  type StartMessage,
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
  /** Ends it when its last process has ended. */
  retire(): void;
  close(): Promise<void>;
}

/** One process: from the request until everything it printed has been read. */
interface Child {
  readonly spec: ProcessSpec;
  /** Neither it nor what it started prints any more. */
  readonly onSilent: () => void;
  readonly outputs: Set<Socket>;
  pid: number | null;
  /** How many of its two outputs have been read to their end. */
  closedOutputs: number;
  readonly started: PromiseWithResolvers<RunningProcess>;
  readonly ended: PromiseWithResolvers<ProcessEnd>;
  end: ProcessEnd | null;
}

interface PromiseWithResolvers<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: Error) => void;
}

/** What escaped from the group may keep an output open for ever. What was printed before the end is read much sooner. */
const READ_REST_MS = 1_000;
const CLOSE_PATIENCE_MS = 10_000;
const LOOK_MS = 10;

/** `onLost` is called once when the warden has ended, whatever the reason. */
export async function openWarden(
  folder: string,
  onLost: () => void,
  patience: Patience = PATIENCE,
): Promise<Warden> {
  const children = new Map<string, Child>();
  const { server, warden } = await startOrTidyUp(folder, children);
  const lifeline = warden.stdio[LIFELINE_FD] as Socket;
  const send = (message: ToWarden): void => void lifeline.write(line(message));
  const ready = withResolvers<void>();
  const gone = new Promise<void>((resolve) => {
    const lose = (why: string): void => {
      ready.reject(notStarted(why));
      frozen.end();
      server.close();
      onLost();
      // It removes its folder itself, unless it was killed.
      endOrphans(children)
        .then(async () => await remove(folder))
        .then(resolve, resolve);
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
      const { argv, cwd, env, stdinFile = null, graceMs } = spec;
      send({ kind: "start", id, lease, deadline, argv, cwd, env, stdinFile, graceMs });
      frozen.askUnless(child.started.promise, 0);
      return await child.started.promise;
    },
    retire: () => void endsOf(children).then(() => lifeline.end()),
    close: async () => {
      lifeline.end();
      await Promise.race([gone, wait(CLOSE_PATIENCE_MS, undefined, { ref: false })]);
      for (const { outputs } of children.values()) for (const output of outputs) output.destroy();
      server.close();
    },
  };
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
  children: ReadonlyMap<string, Child>,
): Promise<{ readonly server: Server; readonly warden: ChildProcess }> {
  let server: Server | null = null;
  try {
    server = await listen(join(folder, OUTPUT_SOCKET), children);
    return { server, warden: await startWarden(folder) };
  } catch (error) {
    server?.close();
    await remove(folder);
    throw notStarted((error as Error).message);
  }
}

async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
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

/** The group is gone; what it printed may still be on its way. */
function finish(children: Map<string, Child>, id: string, end: ProcessEnd): void {
  const child = children.get(id);
  if (child === undefined) return;
  child.end = end;
  if (child.closedOutputs < 2) {
    const giveUp = setTimeout(() => {
      for (const output of child.outputs) output.destroy();
      child.ended.resolve(end);
    }, READ_REST_MS);
    void child.ended.promise.then(() => clearTimeout(giveUp));
  } else {
    child.ended.resolve(end);
  }
  void child.ended.promise.then(() => children.delete(id));
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

function readOutput(socket: Socket, child: Child, stream: "stdout" | "stderr", first: Buffer): void {
  const { onOutput } = child.spec;
  child.outputs.add(socket);
  const begin = (): void => {
    if (first.length > 0) onOutput(stream, first);
    socket.on("data", (bytes) => onOutput(stream, bytes)).resume();
  };
  // Output and answer come by different ways. Whoever waits for the answer has it before the first output, a turn later.
  socket.pause();
  child.started.promise.then(
    () => setImmediate(begin),
    () => socket.destroy(),
  );
  socket.once("close", () => {
    child.outputs.delete(socket);
    child.closedOutputs += 1;
    if (child.closedOutputs < 2) return;
    if (child.end === null) child.onSilent();
    else child.ended.resolve(child.end);
  });
}

/** The warden is lost: nobody else knows its groups now. Each ends by itself, so that none waits for another. */
async function endOrphans(children: Map<string, Child>): Promise<void> {
  const known = new Map<string, number>();
  for (const [id, { pid, started, end }] of children) {
    if (pid === null) {
      children.delete(id);
      started.reject(new WardenLostError());
    } else if (end === null) {
      known.set(id, pid);
      signalGroup(pid, "SIGKILL");
    }
  }
  while (known.size > 0) {
    const living = livingGroups([...known.values()]);
    for (const [id, pid] of known) {
      if (living.has(pid)) continue;
      known.delete(id);
      finish(children, id, { exitCode: null, signal: null, because: "warden_lost", told: true });
    }
    if (known.size > 0) await wait(LOOK_MS);
  }
}

function newChild(spec: ProcessSpec, onSilent: () => void): Child {
  return {
    spec,
    onSilent,
    outputs: new Set(),
    pid: null,
    closedOutputs: 0,
    started: withResolvers(),
    ended: withResolvers(),
    end: null,
  };
}

function withResolvers<Value>(): PromiseWithResolvers<Value> {
  let resolve: (value: Value) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<Value>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
