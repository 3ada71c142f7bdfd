/**
 * A small process beside each instance that runs processes: it starts them, each in a group of its own, and ends
 * the groups when they ran for too long, the instance is gone or its lease is about to end. It needs neither the instance's event loop nor
 * its goodwill: an instance that is killed, frozen or blocked leaves nothing running. Knows nothing of the database.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, openSync, rmSync } from "node:fs";
import { connect, createServer, Socket } from "node:net";
import { join } from "node:path";
import { monotonicMs } from "../monotonic.ts";
import { isTooLate, nextAct, type WatchedGroup } from "./group-watch.ts";
import type { ProcessEnd } from "./running-process.ts";
import { livingGroups, signalGroup, startTimeOf } from "./system-processes.ts";
import {
  BEAT_SOCKET,
  type FromWarden,
  type LeaseBeat,
  LIFELINE_FD,
  OUTPUT_SOCKET,
  readLines,
  type StartMessage,
  sayTogether,
  type ToWarden,
  type WardenCause,
} from "./warden-messages.ts";

interface Group extends WatchedGroup {
  readonly id: string;
  readonly pid: number;
  readonly life: string;
  graceMs: number;
  termSentAtMs: number | null;
  killSent: boolean;
  exit: Pick<ProcessEnd, "exitCode" | "signal" | "told"> | null;
  because: WardenCause | null;
}

/** How often a group that is to end is looked at. */
const LOOK_MS = 10;
const LOOK_AGAIN_MS = 100;
/** Nobody waits for what an instance left behind, and somebody may soon begin it anew. */
const ORPHAN_GRACE_MS = 1_000;

const [, , folder = ""] = process.argv;
const leases = new Map<string, LeaseBeat>();
const groups = new Map<string, Group>();
let instanceGone = false;
let timer: NodeJS.Timeout | null = null;
let lookingSoon: NodeJS.Immediate | undefined;

// A terminal or a service manager that ends everything at once must not end the watch before the watched.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => {});

