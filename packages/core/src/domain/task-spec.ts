/**
 * What makes a task valid, and which gates apply to it. The caller's spec is resolved once, here; the
 * rest of the engine sees only the resolved task, which has nothing in it that is still the caller's.
 */

import { type Backoff, DEFAULT_BACKOFF } from "./backoff.ts";
import { called } from "./called.ts";
import { SchedulerError } from "./errors.ts";
import { isInstant, NO_INSTANT } from "./instant.ts";
import { problemWithText, shownName, writeJson } from "./json-value.ts";
import { requireShape } from "./require-shape.ts";
import type { Resource } from "./resource.ts";
import type { QueueName } from "./scope.ts";
import type { RetryPolicy, Timeouts } from "./settlement.ts";
import {
  anything,
  flag,
  instant,
  isGiven,
  joinPath,
  listOf,
  number,
  objectOf,
  openObjectOf,
  text,
} from "./shape.ts";
import { parseVersion, type Version } from "./version.ts";

/** What is to be done, and what must be so before it may start. Made by `task()` of a definition, or by hand. */
export interface TaskSpec {
  /** Which executor runs it. */
  readonly kind: string;
  /** Any JSON value, at most 256 KiB. Default: null. */
  readonly input?: unknown;
  /** What people see in lists. Default: the kind. */
  readonly title?: string;
  /** 0 is the most urgent, 9 the least. Default: 5. */
  readonly priority?: number;
  /** Tasks of one queue share its limit, pauses and windows, and start first in, first out. Default: "default". */
  readonly queue?: QueueName;
  /** What lists can be filtered by. */
  readonly tags?: readonly string[];
  /** Tasks with the same key share a limit: one at a time, unless `setKeyLimit` says otherwise. */
  readonly concurrencyKey?: string;
  /** The rate, set by `setRate`, that its starts count against. */
  readonly rate?: string;
  /** It does not start before each of these was taken off. */
  readonly stops?: readonly Stop[];
  /** Not before this instant, by the database's clock. Default: as soon as the other gates are open. */
  readonly runAt?: Date;
  /** What it holds while it is AVAILABLE or RUNNING; taken all or none. Default: nothing. */
  readonly resources?: readonly Resource[];
  /** Dotted integers. It starts only when no smaller version is open on any of its resources. */
  readonly version?: Version;
  /** It may start although a larger version is DONE on one of its resources. Default: it fails with OUT_OF_ORDER then. */
  readonly outOfOrder?: boolean;
  /** What follows when an attempt fails: a new task run, later. */
  readonly retry?: {
    /** Attempts in all, the first included. Default: 1. */
    readonly attempts?: number;
    /** How long the next attempt waits. Default: a second, twice as long each time, at most ten minutes. */
    readonly backoff?: Partial<Backoff>;
  };
  /**
   * What follows when the instance that runs it is lost: a new attempt, no new attempt, or any other instance goes on
   * from the handle that its executor kept. Default: "retry".
   */
  readonly onLost?: RetryPolicy["onLost"];
  /** Of each attempt; what runs into one has failed. Default: none. */
  readonly timeouts?: {
    /** How long it may be PENDING or AVAILABLE, from its enqueueing or, where it is later, its run time. */
    readonly queuedMs?: number;
    /** How long it may run. An outside job has its own deadline. */
    readonly runningMs?: number;
    /** How long it may run without a call of `context.progress()`. */
    readonly progressMs?: number;
  };
}

interface Stop {
  readonly code: string;
  readonly detail?: string;
}

export interface ResolvedTask {
  readonly kind: string;
  /** The text of what was checked: it is stored as it is. */
  readonly inputJson: string;
  readonly title: string;
  readonly priority: number;
  readonly queue: QueueName;
  readonly tags: readonly string[];
  readonly concurrencyKey: string | null;
  readonly rate: string | null;
  readonly stops: readonly { readonly code: string; readonly detail: string | null }[];
  readonly runAt: Date | null;
  readonly resources: readonly Resource[];
  readonly version: Version | null;
  readonly outOfOrder: boolean;
  readonly policy: RetryPolicy;
}

const MAX_NAME_CHARACTERS = 200;
/** The least urgent. */
export const LAST_PRIORITY = 9;
const MAX_RESOURCES = 100;
const MAX_TAGS = 20;
const MAX_STOPS = 20;
const MAX_ATTEMPTS = 100;
// A longer one could lead beyond the last instant the database knows, and the attempt could not be settled.
export const MAX_DELAY_MS = 31_536_000_000;
// A timer takes no longer one.
const MAX_TIMEOUT_MS = 2_147_483_647;
// Control characters would break lines of the log and the terminal.
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f-\u009f]/;

