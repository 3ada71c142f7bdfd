/** The sorts of work that the load enqueues: at every gate, of every kind, and ending in every way. */

import { exclusive, type ProcessInput, shared, type TaskSpec } from "@signalbox/core";
import type { DeferringInput, OutsideInput, WorkInput } from "./instance-messages.ts";
import type { Random } from "./random.ts";

export interface Call {
  readonly specs: readonly TaskSpec[];
  readonly run?: { readonly title: string; readonly limit: number };
}

export const RESOURCES: readonly string[] = ["orders", "users", "ledger", "search", "mail", "stock"];
const RESOURCES_WITH_VERSIONS = ["schema/a", "schema/b"];
export const QUEUE = "narrow";
/** Nobody limits it: what is in it is AVAILABLE at once, until somebody pauses it or closes its window. */
export const OPEN_QUEUE = "wide";
export const RATE = "calls";
/** On everything that begins with a stop: by it they are found again. */
export const STOPPED_TAG = "stopped";
export const STOP_CODE = "APPROVAL";
const TAGS = ["nightly", "urgent", "customer"];
const BACKOFF = { firstMs: 100, factor: 2, maxMs: 400 };
/** How far back a version must lie to be below one that is DONE. */
const LATE_BY_MS = 15_000;

/** Each sort as often as it stands here. */
export const SORTS: readonly (readonly [string, (random: Random) => Call])[] = [
  ["ungated", (random) => ({ specs: several(random, 1, 3, () => work(random)) })],
  ["ungated", (random) => ({ specs: several(random, 1, 3, () => work(random)) })],
  ["exclusive", (random) => one(work(random, { resources: [exclusive(random.pick(RESOURCES))] }))],
  ["exclusive", (random) => one(work(random, { resources: [exclusive(random.pick(RESOURCES))] }))],
  [
    "shared",
    (random) => {
      const resources = [shared(random.pick(RESOURCES))];
      return { specs: several(random, 1, 3, () => work(random, { resources })) };
    },
  ],
  ["two resources", (random) => one(work(random, { resources: twoResources(random) }))],
  ["version", (random) => ({ specs: versions(random) })],
  ["late version", (random) => one(lateVersion(random))],
  ["run", (random) => aRun(random)],
  ["run at", (random) => one(work(random, { runAt: soon(random) }))],
  ["failing", (random) => one(failing(random))],
  ["queue", (random) => ({ specs: several(random, 1, 3, () => work(random, { queue: QUEUE })) })],
  ["wide queue", (random) => ({ specs: several(random, 1, 3, () => work(random, { queue: OPEN_QUEUE })) })],
  [
    "key",
    (random) => {
      // More than a key may have at once.
      const concurrencyKey = `customer:${random.between(1, 3)}`;
      return { specs: several(random, 2, 4, () => work(random, { concurrencyKey })) };
    },
  ],
  ["rate", (random) => ({ specs: several(random, 1, 3, () => work(random, { rate: RATE })) })],
  ["deferral", (random) => one(deferring(random))],
  ["outside job", (random) => one(outside(random))],
  ["outside job", (random) => one(outside(random))],
  ["kept handle", (random) => one(keptHandle(random))],
  ["outside deadline", (random) => one(neverEnding(random))],
  ["process", (random) => one(aProcess(random))],
  ["queue timeout", (random) => one(waitsTooLong(random))],
  ["running timeout", (random) => one(runsTooLong(random))],
  ["no progress", (random) => one(getsOn(random))],
  ["overstaying", (random) => one(overstays(random))],
  ["fails when lost", (random) => one(work(random, { onLost: "fail" }))],
  ["stopped", (random) => one(work(random, { stops: [{ code: STOP_CODE }], tags: [STOPPED_TAG] }))],
  ["bulk", (random) => ({ specs: several(random, 1, 4, () => bulk(random)) })],
];

function one(spec: TaskSpec): Call {
  return { specs: [spec] };
}

function several(
  random: Random,
  low: number,
  high: number,
  make: (index: number) => TaskSpec,
): readonly TaskSpec[] {
  return Array.from({ length: random.between(low, high) }, (_, index) => make(index));
}

type Options = Omit<TaskSpec, "kind" | "input">;

export function work(random: Random, options: Options = {}): TaskSpec {
  const input: WorkInput = {
    ms: random.between(5, 150),
    silent: random.chance(0.5),
    ...(random.chance(0.1) && { prints: true }),
  };
  return { kind: "work", input, ...placed(random), ...options };
}

function placed(random: Random): Options {
  return { priority: random.between(2, 8), ...(random.chance(0.3) && { tags: [random.pick(TAGS)] }) };
}

function twoResources(random: Random): NonNullable<TaskSpec["resources"]> {
  const first = random.pick(RESOURCES);
  const second = random.pick(RESOURCES.filter((name) => name !== first));
  return [exclusive(first), random.chance(0.5) ? exclusive(second) : shared(second)];
}

/**
 * Versions rise from call to call. Within one the larger comes first, so that it has to wait. Each minute has
 * resources of its own: checking the order takes the square of the versions on one.
 */
function versions(random: Random): readonly TaskSpec[] {
  const at = Math.floor(performance.now());
  const name = versioned(random, at);
  return [2, 1].map((minor) => {
    const resources = [random.chance(0.5) ? exclusive(name) : shared(name)];
    return work(random, { resources, version: `${at}.${minor}`, priority: 5 });
  });
}

function versioned(random: Random, at: number): string {
  return `${random.pick(RESOURCES_WITH_VERSIONS)}/${Math.floor(at / 60_000)}`;
}

