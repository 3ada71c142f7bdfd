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

export const TASK_LIMITS: readonly Limit[] = [
  { what: "tasks of one `enqueueMany`", file: `${CORE}/engine/enqueuer.ts`, name: "MOST_TASKS" },
  {
    what: "length of a name: kind, title, queue, tag, concurrency key, rate, resource, code of a stop",
    file: `${CORE}/domain/task-spec.ts`,
    name: "MAX_NAME_CHARACTERS",
    unit: "characters",
  },
  { what: "resources of one task", file: `${CORE}/domain/task-spec.ts`, name: "MAX_RESOURCES" },
  { what: "tags of one task", file: `${CORE}/domain/task-spec.ts`, name: "MAX_TAGS" },
  { what: "stops of one task when it is enqueued", file: `${CORE}/domain/task-spec.ts`, name: "MAX_STOPS" },
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
    file: `${CORE}/engine/error-message.ts`,
    name: "LONGEST_MESSAGE",
    unit: "characters",
  },
  {
    what: "reason of a cancel, a retry or a rule",
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

export const RULE_LIMITS: readonly Limit[] = [
  { what: "limit of a run", file: `${CORE}/engine/enqueuer.ts`, name: "LARGEST_RUN_LIMIT" },
  {
    what: "limit of a queue or a concurrency key",
    file: `${CORE}/engine/rule-keeper.ts`,
    name: "LARGEST_LIMIT",
  },
  { what: "weight of a queue", file: `${CORE}/engine/rule-keeper.ts`, name: "LARGEST_WEIGHT" },
  { what: "starts of a rate in its period", file: `${CORE}/engine/rule-keeper.ts`, name: "MOST_STARTS" },
  {
    what: "rules of each list that are read at once, default",
    file: `${CORE}/engine/rule-reader.ts`,
    name: "DEFAULT_RULES",
  },
  {
    what: "rules of each list that are read at once, at most",
    file: `${CORE}/engine/rule-reader.ts`,
    name: "MOST_RULES",
  },
  {
    what: "slots of rates that are looked at when rules are read; the rates behind them say not how many are free",
    file: `${CORE}/store/rules/read.ts`,
    name: "SLOTS_COUNTED",
  },
  { what: "windows of a queue or a resource", file: `${CORE}/engine/rule-keeper.ts`, name: "MOST_WINDOWS" },
  {
    what: "length of a window that opens again and again",
    file: `${CORE}/domain/window-spec.ts`,
    name: "MAX_LASTS_MS",
    unit: "ms",
  },
  {
    what: "task runs of one run that are AVAILABLE at once, at least (else twice the slots of all instances)",
    file: `${CORE}/domain/fair-share.ts`,
    name: "SMALLEST_SHARE",
  },
];

export const ENGINE_LIMITS: readonly Limit[] = [
  {
    what: "slots, pool and batch of one instance",
    file: `${CORE}/engine/settings.ts`,
    name: "LARGEST_COUNT",
  },
  {
    what: "task runs that one claim takes, however many slots are free",
    file: `${CORE}/engine/loops.ts`,
    name: "MOST_CLAIMED",
  },
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
  {
    what: "task runs that one bite of an operation changes",
    file: `${CORE}/engine/carrier.ts`,
    name: "CARRY_BITE",
  },
  {
    what: "ids of history that one bite of an operation passes by",
    file: `${CORE}/store/operations/look.ts`,
    name: "PASSED_BY",
  },
  {
    what: "what an operation is about is counted up to",
    file: `${CORE}/store/operations/count.ts`,
    name: "COUNTED",
  },
  {
    what: "what an operation could not do is kept with why, the first",
    file: `${CORE}/store/operations/operation.ts`,
    name: "KEPT_ITEMS",
  },
  { what: "ids that one operation takes", file: `${CORE}/domain/filter.ts`, name: "MOST_IDS" },
  {
    what: "delay of a deferral by hand",
    file: `${CORE}/engine/deferrer.ts`,
    name: "LONGEST_DELAY_MS",
    unit: "ms",
  },
  {
    what: "task runs, runs, attempts or resources of a page, default",
    file: `${CORE}/domain/filter.ts`,
    name: "DEFAULT_PAGE",
  },
  { what: "the same, at most", file: `${CORE}/domain/filter.ts`, name: "LARGEST_PAGE" },
  { what: "one statement of a list", file: `${CORE}/engine/bounded-pool.ts`, name: "LIST_MS", unit: "ms" },
  { what: "queues that are listed", file: `${CORE}/engine/queue-reader.ts`, name: "MOST_QUEUES" },
  {
    what: "task runs that are looked at to count what waits in queues, and to count what runs",
    file: `${CORE}/store/queues/read.ts`,
    name: "LOOKED_AT",
  },
  {
    what: "AVAILABLE task runs of one kind in one queue that are counted",
    file: `${CORE}/store/queues/read.ts`,
    name: "COUNTED_OF_KIND",
  },
  {
    what: "those in the line of a resource that are counted",
    file: `${CORE}/store/resources/read.ts`,
    name: "COUNTED_IN_LINE",
  },
  {
    what: "holders, and those in line, that are named of one resource",
    file: `${CORE}/store/resources/read.ts`,
    name: "NAMED_OF_ONE",
  },
  {
    what: "task runs that are told of one instance",
    file: `${CORE}/engine/instance-reader.ts`,
    name: "MOST_HELD",
  },
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
  { what: "between two slow sweeps", file: `${CORE}/engine/sweep-pace.ts`, name: "SWEEP_MS", unit: "ms" },
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
    file: `${CORE}/store/session.ts`,
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
