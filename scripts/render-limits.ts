/**
 * The text of `docs/reference/limits.md`: every option with its default, and every limit, read from the
 * sources. A name that is gone from its source throws here, so the page cannot outlive what it describes.
 */

import { readFileSync } from "node:fs";
import { DEFAULT_BACKOFF } from "../packages/core/src/domain/backoff.ts";
import { resolveTaskSpec } from "../packages/core/src/domain/task-spec.ts";
import { resolveSettings } from "../packages/core/src/engine/settings.ts";

interface Limit {
  readonly what: string;
  /** From the root of the repository. */
  readonly file: string;
  /** The name of a constant, or the beginning of what its value follows. */
  readonly name: string;
  readonly unit?: string;
}

const CORE = "packages/core/src";
const SERVER = "packages/server/src";

const TASK_LIMITS: readonly Limit[] = [
  {
    what: "length of a kind, a title or a resource's name",
    file: `${CORE}/domain/task-spec.ts`,
    name: "MAX_NAME_CHARACTERS",
    unit: "characters",
  },
  { what: "resources of one task", file: `${CORE}/domain/task-spec.ts`, name: "MAX_RESOURCES" },
  { what: "attempts of one task", file: `${CORE}/domain/task-spec.ts`, name: "MAX_ATTEMPTS" },
  { what: "delay of a backoff", file: `${CORE}/domain/task-spec.ts`, name: "MAX_DELAY_MS", unit: "ms" },
  {
    what: "input or output, as JSON text",
    file: `${CORE}/domain/json-value.ts`,
    name: "MAX_JSON_CHARACTERS",
    unit: "characters",
  },
  { what: "nesting of an input or output", file: `${CORE}/domain/json-value.ts`, name: "MAX_JSON_DEPTH" },
  { what: "one part of a version", file: `${CORE}/domain/version.ts`, name: "LARGEST_PART" },
  {
    what: "times a task may lose its instance and still be tried again",
    file: `${CORE}/domain/settlement.ts`,
    name: "MAX_INTERRUPTIONS",
  },
  {
    what: "stored message of an error",
    file: `${CORE}/engine/runner.ts`,
    name: "LONGEST_MESSAGE",
    unit: "characters",
  },
  {
    what: "length of an idempotency key",
    file: `${CORE}/domain/idempotency.ts`,
    name: "MAX_KEY_CHARACTERS",
    unit: "characters",
  },
];

const ENGINE_LIMITS: readonly Limit[] = [
  {
    what: "longest time that an option may say",
    file: `${CORE}/engine/settings.ts`,
    name: "LONGEST_MS",
    unit: "ms",
  },
  {
    what: "longest time to keep that an option may say, short of for ever",
    file: `${CORE}/engine/settings.ts`,
    name: "LONGEST_KEEP_MS",
    unit: "ms",
  },
  {
    what: "an idempotency key is remembered for at least",
    file: `${CORE}/domain/idempotency.ts`,
    name: "KEEP_KEYS_MS",
    unit: "ms",
  },
  {
    what: "between two looks whether something is to be pruned",
    file: `${CORE}/engine/loops.ts`,
    name: "PRUNE_INTERVAL_MS",
    unit: "ms",
  },
  {
    what: "tasks that one bite of the pruner looks at",
    file: `${CORE}/engine/pruner.ts`,
    name: "PRUNE_BITE",
  },
  {
    what: "attempts that one bite of the pruner deletes",
    file: `${CORE}/domain/retention.ts`,
    name: "MAX_ATTEMPTS_PER_BITE",
  },
  {
    what: "nothing is pruned within this time of its enqueue",
    file: `${CORE}/store/retention/walk.ts`,
    name: "SHORTEST_LOOK_MS",
    unit: "ms",
  },
  {
    what: "task runs that one bite of a cancel ends",
    file: `${CORE}/engine/canceler.ts`,
    name: "CANCEL_BITE",
  },
  {
    what: "tasks that one bite of a retry opens again",
    file: `${CORE}/engine/retrier.ts`,
    name: "RETRY_BITE",
  },
  { what: "task runs of a page, default", file: `${CORE}/store/task-runs/read.ts`, name: "DEFAULT_PAGE" },
  { what: "task runs of a page, at most", file: `${CORE}/store/task-runs/read.ts`, name: "LARGEST_PAGE" },
  {
    what: "part of the lease after which an instance without a good beat gives up",
    file: `${CORE}/engine/lease-keeper.ts`,
    name: "TRUSTED_PART",
  },
  {
    what: "silence of the main loop after which its lease is no longer renewed",
    file: `${CORE}/engine/lease-thread.ts`,
    name: "MAIN_LOOP_DEAD_MS",
    unit: "ms",
  },
  {
    what: "time to obey the signal at shutdown, and before an execution counts as stuck",
    file: `${CORE}/engine/engine.ts`,
    name: "OBEY_MS",
    unit: "ms",
  },
  {
    what: "silence of the event loop that is an event, and makes an instance not ready",
    file: `${CORE}/engine/self-watch.ts`,
    name: "LAG_LIMIT_MS",
    unit: "ms",
  },
  {
    what: "between two looks at the state of the database",
    file: `${CORE}/engine/loops.ts`,
    name: "WATCH_MS",
    unit: "ms",
  },
  {
    what: "age of an open transaction from which on it is called overlong",
    file: `${CORE}/engine/watcher.ts`,
    name: "OVERLONG_MS",
    unit: "ms",
  },
  { what: "between two slow sweeps", file: `${CORE}/engine/loops.ts`, name: "SWEEP_MS", unit: "ms" },
  {
    what: "between two NOTIFY of one instance",
    file: `${CORE}/engine/wakeups.ts`,
    name: "COALESCE_MS",
    unit: "ms",
  },
  {
    what: "dead instances are remembered for",
    file: `${CORE}/engine/rescuer.ts`,
    name: "REMEMBER_DEAD_MS",
    unit: "ms",
  },
  {
    what: "a transaction that is left idle loses its session after",
    file: `${CORE}/store/database.ts`,
    name: "IDLE_TIMEOUT_MS",
    unit: "ms",
  },
  {
    what: "a promoter that is frozen loses the gate lock after",
    file: `${CORE}/store/holds/gate-lock.ts`,
    name: "FROZEN_AFTER",
  },
  {
    what: "how far into a line one look goes",
    file: `${CORE}/store/holds/resources.ts`,
    name: "LINE_DEPTH",
  },
  {
    what: "how far a place in line is counted",
    file: `${CORE}/store/task-runs/explain.ts`,
    name: "COUNTED_AT_MOST",
  },
  {
    what: "a migration step gives up its lock request after, and tries again",
    file: `${CORE}/store/migrations/migrate.ts`,
    name: "LOCK_TIMEOUT_MS",
    unit: "ms",
  },
];