const TASK_SPEC = objectOf<TaskSpec>(
  {
    kind: text,
    input: anything,
    title: text,
    priority: number,
    queue: text,
    tags: listOf(text, "a list of texts"),
    concurrencyKey: text,
    rate: text,
    stops: listOf(objectOf<Stop>({ code: text, detail: text }, ["code"]), "a list of stops"),
    runAt: instant,
    // A resource may be an object of the caller's own that has more.
    resources: listOf(openObjectOf({ name: text, mode: text }, ["name", "mode"]), "a list of resources"),
    version: text,
    outOfOrder: flag,
    retry: objectOf<NonNullable<TaskSpec["retry"]>>({
      attempts: number,
      backoff: objectOf<Backoff>({ firstMs: number, factor: number, maxMs: number }),
    }),
    onLost: text,
    timeouts: objectOf<Timeouts>({ queuedMs: number, runningMs: number, progressMs: number }),
  },
  ["kind"],
);

/**
 * `at` says where the spec stands, for the error message: "tasks[3]". What is not given comes out as the very same value each
 * time: nearly all tasks are alike in it, and whoever writes them sees that at a glance.
 */
export function resolveTaskSpec(spec: TaskSpec, at = "task"): ResolvedTask {
  const refuse = (field: string, problem: string): never => {
    throw new SchedulerError("INVALID_TASK", { at: `${at}.${field}`, problem });
  };
  requireShape("INVALID_TASK", at, spec, TASK_SPEC);
  const { kind } = spec;
  requireName(kind, (problem) => refuse("kind", problem));
  const title = spec.title ?? kind;
  requireName(title, (problem) => refuse("title", problem));
  const priority = spec.priority ?? 5;
  if (!isWholeBetween(priority, 0, LAST_PRIORITY))
    refuse("priority", `${priority} is not a whole number from 0 to ${LAST_PRIORITY}`);
  const input = writeJson(spec.input ?? null);
  if (input.kind === "problem") return refuse(joinPath("input", input.at), input.problem);
  const resources = resolveResources(spec.resources, refuse);
  return {
    kind,
    inputJson: input.text,
    title,
    priority,
    queue: resolveName("queue", spec.queue, refuse) ?? "default",
    concurrencyKey: resolveName("concurrencyKey", spec.concurrencyKey, refuse),
    rate: resolveName("rate", spec.rate, refuse),
    tags: resolveTags(spec.tags, refuse),
    stops: resolveStops(spec.stops, refuse),
    runAt: resolveRunAt(spec.runAt, refuse),
    resources,
    version: resolveVersion(spec.version, resources, refuse),
    outOfOrder: spec.outOfOrder === true,
    policy: saysPolicy(spec) ? resolvePolicy(spec, refuse) : DEFAULT_POLICY,
  };
}

/** Without a gate to wait at, a task run is AVAILABLE as soon as it is enqueued. */
export function isGated(task: Omit<ResolvedTask, "inputJson">, inRun: boolean): boolean {
  if (inRun || task.runAt !== null || task.version !== null || task.resources.length > 0) return true;
  return task.concurrencyKey !== null || task.rate !== null || task.stops.length > 0;
}

type Refuse = (field: string, problem: string) => never;

// What nearly all names are: nothing of what is looked for further down can be in it.
const VISIBLE_ASCII = /^[!-~][ -~]*$/;

export function requireName(name: string, refuse: (problem: string) => never): void {
  if (typeof name !== "string") refuse(`is ${called(name)}; give a text`);
  if (name.length <= MAX_NAME_CHARACTERS && VISIBLE_ASCII.test(name)) return;
  if (name.trim() === "") refuse("is empty; give it a name");
  if (name.length > MAX_NAME_CHARACTERS) refuse(`is longer than ${MAX_NAME_CHARACTERS} characters`);
  if (CONTROL_CHARACTER.test(name)) refuse("contains a control character");
  const poison = problemWithText(name);
  if (poison !== null) refuse(poison);
}

function resolveName(field: string, name: string | undefined, refuse: Refuse): string | null {
  if (!isGiven(name)) return null;
  requireName(name, (problem) => refuse(field, problem));
  return name;
}

const NONE: readonly never[] = [];

function resolveTags(given: TaskSpec["tags"], refuse: Refuse): readonly string[] {
  if (!isGiven(given)) return NONE;
  const tags = [...given];
  if (tags.length > MAX_TAGS) refuse("tags", `are ${tags.length}, at most ${MAX_TAGS}`);
  for (const [index, tag] of tags.entries()) requireName(tag, (problem) => refuse(`tags[${index}]`, problem));
  return [...new Set(tags)];
}

