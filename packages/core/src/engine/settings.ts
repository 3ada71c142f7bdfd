/** What a user may give, and what the engine runs with. Resolved once. */

import { SchedulerError } from "../domain/errors.ts";
import { requireMembers } from "../domain/require-shape.ts";
import {
  callable,
  isGiven,
  listOf,
  number,
  objectOf,
  openObjectOf,
  type Shape,
  text,
} from "../domain/shape.ts";
import { requireName } from "../domain/task-spec.ts";
import type { Executor } from "../executors/executor.ts";
import { placeOf } from "../store/database-place.ts";
import { type SchedulerEvent, unheard } from "./telemetry.ts";

/** Everything but `databaseUrl` has a default that suits a service. */
export interface SchedulerOptions {
  /** postgres://… of the database that holds the schema `signalbox`. May lead through a pooler. */
  readonly databaseUrl: string;
  /** For LISTEN and migrations, which no transaction pooler can carry. Default: `databaseUrl`. */
  readonly directUrl?: string;
  /** What this instance can run. Default: nothing; it can still enqueue, cancel and explain. */
  readonly tasks?: readonly Executor[];
  /** Display name; the identity is a random boot id. Default: host name and process id. */
  readonly name?: string;
  /** How many tasks this instance works on at once, each from its claim until its end is recorded. Default: 10. */
  readonly slots?: number;
  /** How long a silent instance keeps what it claimed. Must exceed four beats. Default: 60000. */
  readonly leaseMs?: number;
  /** How often the instance renews its lease. Default: 5000. */
  readonly beatMs?: number;
  /** How long after the end of a lease others wait before they take over. Default: 3000. */
  readonly graceMs?: number;
  /** Upper bound on the delay of a missed wake-up. Default: 5000. */
  readonly pollIntervalMs?: number;
  /** Task runs looked at, claimed or settled by one statement. Default: 100. */
  readonly batchSize?: number;
  /** Database connections for the engine and its callers, the lease's own not counted. Default: 10. */
  readonly poolSize?: number;
  /** A statement that takes longer is given up. Default: 10000. */
  readonly queryTimeoutMs?: number;
  /** The same of a search in a log, which goes through all of it. Default: 15000. */
  readonly searchTimeoutMs?: number;
  /** How long `stop` waits for what runs before it tells it to end. Default: 30000. */
  readonly drainMs?: number;
  /** How long an execution may take to end after its signal; then it counts as stuck. Default: 5000. */
  readonly obeyMs?: number;
  /** How long a task that is DONE is kept after its end and that of its run. Infinity: for ever. Default: 604800000. */
  readonly keepDoneMs?: number;
  /** The same for one that FAILED. Default: 2592000000. */
  readonly keepFailedMs?: number;
  /** The same for one that was CANCELED. Default: 604800000. */
  readonly keepCanceledMs?: number;
  /** Told of everything that happens on this instance. What it throws is swallowed. */
  readonly onEvent?: (event: SchedulerEvent) => void;
}

export type SchedulerSettings = Readonly<Required<SchedulerOptions>>;

const EXECUTOR = openObjectOf(
  {
    kind: text,
    execute: callable,
    checkInput: callable,
    decideRetry: callable,
    poll: callable,
    cancelOutside: callable,
    obeyMs: number,
  } satisfies Record<keyof Executor, Shape>,
  ["kind", "execute"],
);

const OPTIONS = objectOf<SchedulerOptions>(
  {
    databaseUrl: text,
    directUrl: text,
    tasks: listOf(EXECUTOR, "a list of what defineTask() makes"),
    name: text,
    slots: number,
    leaseMs: number,
    beatMs: number,
    graceMs: number,
    pollIntervalMs: number,
    batchSize: number,
    poolSize: number,
    queryTimeoutMs: number,
    searchTimeoutMs: number,
    drainMs: number,
    obeyMs: number,
    keepDoneMs: number,
    keepFailedMs: number,
    keepCanceledMs: number,
    onEvent: callable,
  },
  ["databaseUrl"],
);