// Whatever goes wrong with one group, the others must still be watched. One that watches over none is of no use then.
process.on("uncaughtException", (error) => {
  if (groups.size === 0) {
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
  timer ??= setTimeout(look, LOOK_AGAIN_MS);
});

// Nobody reads its stacks, and that a group is gone the system says with an error.
Error.stackTraceLimit = 0;

// Not a standard stream: writing to those would wait for an instance that is frozen.
const lifeline = new Socket({ fd: LIFELINE_FD });
const tell = sayTogether<FromWarden>((text) => {
  if (!instanceGone) lifeline.write(text);
});
lifeline
  .setEncoding("utf8")
  .on("data", readLines(obey))
  .on("end", endAll)
  .on("error", endAll)
  .on("close", endAll);
createServer((socket) =>
  socket
    .setEncoding("utf8")
    .on("data", readLines(learn))
    .on("error", () => {}),
)
  .listen(join(folder, BEAT_SOCKET), () => tell({ kind: "ready" }))
  .unref();

function obey(message: ToWarden): void {
  if (message.kind === "ask") return tell({ kind: "ready" });
  if (message.kind === "start") {
    learn(message.lease);
    void begin(message);
    return;
  }
  const group = groups.get(message.id);
  if (group === undefined) return;
  group.graceMs = message.graceMs;
  terminate(group);
  lookSoon();
}

/** Beats come by two ways; the newest counts. */
function learn(beat: LeaseBeat): void {
  const known = leases.get(beat.life);
  if (known === undefined || known.renewedAtMs < beat.renewedAtMs) leases.set(beat.life, beat);
}

async function begin(start: StartMessage): Promise<void> {
  const { id } = start;
  let outputs: readonly Socket[] = [];
  try {
    outputs = await Promise.all([openOutput(id, "stdout"), openOutput(id, "stderr")]);
    const child = spawnGroup(start, outputs);
    const pid = await pidOf(child);
    watch(child, pid, start);
  } catch (error) {
    tell({ kind: "not_started", id, message: whyNot(error, start) });
  } finally {
    // The child has its own copy of each; ours would keep them open.
    for (const output of outputs) output.destroy();
  }
}

function whyNot(error: unknown, { cwd }: StartMessage): string {
  // Of a folder that is not there the system says the same as of a program.
  if (!existsSync(cwd)) return `There is no folder ${cwd} (ENOENT)`;
  return error instanceof Error ? error.message : String(error);
}

/** A direct way from the child to the instance: what it prints does not pass through here. */
async function openOutput(id: string, stream: "stdout" | "stderr"): Promise<Socket> {
  return await new Promise((resolve, reject) => {
    const socket = connect(join(folder, OUTPUT_SOCKET));
    socket.once("error", reject);
    socket.write(`${id} ${stream}\n`, () => resolve(socket));
  });
}

function spawnGroup(
  { argv, cwd, env, stdinFile, lease }: StartMessage,
  outputs: readonly Socket[],
): ChildProcess {
  if (instanceGone) throw new Error("The instance is gone");
  if (isTooLate(leases.get(lease.life) ?? lease, monotonicMs())) throw new Error("The lease is about to end");
  const [command = "", ...args] = argv;
  const stdin = stdinFile === null ? null : openSync(stdinFile, "r");
  try {
    return spawn(command, args, { cwd, env, detached: true, stdio: [stdin ?? "ignore", ...outputs] });
  } finally {
    if (stdin !== null) closeSync(stdin);
  }
}

/** Known at once where it was started; otherwise the reason comes as an event. */
async function pidOf(child: ChildProcess): Promise<number> {
  if (child.pid !== undefined) return child.pid;
  return await new Promise((_, reject) => child.once("error", reject));
}

function watch(child: ChildProcess, pid: number, { id, lease, graceMs, deadline }: StartMessage): void {
  const group: Group = {
    id,
    pid,
    life: lease.life,
    graceMs,
    deadlineAtMs: deadline?.atMs ?? Number.POSITIVE_INFINITY,
    deadlineGraceMs: deadline?.graceMs ?? graceMs,
    termSentAtMs: null,
    killSent: false,
    exit: null,
    because: null,
  };
  groups.set(id, group);
  child.once("error", () => {});
  child.once("exit", (exitCode, signal) => {
    group.exit = { exitCode, signal, told: group.termSentAtMs !== null };
    lookSoon();
  });
  tell({ kind: "started", id, pid, startTime: startTimeOf(pid) });
  lookSoon();
}

function terminate(group: Group): void {
  if (group.termSentAtMs !== null) return;
  group.termSentAtMs = monotonicMs();
  signalGroup(group.pid, "SIGTERM");
  // One that is stopped hears nothing else.
  signalGroup(group.pid, "SIGCONT");
}

/** Once for all that begins and ends in one turn. */
function lookSoon(): void {
  lookingSoon ??= setImmediate(look);
}

/** Does to every group what is due, forgets those that are gone, and comes back when the next thing is due. */
function look(): void {
  if (timer !== null) clearTimeout(timer);
  timer = null;
  clearImmediate(lookingSoon);
  lookingSoon = undefined;
  forgetEnded();
  const nowMs = monotonicMs();
  let nextAtMs = Number.POSITIVE_INFINITY;
  for (const group of groups.values()) {
    const dueAtMs = act(group, nowMs);
    // Of a group that is about to end nobody tells; one has to look.
    const isEnding = group.termSentAtMs !== null || group.exit !== null;
    nextAtMs = Math.min(nextAtMs, dueAtMs, isEnding ? nowMs + LOOK_MS : Infinity);
  }
  if (groups.size > 0) timer = setTimeout(look, Math.max(1, Math.ceil(nextAtMs - monotonicMs())));
  else if (instanceGone) leave();
}

/** Answers when the next thing is due. */
function act(group: Group, nowMs: number): number {
  const due = nextAct(group, leaseOf(group), nowMs);
  if (due.act === null) return due.atMs ?? Number.POSITIVE_INFINITY;
  if (due.act === "term") {
    group.because = due.because;
    terminate(group);
  } else {
    group.killSent = true;
    signalGroup(group.pid, "SIGKILL");
  }
  return act(group, nowMs);
}

function leaseOf({ life }: Group): LeaseBeat {
  const beat = leases.get(life);
  if (beat === undefined) throw new Error("A group was started without a lease");
  return beat;
}

/** The first process of a group is its task: what it left behind in the group has to go too. */
function forgetEnded(): void {
  const exited = [...groups.values()].flatMap((group) =>
    group.exit === null ? [] : [{ group, exit: group.exit }],
  );
  if (exited.length === 0) return;
  const living = livingGroups(exited.map(({ group }) => group.pid));
  for (const { group, exit } of exited) {
    if (living.has(group.pid)) {
      terminate(group);
    } else {
      groups.delete(group.id);
      tell({ kind: "ended", id: group.id, ...exit, because: group.because });
    }
  }
  const inUse = new Set([...groups.values()].map(({ life }) => life));
  for (const [life, beat] of leases) {
    if (!inUse.has(life) && isTooLate(beat, monotonicMs())) leases.delete(life);
  }
}

/** The instance is gone: killed, or stopped and done. */
function endAll(): void {
  instanceGone = true;
  for (const group of groups.values()) {
    group.graceMs = Math.min(group.graceMs, ORPHAN_GRACE_MS);
    terminate(group);
  }
  look();
}

function leave(): void {
  rmSync(folder, { recursive: true, force: true });
  process.exit();
}