function resolveStops(given: TaskSpec["stops"], refuse: Refuse): ResolvedTask["stops"] {
  if (!isGiven(given)) return NONE;
  const stops = given.map(({ code, detail }) => ({ code, detail: detail ?? null }));
  if (stops.length > MAX_STOPS) refuse("stops", `are ${stops.length}, at most ${MAX_STOPS}`);
  const seen = new Set<string>();
  for (const [index, { code, detail }] of stops.entries()) {
    requireName(code, (problem) => refuse(`stops[${index}].code`, problem));
    if (seen.has(code)) refuse(`stops[${index}].code`, `"${code}" is named twice`);
    seen.add(code);
    if (detail !== null) requireName(detail, (problem) => refuse(`stops[${index}].detail`, problem));
  }
  return stops;
}

function resolveResources(given: TaskSpec["resources"], refuse: Refuse): readonly Resource[] {
  if (!isGiven(given)) return NONE;
  const resources = given.map(({ name, mode }) => ({ name, mode }));
  if (resources.length > MAX_RESOURCES)
    refuse("resources", `are ${resources.length}, at most ${MAX_RESOURCES}`);
  const seen = new Set<string>();
  for (const [index, { name, mode }] of resources.entries()) {
    requireName(name, (problem) => refuse(`resources[${index}].name`, problem));
    if (mode !== "exclusive" && mode !== "shared") {
      refuse(`resources[${index}].mode`, `"${shownName(String(mode))}" is neither "exclusive" nor "shared"`);
    }
    if (seen.has(name)) refuse(`resources[${index}].name`, `"${name}" is named twice`);
    seen.add(name);
  }
  return resources;
}

function resolveVersion(
  given: string | undefined,
  resources: readonly Resource[],
  refuse: Refuse,
): Version | null {
  if (!isGiven(given)) return null;
  if (resources.length === 0) refuse("version", "orders tasks on a resource, so name the resource too");
  return parseVersion(given);
}

function resolveRunAt(runAt: Date | undefined, refuse: Refuse): Date | null {
  if (!isGiven(runAt)) return null;
  return isInstant(runAt) ? new Date(runAt) : refuse("runAt", NO_INSTANT);
}

const DEFAULT_POLICY: RetryPolicy = { attempts: 1, backoff: DEFAULT_BACKOFF, onLost: "retry" };

function saysPolicy({ retry, onLost, timeouts }: TaskSpec): boolean {
  return isGiven(retry) || isGiven(onLost) || isGiven(timeouts);
}

function resolvePolicy(spec: TaskSpec, refuse: Refuse): RetryPolicy {
  const attempts = spec.retry?.attempts ?? DEFAULT_POLICY.attempts;
  if (!isWholeBetween(attempts, 1, MAX_ATTEMPTS)) {
    refuse("retry.attempts", `${attempts} is not a whole number from 1 to ${MAX_ATTEMPTS}`);
  }
  const backoff = resolveBackoff(spec.retry?.backoff ?? {}, refuse);
  const onLost = spec.onLost ?? DEFAULT_POLICY.onLost;
  if (!["retry", "fail", "resume"].includes(onLost))
    refuse("onLost", `"${shownName(String(onLost))}" is none of "retry", "fail" and "resume"`);
  const timeouts = resolveTimeouts(spec.timeouts ?? {}, refuse);
  return { attempts, backoff, onLost, ...(timeouts === null ? {} : { timeouts }) };
}

function resolveTimeouts(given: NonNullable<TaskSpec["timeouts"]>, refuse: Refuse): Timeouts | null {
  const names = ["queuedMs", "runningMs", "progressMs"] as const;
  const timeouts = names.flatMap((name) => {
    const ms = given[name];
    if (!isGiven(ms)) return [];
    if (!isWholeBetween(ms, 1, MAX_TIMEOUT_MS))
      refuse(`timeouts.${name}`, `${ms} is not a whole number from 1 to ${MAX_TIMEOUT_MS}`);
    return [[name, ms] as const];
  });
  return timeouts.length === 0 ? null : Object.fromEntries(timeouts);
}

function resolveBackoff(given: Partial<Backoff>, refuse: Refuse): Backoff {
  const firstMs = given.firstMs ?? DEFAULT_BACKOFF.firstMs;
  const factor = given.factor ?? DEFAULT_BACKOFF.factor;
  const maxMs = given.maxMs ?? DEFAULT_BACKOFF.maxMs;
  const isDelay = (ms: number): boolean => ms >= 0 && ms <= MAX_DELAY_MS;
  if (!isDelay(firstMs) || !isDelay(maxMs) || !Number.isFinite(factor) || factor < 1) {
    const delays = `firstMs and maxMs from 0 to ${MAX_DELAY_MS} (a year)`;
    refuse("retry.backoff", `needs ${delays} and a factor of at least 1`);
  }
  return { firstMs, factor, maxMs };
}

function isWholeBetween(value: number, low: number, high: number): boolean {
  return Number.isInteger(value) && value >= low && value <= high;
}
