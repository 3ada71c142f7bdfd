/** One instance's process, seen from the test: what it told, and how to kill, freeze and wake it. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { SchedulerOptions } from "@signalbox/core";
import {
  type Act,
  type Acted,
  type DyingPoint,
  type FromInstance,
  type Holding,
  INSTANCE_SETTINGS,
  type InstanceEvent,
  type ToInstance,
} from "./instance-messages.ts";
import { until } from "./until.ts";

/** Events of which only the number counts: there are many. */
const COUNTED = new Set<InstanceEvent["type"]>([
  "task_run.promoted",
  "task_run.claimed",
  "task_run.settled",
  "gate.lock_missed",
  "lease.renewed",
  "loop.passed",
]);
/** How long an instance that is not frozen may take to say what it holds before it counts as silent. */
const ANSWER_MS = 1_000;
const JOIN_WITHIN_MS = 30_000;

export type EventOf<Type extends InstanceEvent["type"]> = Extract<InstanceEvent, { type: Type }>;

export interface Instance {
  readonly name: string;
  readonly pid: number;
  readonly state: "running" | "frozen" | "ended";
  /** Its current identity; null between two lives. */
  readonly bootId: string | null;
  /** Every identity it had. */
  readonly bootIds: readonly string[];
  /** Set when the process ended and nobody had killed it. */
  readonly unexpectedEnd: string | null;
  /** By its own clock, when it began. */
  readonly clockAtStart: number | null;
  /** Rejects with what kept it from joining; resolves where another fault has killed it meanwhile. */
  joined(): Promise<void>;
  /** How many events of this type it has told. */
  count(type: InstanceEvent["type"]): number;
  /** Those that are not merely counted. */
  told<Type extends InstanceEvent["type"]>(type: Type): readonly EventOf<Type>[];
  /** What it holds by its own account; null: no answer. */
  list(): Promise<Holding | null>;
  /** Lets it call its own scheduler; null: it ended before it could answer. */
  act(act: Act): Promise<Acted | null>;
  kill(): Promise<void>;
  /** Kills it exactly there, when it comes there. Null: nowhere any more. */
  dieAt(point: DyingPoint | null): void;
  /** The name of the point at which it has died as it was told to; null: it lives, or another fault killed it. */
  readonly diedAt: string | null;
  /** Resolves when it has ended and said all that it had to say. */
  gone(): Promise<void>;
  /** Tells it to leave and to end. */
  leave(): void;
  /** Nobody is to be told when it ends: the test has made it so. */
  expectEnd(): void;
  freeze(): void;
  wake(): void;
}

/** How this instance differs from the others. */
export interface InstanceOptions {
  readonly settings?: Partial<SchedulerOptions>;
  readonly nodeOptions?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Before `node`: what limits it, and how it is told to. */
  readonly under?: readonly string[];
  /** Where it dies, from its first statement on. */
  readonly dies?: DyingPoint;
}

const file = fileURLToPath(new URL("./instance-process.mjs", import.meta.url));
/** In every thread, before it connects. */
const dying = new URL("./dying.mjs", import.meta.url).href;

export function startInstance(start: {
  readonly name: string;
  readonly databaseUrl: string;
  readonly traceFile: string;
  readonly options?: InstanceOptions;
}): Instance {
  const { settings, nodeOptions = [], env, under = [], dies = null } = start.options ?? {};
  // Not the runner's own flags: they would lead to the sources.
  const command = [...under, process.execPath, ...nodeOptions, "--import", dying, file];
  const child = spawn(command[0] ?? process.execPath, command.slice(1), {
    env: { ...process.env, NODE_OPTIONS: "", ...env },
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    // What is told to it may have dates.
    serialization: "advanced",
  });
  const onExit = (): void => void child.kill("SIGKILL");
  process.once("exit", onExit);
  child.once("exit", () => process.off("exit", onExit));
  const { name, databaseUrl, traceFile } = start;
  send(child, {
    kind: "start",
    name,
    databaseUrl,
    traceFile,
    settings: { ...INSTANCE_SETTINGS, ...settings },
    dies,
  });
  return watch(child, start.name);
}

const NO_ACT: Acted = { answer: null, problem: null };
const NOTHING_HELD: Holding = { instanceId: null, claims: {} };
/** What the one who dies where it was told to leaves behind. */
const DIED_THERE = /It has died where it was told to: (.*)/;

