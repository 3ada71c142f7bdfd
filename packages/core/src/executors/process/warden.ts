/**
 * A small process beside each instance that runs processes: it starts them, each in a group of its own, and ends
 * the groups when they ran for too long, the instance is gone or its lease is about to end. It needs neither the instance's event loop nor
 * its goodwill: an instance that is killed, frozen or blocked leaves nothing running. Knows nothing of the database.
 */

import { existsSync, rmSync } from "node:fs";
import { createServer, Socket } from "node:net";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { monotonicMs } from "../monotonic.ts";
import { endLeftBehind } from "./end-left-behind.ts";
import { forkerCommand } from "./fork-by-perl.ts";
import { isTooLate, nextAct, type WatchedGroup } from "./group-watch.ts";
import { openForker } from "./open-forker.ts";
import type { ProcessEnd } from "./running-process.ts";
import { commandLine, livingGroups, signalGroup } from "./system-processes.ts";
import {
  BEAT_SOCKET,
  type FromWarden,
  type LeaseBeat,
  LIFELINE_FD,
  readLines,
  type StartMessage,
  sayTogether,
  type ToWarden,
  type WardenCause,
} from "./warden-messages.ts";

interface Group extends WatchedGroup {
  readonly id: string;
  readonly life: string;
  /** Null as long as nobody has said that it was forked. */
  pid: number | null;
  /** It has become its program, and leads its group. */
  isStarted: boolean;
  graceMs: number;
  isToEnd: boolean;
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

const [, , folder = "", perl = ""] = process.argv;
const forker = openForker(folder, perl, endWithForker);
const leases = new Map<string, LeaseBeat>();
const groups = new Map<string, Group>();
let instanceGone = false;
let forkerGone = false;
let timer: NodeJS.Timeout | null = null;
/** When the timer is due, by monotonic time. */
let lookAtMs = Number.POSITIVE_INFINITY;
let lookingSoon: NodeJS.Immediate | undefined;

// A terminal or a service manager that ends everything at once must not end the watch before the watched.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => {});

// Whatever goes wrong with one group, the others must still be watched. One that watches over none is of no use then.
process.on("uncaughtException", (error) => {
  if (groups.size === 0) {
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
  lookBy(monotonicMs() + LOOK_AGAIN_MS);
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
  .listen(join(folder, BEAT_SOCKET), () => void forker.then(() => tell({ kind: "ready" })))
  .unref();

function obey(message: ToWarden): void {
  if (message.kind === "ask") {
    // Who cannot fork is of no more use than who is not there.
    void forker.then(async ({ answers }) => await answers()).then(() => tell({ kind: "ready" }));
  } else if (message.kind === "start") {
    learn(message.lease);
    void begin(message);
  } else {
    const group = groups.get(message.id);
    if (group === undefined) return;
    group.graceMs = message.graceMs;
    group.isToEnd = true;
    lookSoon();
  }
}

/** Beats come by two ways; the newest counts. */
function learn(beat: LeaseBeat): void {
  const known = leases.get(beat.life);
  if (known === undefined || known.renewedAtMs < beat.renewedAtMs) leases.set(beat.life, beat);
}

async function begin(start: StartMessage): Promise<void> {
  // Then nobody answers any more, and the instance takes it for lost when this one has gone.
  if (forkerGone) return;
  const { id } = start;
  const group = watch(start);
  try {
    const { begin: fork } = await forker;
    const { pid, startTime, exited } = await fork(start, {
      requireWanted: () => requireWanted(start),
      onForked: (child) => {
        group.pid = child;
      },
    });
    group.pid = pid;
    group.isStarted = true;
    tell({ kind: "started", id, pid, startTime });
    // What it was sent before it was a program, or led its group, it may not have heard.
    if (group.termSentAtMs !== null) sendTerm(pid);
    void exited.then((exit) => {
      group.exit = { ...exit, told: group.termSentAtMs !== null };
      lookSoon();
    });
  } catch (error) {
    groups.delete(id);
    tell({ kind: "not_started", id, message: whyNot(error, start) });
  }
  lookSoon();
}

function watch({ id, lease, graceMs, deadline }: StartMessage): Group {
  const group: Group = {
    id,
    life: lease.life,
    pid: null,
    isStarted: false,
    graceMs,
    deadlineAtMs: deadline?.atMs ?? Number.POSITIVE_INFINITY,
    deadlineGraceMs: deadline?.graceMs ?? graceMs,
    isToEnd: false,
    termSentAtMs: null,
    killSent: false,
    exit: null,
    because: null,
  };
  groups.set(id, group);
  // It may never come to more than this: nobody else would look after its lease and its deadline.
  const due = nextAct(group, leaseOf(group), monotonicMs());
  lookBy(due.act === null && due.atMs !== null ? due.atMs : monotonicMs());
  return group;
}

function requireWanted({ lease }: StartMessage): void {
  if (instanceGone) throw new Error("The instance is gone");
  if (isTooLate(leases.get(lease.life) ?? lease, monotonicMs())) throw new Error("The lease is about to end");
}

function whyNot(error: unknown, { cwd }: StartMessage): string {
  // Of a folder that is not there the system says the same as of a program.
  if (!existsSync(cwd)) return `There is no folder ${cwd} (ENOENT)`;
  return error instanceof Error ? error.message : String(error);
}

function terminate(group: Group): void {
  if (group.termSentAtMs !== null) return;
  group.termSentAtMs = monotonicMs();
  if (group.pid !== null) sendTerm(group.pid);
}

function sendTerm(groupId: number): void {
  signalGroup(groupId, "SIGTERM");
  // One that is stopped hears nothing else.
  signalGroup(groupId, "SIGCONT");
}

/**
 * Once for all that begins and ends in one turn, and after everything that lies ready was read: the id of a process that the
 * forker has collected while this one stood still may be somebody else's by now.
 */
function lookSoon(): void {
  lookingSoon ??= setImmediate(look);
}

/** Does to every group what is due, forgets those that are gone, and comes back when the next thing is due. */
function look(): void {
  if (timer !== null) clearTimeout(timer);
  timer = null;
  lookAtMs = Number.POSITIVE_INFINITY;
  lookingSoon = undefined;
  if (forkerGone) return;
  forgetEnded();
  const nowMs = monotonicMs();
  let nextAtMs = Number.POSITIVE_INFINITY;
  for (const group of groups.values()) {
    if (group.isToEnd) terminate(group);
    const dueAtMs = act(group, nowMs);
    // Of a group that is about to end nobody tells; one has to look.
    const isEnding = group.termSentAtMs !== null || group.exit !== null;
    nextAtMs = Math.min(nextAtMs, dueAtMs, isEnding ? nowMs + LOOK_MS : Infinity);
  }
  if (groups.size > 0) lookBy(nextAtMs);
  else if (instanceGone) leave();
}

/** At the latest then. */
function lookBy(atMs: number): void {
  if (atMs >= lookAtMs) return;
  if (timer !== null) clearTimeout(timer);
  lookAtMs = atMs;
  timer = setTimeout(lookSoon, Math.max(1, Math.ceil(atMs - monotonicMs())));
}

/** Answers when the next thing is due. */
function act(group: Group, nowMs: number): number {
  const due = nextAct(group, leaseOf(group), nowMs);
  if (due.act === null) return due.atMs ?? Number.POSITIVE_INFINITY;
  if (due.act === "term") {
    group.because = due.because;
    terminate(group);
  } else if (group.pid === null) {
    // Without a lease it must never begin. Else it is killed when it has.
    if (instanceGone || isTooLate(leaseOf(group), nowMs)) void forker.then(({ kill }) => kill());
    return nowMs + LOOK_MS;
  } else {
    signalGroup(group.pid, "SIGKILL");
    // Until it leads its group it may not have heard it.
    if (!group.isStarted) return nowMs + LOOK_MS;
    group.killSent = true;
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
    group.exit === null || group.pid === null ? [] : [{ group, pid: group.pid, exit: group.exit }],
  );
  if (exited.length === 0) return;
  const living = livingGroups(exited.map(({ pid }) => pid));
  for (const { group, pid, exit } of exited) {
    if (living.has(pid)) {
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
    group.isToEnd = true;
  }
  lookSoon();
}

/** Nobody collects what it had started, or tells what it was about to start. To the instance this is the end of the warden. */
async function endWithForker(): Promise<void> {
  forkerGone = true;
  // What it has said before is read first: the ids of those that it had collected are free.
  await nextTurn();
  const all = [...groups.values()];
  await endLeftBehind({
    known: new Map(all.flatMap(({ id, pid }) => (pid === null ? [] : [[id, pid]]))),
    unreported: new Set(all.flatMap(({ id, pid }) => (pid === null ? [id] : []))),
    forkers: new Set([commandLine(forkerCommand(perl, folder))]),
  });
  leave();
}

function leave(): void {
  rmSync(folder, { recursive: true, force: true });
  process.exit();
}