/** Where a larger one is DONE by now it is refused; where none is, it starts like any other. */
function lateVersion(random: Random): TaskSpec {
  const at = Math.floor(performance.now());
  const version = String(Math.max(0, at - LATE_BY_MS));
  const outOfOrder = random.chance(0.3);
  return work(random, { resources: [exclusive(versioned(random, at))], version, outOfOrder });
}

function aRun(random: Random): Call {
  const specs = several(random, 3, 6, () => {
    if (random.chance(0.2)) return failing(random);
    if (random.chance(0.2)) return deferring(random);
    return work(random, random.chance(0.3) ? { resources: [shared(random.pick(RESOURCES))] } : {});
  });
  return { specs, run: { title: "a run", limit: random.between(0, 2) } };
}

function soon(random: Random): Date {
  return new Date(Date.now() + random.between(100, 1_500));
}

/** Fails once or twice and then succeeds, or fails for good. */
function failing(random: Random): TaskSpec {
  const input: WorkInput = { ms: random.between(5, 60), failUntil: random.pick([1, 2, 99]) };
  return { kind: "work", input, retry: { attempts: 3, backoff: BACKOFF } };
}

export function deferring(random: Random): TaskSpec {
  const input: DeferringInput = { ms: random.between(5, 50), delayMs: random.between(20, 300) };
  const resources = random.chance(0.5) ? [exclusive(random.pick(RESOURCES))] : [];
  return { kind: "deferring", input, resources, ...placed(random) };
}

export function outside(random: Random): TaskSpec {
  const input: OutsideInput = {
    ...outsideTimes(random),
    keeps: random.chance(0.5),
    fails: random.chance(0.2),
  };
  const resources = random.chance(0.3) ? [exclusive(random.pick(RESOURCES))] : [];
  const onLost = random.pick(["retry", "resume", "resume", "fail"] as const);
  return { kind: "outside", input, resources, onLost, retry: { attempts: 2, backoff: BACKOFF } };
}

function outsideTimes(random: Random): OutsideInput {
  return {
    ms: random.between(5, 30),
    polls: random.between(1, 4),
    pollInMs: random.between(20, 250),
    deadlineInMs: 60_000,
  };
}

/** It does the work itself; whoever goes on after a loss asks by its handle. */
export function keptHandle(random: Random): TaskSpec {
  const input: OutsideInput = {
    ...outsideTimes(random),
    ms: random.between(50, 300),
    keeps: true,
    stays: true,
  };
  return { kind: "outside", input, onLost: "resume", ...placed(random) };
}

function neverEnding(random: Random): TaskSpec {
  const input: OutsideInput = { ...outsideTimes(random), polls: 1e9, deadlineInMs: random.between(200, 900) };
  return { kind: "outside", input, ...placed(random) };
}

const LINE = [
  'read -r up _ < /proc/uptime; us="${up%.*}${up#*.}0000"',
  `line() { printf '{"us":%s,"taskRunId":"%s","attempt":%s,"claimNo":%s,"pid":%s,"what":"%s"}\\n' "$us" \
"$SIGNALBOX_TASK_RUN_ID" "$SIGNALBOX_ATTEMPT" "$SIGNALBOX_FENCE" "$INSTANCE_PID" "$1" >> "$TRACE_FILE"; }`,
].join("; ");

/** A command that writes to the trace itself, in the name of the instance that started it. */
export function aProcess(random: Random): TaskSpec {
  const seconds = (random.between(1, 15) / 100).toFixed(2);
  const end = random.chance(0.2) ? 'line effect; test "$SIGNALBOX_ATTEMPT" -gt 1' : "line effect";
  const input: ProcessInput = { shell: `${LINE}; line start; echo at work; sleep ${seconds}; ${end}` };
  const resources = random.chance(0.5) ? [exclusive(random.pick(RESOURCES))] : [];
  return { kind: "process", input, resources, retry: { attempts: 2, backoff: BACKOFF } };
}

/** Behind a limit, so that some of them do start in time. */
function waitsTooLong(random: Random): TaskSpec {
  const timeouts = { queuedMs: random.between(50, 1_500) };
  return work(random, { queue: QUEUE, timeouts, ...(random.chance(0.3) && { retry: { attempts: 2 } }) });
}

function runsTooLong(random: Random): TaskSpec {
  const input: WorkInput = { ms: random.between(20, 400) };
  const retry = { attempts: 2, backoff: BACKOFF };
  return { kind: "work", input, timeouts: { runningMs: 150 }, retry };
}

function getsOn(random: Random): TaskSpec {
  const input: WorkInput = { ms: 400, ...(random.chance(0.5) && { progressEveryMs: 40 }) };
  return { kind: "work", input, timeouts: { progressMs: 200 } };
}

/** It goes on after its signal and after it was given up: only its own next attempt may have what it held alone. */
function overstays(random: Random): TaskSpec {
  const input: WorkInput = { ms: random.between(100, 700) };
  const resources = [exclusive(random.pick(RESOURCES))];
  return { kind: "overstaying", input, resources, timeouts: { runningMs: 60 }, retry: { attempts: 2 } };
}

/** Some of it ends FAILED, some is canceled: retried by its kind. */
function bulk(random: Random): TaskSpec {
  const input: WorkInput = { ms: random.between(5, 100), ...(random.chance(0.4) && { failUntil: 1 }) };
  return { kind: "bulk", input, ...placed(random), ...(random.chance(0.5) && { queue: QUEUE }) };
}