function watch(child: ChildProcess, name: string): Instance {
  const counts = new Map<string, number>();
  const events: InstanceEvent[] = [];
  const bootIds: string[] = [];
  const answers = new Map<number, (answer: (Holding & Acted) | null) => void>();
  let state: Instance["state"] = "running";
  let bootId: string | null = null;
  let failure: string | null = null;
  let killed = false;
  let ending: string | null = null;
  let lastRequestNo = 0;
  let clockAtStart: number | null = null;
  let said = "";
  let diedAt: string | null = null;

  const keep = (event: InstanceEvent): void => {
    counts.set(event.type, (counts.get(event.type) ?? 0) + 1);
    if (!COUNTED.has(event.type)) events.push(event);
    if (event.type === "instance.fenced") bootId = null;
    if (event.type !== "instance.joined") return;
    bootId = event.instanceId;
    bootIds.push(event.instanceId);
  };
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    // The first lines say what happened; what follows is the inside of a socket.
    said = (said + chunk).slice(0, 2_000);
    diedAt ??= DIED_THERE.exec(chunk)?.[1] ?? null;
  });
  child.on("message", (message: FromInstance) => {
    if (message.kind === "event") keep(message.event);
    else if (message.kind === "not_started") said = message.message;
    else if (message.kind === "holding") answers.get(message.requestNo)?.({ ...NO_ACT, ...message });
    else if (message.kind === "acted") answers.get(message.requestNo)?.({ ...NOTHING_HELD, ...message });
    else if (message.kind === "loaded") clockAtStart = message.clock;
    if (message.kind === "loaded" && !message.core.endsWith("/packages/core/dist/index.js")) {
      failure = `it runs ${message.core}, not what was compiled`;
    }
  });
  // `close`, not `exit`: until then it may have said something that has not come here.
  const closed = once(child, "close");
  const ended = once(child, "exit").then(([code, signal]) => {
    state = "ended";
    ending = `${name} ended with ${String(signal ?? code)}: `;
    for (const answer of answers.values()) answer(null);
  });
  const ask = async (
    toMessage: (requestNo: number) => ToInstance,
    withinMs: number | null,
  ): Promise<(Holding & Acted) | null> => {
    if (state === "ended") return null;
    lastRequestNo += 1;
    const requestNo = lastRequestNo;
    const answered = new Promise<(Holding & Acted) | null>((resolve) => {
      answers.set(requestNo, resolve);
      if (withinMs !== null) setTimeout(resolve, withinMs, null);
    });
    send(child, toMessage(requestNo));
    const answer = await answered;
    answers.delete(requestNo);
    return answer;
  };
  // Who dies where it was told to says so last, perhaps after its end was seen.
  const unexpectedEnd = (): string | null =>
    killed || diedAt !== null || ending === null ? null : ending + said.trim();

  return {
    name,
    pid: child.pid ?? 0,
    get state() {
      return state;
    },
    get bootId() {
      return bootId;
    },
    bootIds,
    get unexpectedEnd() {
      return unexpectedEnd();
    },
    get clockAtStart() {
      return clockAtStart;
    },
    joined: async () => {
      await until(`${name} joins`, () => failure !== null || state === "ended" || bootId !== null, {
        withinMs: JOIN_WITHIN_MS,
        instead: () => said,
      });
      const problem = failure ?? unexpectedEnd();
      if (problem !== null) throw new Error(`${name} could not start: ${problem}`);
    },
    count: (type) => counts.get(type) ?? 0,
    told: <Type extends InstanceEvent["type"]>(type: Type) =>
      events.filter((event): event is EventOf<Type> => event.type === type),
    list: async () =>
      state === "running" ? await ask((requestNo) => ({ kind: "list", requestNo }), ANSWER_MS) : null,
    act: async (act) => await ask((requestNo) => ({ kind: "act", requestNo, ...act }), null),
    kill: async () => {
      killed = true;
      child.kill("SIGKILL");
      await ended;
    },
    dieAt: (point) => send(child, { kind: "die", point }),
    get diedAt() {
      return diedAt;
    },
    gone: async () => void (await closed),
    leave: () => {
      killed = true;
      send(child, { kind: "stop" });
    },
    expectEnd: () => {
      killed = true;
    },
    freeze: () => {
      state = "frozen";
      child.kill("SIGSTOP");
    },
    wake: () => {
      if (state === "frozen") state = "running";
      child.kill("SIGCONT");
    },
  };
}

function send(child: ChildProcess, message: ToInstance): void {
  // One that ended meanwhile is told by its exit.
  child.send(message, () => {});
}