const PROCESS_LIMITS: readonly Limit[] = [
  {
    what: "of a longer log these are kept at its beginning",
    file: `${CORE}/domain/log.ts`,
    name: "LOG_HEAD_BYTES",
    unit: "bytes",
  },
  { what: "and these at its end", file: `${CORE}/domain/log.ts`, name: "LOG_TAIL_BYTES", unit: "bytes" },
  { what: "one entry of a log", file: `${CORE}/domain/log.ts`, name: "LOG_CHUNK_BYTES", unit: "bytes" },
  {
    what: "entries of a page of a log, default",
    file: `${CORE}/engine/scheduler.ts`,
    name: "DEFAULT_LOG_PAGE",
  },
  {
    what: "entries of a page of a log, at most",
    file: `${CORE}/engine/scheduler.ts`,
    name: "LARGEST_LOG_PAGE",
  },
  {
    what: "what is printed is stored after",
    file: `${CORE}/engine/log-writer.ts`,
    name: "FLUSH_MS",
    unit: "ms",
  },
  {
    what: "the same, once the beginning is full",
    file: `${CORE}/engine/log-writer.ts`,
    name: "FLUSH_LONG_MS",
    unit: "ms",
  },
  {
    what: "an outcome waits for its log, when the database is away",
    file: `${CORE}/engine/log-writer.ts`,
    name: "END_PATIENCE_MS",
    unit: "ms",
  },
  {
    what: "from TERM to KILL, default",
    file: `${CORE}/executors/process/define-process.ts`,
    name: "DEFAULT_GRACE_MS",
    unit: "ms",
  },
  {
    what: "the same at most when the instance leaves or has lost its lease",
    file: `${CORE}/executors/process/define-process.ts`,
    name: "MAX_HURRIED_GRACE_MS",
    unit: "ms",
  },
  {
    what: "the same at most when the instance is gone",
    file: `${CORE}/executors/process/warden.ts`,
    name: "ORPHAN_GRACE_MS",
    unit: "ms",
  },
  {
    what: "part of the lease after which processes get TERM without a good beat",
    file: `${CORE}/executors/process/group-watch.ts`,
    name: "TERM_PART",
  },
  {
    what: "part of the lease after which they get KILL",
    file: `${CORE}/executors/process/group-watch.ts`,
    name: "KILL_PART",
  },
  {
    what: "arguments of a process",
    file: `${CORE}/executors/process/process-input.ts`,
    name: "MAX_ARGUMENTS",
  },
  {
    what: "one argument or variable of a process",
    file: `${CORE}/executors/process/process-input.ts`,
    name: "MAX_ARGUMENT_BYTES",
    unit: "bytes",
  },
  {
    what: "output of a process, as it is read",
    file: `${CORE}/executors/process/process-output.ts`,
    name: "MAX_OUTPUT_BYTES",
    unit: "bytes",
  },
];