// oxlint-disable-next-line complexity -- one default per field; nothing is decided here
export function resolveSettings(options: SchedulerOptions, defaultName: string): SchedulerSettings {
  requireMembers("INVALID_ARGUMENT", "options", options, OPTIONS);
  const settings: SchedulerSettings = {
    databaseUrl: options.databaseUrl,
    directUrl: options.directUrl ?? options.databaseUrl,
    tasks: [...(options.tasks ?? [])],
    name: options.name ?? defaultName,
    slots: options.slots ?? 10,
    leaseMs: options.leaseMs ?? 60_000,
    beatMs: options.beatMs ?? 5_000,
    graceMs: options.graceMs ?? 3_000,
    pollIntervalMs: options.pollIntervalMs ?? 5_000,
    batchSize: options.batchSize ?? 100,
    poolSize: options.poolSize ?? 10,
    queryTimeoutMs: options.queryTimeoutMs ?? 10_000,
    searchTimeoutMs: options.searchTimeoutMs ?? 15_000,
    drainMs: options.drainMs ?? 30_000,
    obeyMs: options.obeyMs ?? 5_000,
    keepDoneMs: options.keepDoneMs ?? 604_800_000,
    keepFailedMs: options.keepFailedMs ?? 2_592_000_000,
    keepCanceledMs: options.keepCanceledMs ?? 604_800_000,
    onEvent: options.onEvent ?? unheard,
  };
  requireSettings(settings);
  return settings;
}

function requireSettings(settings: SchedulerSettings): void {
  for (const name of ["databaseUrl", "directUrl"] as const) requireUrl(name, settings[name]);
  requireWords("name", settings.name);
  for (const [index, task] of settings.tasks.entries()) requireExecutor(`tasks[${index}]`, task);
  for (const name of ["slots", "batchSize", "poolSize"] as const) requireWhole(name, settings[name]);
  for (const name of ["leaseMs", "beatMs", "pollIntervalMs", "queryTimeoutMs", "searchTimeoutMs"] as const)
    requireLength(name, settings[name], 1);
  for (const name of ["graceMs", "drainMs", "obeyMs"] as const) requireLength(name, settings[name], 0);
  for (const name of ["keepDoneMs", "keepFailedMs", "keepCanceledMs"] as const)
    requireKeep(name, settings[name]);
  if (settings.leaseMs <= 4 * settings.beatMs)
    refuse("leaseMs", `${settings.leaseMs} does not exceed four beats (${4 * settings.beatMs})`);
}

function refuse(at: string, problem: string): never {
  throw new SchedulerError("INVALID_ARGUMENT", { at, problem });
}

/** Not shown: there is a password in it. */
function requireUrl(name: string, url: string): void {
  if (placeOf(url) === null)
    refuse(name, "is not a URL of the form postgres://user:password@host:5432/database");
}

/** An instance must be able to say who it is and what it can do. */
function requireWords(option: string, words: string): void {
  requireName(words, (problem) => refuse(option, problem));
}

function requireExecutor(at: string, { kind, obeyMs }: Executor): void {
  requireWords(`${at}.kind`, kind);
  // Infinity: its end is always waited for.
  if (obeyMs !== Infinity && isGiven(obeyMs)) requireLength(`${at}.obeyMs`, obeyMs, 0);
}

/** More than any instance has, and few enough to be stored. */
const LARGEST_COUNT = 1_000_000;

function requireWhole(name: string, value: number): void {
  if (Number.isInteger(value) && value >= 1 && value <= LARGEST_COUNT) return;
  refuse(name, `${value} is not a whole number from 1 to ${LARGEST_COUNT}`);
}

/** A timer takes no longer one. */
const LONGEST_MS = 2_147_483_647;

function requireLength(name: string, value: number, least: number): void {
  if (value >= least && value <= LONGEST_MS) return;
  refuse(name, `${value} is not between ${least} and ${LONGEST_MS} milliseconds`);
}

/** The earliest instant that an id can tell is 1970: whoever keeps longer keeps for ever. */
const LONGEST_KEEP_MS = 1_576_800_000_000;

function requireKeep(name: string, value: number): void {
  if (value >= 0 && (value <= LONGEST_KEEP_MS || value === Infinity)) return;
  refuse(name, `${value} is not between 0 and ${LONGEST_KEEP_MS} milliseconds, nor Infinity`);
}
