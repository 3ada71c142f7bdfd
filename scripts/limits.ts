/** Where each limit of `docs/reference/limits.md` stands in the sources. */

export interface Limit {
  readonly what: string;
  /** From the root of the repository. */
  readonly file: string;
  /** The name of a constant, or the beginning of what its value follows. */
  readonly name: string;
  readonly unit?: string;
}

export const CORE = "packages/core/src";
const SERVER = "packages/server/src";

export const TASK_LIMITS: readonly Limit[] = [
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
    what: "times a task run may ask for a later time",
    file: `${CORE}/domain/settlement.ts`,
    name: "MAX_DEFERRALS",
  },
  { what: "a timeout", file: `${CORE}/domain/task-spec.ts`, name: "MAX_TIMEOUT_MS", unit: "ms" },
  {
    what: "stored message of an error",
    file: `${CORE}/engine/runner.ts`,
    name: "LONGEST_MESSAGE",
    unit: "characters",
  },
  {
    what: "reason of a cancel",
    file: `${CORE}/domain/asked.ts`,
    name: "MAX_REASON_CHARACTERS",
    unit: "characters",
  },
  {
    what: "length of an idempotency key",
    file: `${CORE}/domain/idempotency.ts`,
    name: "MAX_KEY_CHARACTERS",
    unit: "characters",
  },
];

export const ENGINE_LIMITS: readonly Limit[] = [
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
    what: "period of a rate; a task with a rate is kept for as long after its end",
    file: `${CORE}/store/holds/rates.ts`,
    name: "LONGEST_PERIOD_MS",
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
    what: "one poll of an outside job",
    file: `${CORE}/engine/execution-limits.ts`,
    name: "LONGEST_POLL_MS",
    unit: "ms",
  },
  {
    what: "an outside job that could not be asked is asked again after",
    file: `${CORE}/engine/runner.ts`,
    name: "POLL_AGAIN_MS",
    unit: "ms",
  },
  {
    what: "wait of `stop` for what always ends, and for processes, after `drainMs` and `obeyMs`",
    file: `${CORE}/engine/engine.ts`,
    name: "LONGEST_END_MS",
    unit: "ms",
  },
  {
    what: "tries of `stop` to record a result",
    file: `${CORE}/engine/engine.ts`,
    name: "RECORD_PATIENCE_MS",
    unit: "ms",
  },
  { what: "polls of one instance at once", file: `${CORE}/engine/poller.ts`, name: "POLLS_AT_ONCE" },
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

export const PROCESS_LIMITS: readonly Limit[] = [
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

export const SERVER_LIMITS: readonly Limit[] = [
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