const SERVER_LIMITS: readonly Limit[] = [
  {
    what: "body of a request",
    file: `${SERVER}/http/create-api.ts`,
    name: "BODY_LIMIT_BYTES",
    unit: "bytes",
  },
  {
    what: "first port that is tried, default",
    file: `${SERVER}/cli/commands/dev.ts`,
    name: "DEFAULT_PORT",
  },
  { what: "ports tried from there on", file: `${SERVER}/http/listen.ts`, name: "PORTS_TRIED" },
  {
    what: "instances of `signalbox dev`, default",
    file: `${SERVER}/cli/commands/dev.ts`,
    name: "DEFAULT_INSTANCES",
  },
  {
    what: "their lease",
    file: `${SERVER}/dev/instance-messages.ts`,
    name: "DEV_LEASE_MS",
    unit: "ms",
  },
  { what: "their beat", file: `${SERVER}/dev/instance.ts`, name: "beatMs", unit: "ms" },
  { what: "their grace", file: `${SERVER}/dev/instance.ts`, name: "graceMs", unit: "ms" },
  { what: "their poll interval", file: `${SERVER}/dev/instance.ts`, name: "pollIntervalMs", unit: "ms" },
  { what: "their slots", file: `${SERVER}/dev/instance.ts`, name: "slots" },
];

export function renderLimits(): string {
  return [
    "<!-- Generated by `npm run generate:limits`; do not edit. -->",
    "",
    "# Defaults and limits",
    "",
    "## Options of `createScheduler`",
    "",
    ...table(["option", "default", "what it is"], optionRows()),
    "",
    "Inside a transaction the server gives a statement up after four fifths of `queryTimeoutMs`, before the client does.",
    "",
    "## Defaults of a task",
    "",
    ...table(["field", "default"], taskDefaults()),
    "",
    "A delay is between half and the whole of `firstMs × factor^(failures − 1)`, at most `maxMs`.",
    "",
    "## Limits of a task",
    "",
    ...limitTable(TASK_LIMITS),
    "",
    "## Limits of the engine",
    "",
    ...limitTable(ENGINE_LIMITS),
    "",
    "## Limits of processes and logs",
    "",
    ...limitTable(PROCESS_LIMITS),
    "",
    "## Limits of the server and of `signalbox dev`",
    "",
    ...limitTable(SERVER_LIMITS),
    "",
  ].join("\n");
}

function optionRows(): readonly (readonly string[])[] {
  const settings: Readonly<Record<string, unknown>> = {
    ...resolveSettings({ databaseUrl: "" }, "host name and process id"),
  };
  const source = read(`${CORE}/engine/settings.ts`);
  return Object.keys(settings).map((option) => {
    const field = new RegExp(`/\\*\\* ([^\\n]*) \\*/\\n  readonly ${option}\\??:`).exec(source);
    if (field === null) throw new Error(`SchedulerOptions says nothing about ${option}`);
    // The default has a column of its own; a sentence may go on after it.
    const text = (field[1] ?? "").replace(/ Default: [^.;]*[.;]?( [a-z])?/, (_, next: string | undefined) =>
      next === undefined ? "" : next.toUpperCase(),
    );
    return [`\`${option}\``, defaultText(option, settings[option]), text];
  });
}

function defaultText(option: string, value: unknown): string {
  switch (option) {
    case "databaseUrl":
      return "required";
    case "directUrl":
      return "`databaseUrl`";
    case "tasks":
      return "none";
    case "onEvent":
      return "nobody is told";
    default:
      return typeof value === "number" ? grouped(String(value)) : String(value);
  }
}

function taskDefaults(): readonly (readonly string[])[] {
  const { priority, input, policy } = resolveTaskSpec({ kind: "any" });
  return [
    ["`input`", String(input)],
    ["`title`", "the kind"],
    ["`priority`", `${priority} (0 is the most urgent, 9 the least)`],
    ["`runAt`, `resources`, `version`", "none"],
    ["`retry.attempts`", String(policy.attempts)],
    ["`retry.backoff.firstMs`", grouped(String(DEFAULT_BACKOFF.firstMs))],
    ["`retry.backoff.factor`", String(DEFAULT_BACKOFF.factor)],
    ["`retry.backoff.maxMs`", grouped(String(DEFAULT_BACKOFF.maxMs))],
    ["`onLost`", `\`${policy.onLost}\``],
    ["`limit` of a run", "0 (unlimited)"],
  ];
}

function limitTable(limits: readonly Limit[]): readonly string[] {
  return table(
    ["what", "limit", "where"],
    limits.map(({ what, file, name, unit }) => {
      const value = valueOf(file, name);
      return [what, unit === undefined ? value : `${value} ${unit}`, `\`${file}\``];
    }),
  );
}

/** What stands after `NAME =` or `name:` in a source: a number or a text. */
export function valueOf(file: string, name: string): string {
  const found = new RegExp(`\\b${name}(?: =|:) ("([^"]*)"|[\\d_.]+)n?[;,]`).exec(read(file));
  if (found === null) throw new Error(`${file} has no value for ${name}`);
  const [, value, text] = found;
  return text ?? grouped((value ?? "").replaceAll("_", ""));
}

/** 262144 as 262,144, but 7410 as it is. */
function grouped(digits: string): string {
  return /^\d{5,}$/.test(digits) ? digits.replace(/\B(?=(\d{3})+$)/g, ",") : digits;
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  return [header, header.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
}

function read(file: string): string {
  return readFileSync(new URL(`../${file}`, import.meta.url), "utf8");
}
