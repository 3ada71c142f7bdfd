/** Arguments as they should be, for every function of the library, and how they are spoiled one by one. */

import { inspect } from "node:util";
import type {
  CallerTransaction,
  createScheduler,
  defineProcess,
  EnqueueManyOptions,
  FollowLogOptions,
  letGo,
  ProcessSpec,
  Scheduler,
  SchedulerOptions,
  TaskSpec,
} from "@signalbox/core";

type Functions = "createScheduler" | "defineProcess" | "defineTask" | "exclusive" | "letGo" | "shared";
export type CallName = keyof Scheduler | Functions;
/** What an execution is handed, by its context. */
type ContextCall = "processes.start" | "stop";

const ID = "0199a000-0000-7000-8000-000000000000";
const SPEC: Required<TaskSpec> = {
  kind: "echo",
  input: null,
  title: "a title",
  priority: 5,
  queue: "q",
  tags: ["tag"],
  concurrencyKey: "key",
  rate: "rate",
  stops: [{ code: "CODE", detail: "detail" }],
  runAt: new Date(0),
  resources: [{ name: "r", mode: "shared" }],
  version: "1",
  outOfOrder: true,
  retry: { attempts: 2, backoff: { firstMs: 1, factor: 1, maxMs: 1 } },
  onLost: "fail",
  timeouts: { queuedMs: 1_000, runningMs: 1_000, progressMs: 1_000 },
};
const OPERATION_FILTER = {
  status: ["FAILED"],
  runId: ID,
  kind: "k",
  queue: "q",
  tag: "t",
  enqueuedSince: new Date(0),
};
const OPTIONS: Required<SchedulerOptions> = {
  databaseUrl: "postgres://localhost/app",
  directUrl: "postgres://localhost/app",
  tasks: [
    {
      kind: "a",
      execute: async () => null,
      checkInput: async () => {},
      decideRetry: () => "fail",
      poll: async () => ({ kind: "running", pollInMs: 1 }),
      cancelOutside: async () => {},
      obeyMs: 1,
    },
  ],
  name: "app-1",
  slots: 1,
  leaseMs: 60_000,
  beatMs: 5_000,
  graceMs: 1,
  pollIntervalMs: 1,
  batchSize: 1,
  poolSize: 1,
  queryTimeoutMs: 1,
  searchTimeoutMs: 1,
  drainMs: 1,
  obeyMs: 1,
  keepDoneMs: 1,
  keepFailedMs: 1,
  keepCanceledMs: 1,
  onEvent: () => {},
};

/** An object of a library: not to be looked into. */
class Schema {
  readonly "~standard" = { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) };
}

export function goodArguments(
  transaction: CallerTransaction,
): Readonly<Record<CallName, readonly unknown[]>> {
  const many: Required<EnqueueManyOptions> = {
    transaction,
    idempotencyKey: "many",
    run: { title: "a run", limit: 1 },
  };
  const follow: Required<FollowLogOptions> = { from: 0, signal: AbortSignal.abort() };
  const asked = { by: "me", reason: "because" };
  const process: Required<NonNullable<Parameters<typeof defineProcess>[0]>> = {
    kind: "p",
    env: { PATH: "/bin" },
    root: "/",
    allowShell: true,
    graceMs: 1,
  };
  const job: Required<Parameters<typeof letGo>[0]> = { handle: 1, pollInMs: 1, deadlineInMs: 1 };
  const run = (): null => null;
  return {
    migrate: [],
    migrations: [],
    start: [],
    stop: [],
    health: [],
    overview: [{ countUpTo: 1 }],
    enqueue: [SPEC, { transaction, idempotencyKey: "one" }],
    enqueueMany: [[SPEC], many],
    cancel: [ID, asked],
    cancelMany: [{ ids: [ID], runId: ID, kind: "k", status: ["PENDING"] }, asked],
    cancelRun: [ID, asked],
    retry: [ID, { by: "me" }],
    retryMany: [
      { ids: [ID], runId: ID, kind: "k", status: ["FAILED"], enqueuedSince: new Date(0) },
      { by: "me" },
    ],
    defer: [ID, { delayMs: 1, ...asked }],
    previewOperation: [{ verb: "cancel", filter: { ids: [ID] } }],
    startOperation: [
      { verb: "retry", filter: OPERATION_FILTER },
      { idempotencyKey: "one", ...asked },
    ],
    getOperation: [ID],
    listOperations: [{ status: ["DONE"], limit: 1, before: ID }],
    listOperationItems: [ID, { result: "failed", limit: 1, after: 0 }],
    abortOperation: [ID, asked],
    explain: [ID],
    get: [ID],
    list: [{ status: ["DONE"], runId: ID, kind: "k", queue: "q", tag: "t", limit: 1, before: ID }],
    getRun: [ID],
    listRuns: [{ status: ["DONE"], limit: 1, before: ID }],
    readRules: [{ limit: 1 }],
    listAttempts: [ID, { limit: 1, before: 1 }],
    listQueues: [],
    listResources: [{ search: "r", limit: 1, after: "r" }],
    getResource: ["r"],
    listInstances: [],
    getInstance: [ID],
    readLog: [ID, { from: 0, limit: 1 }],
    searchLog: [ID, { search: "x", from: 0, limit: 1 }],
    followLog: [ID, follow],
    setRunLimit: [ID, 1],
    drainInstance: [ID, asked],
    callInstanceBack: [ID],
    checkInvariants: [{ since: new Date() }],
    setQueue: ["q", { limit: 1, weight: 1 }],
    pause: [{ queue: "q" }, asked],
    resume: [{ resource: "r" }, asked],
    setWindows: [{ queue: "q" }, [{ kind: "freeze", from: new Date(0), until: new Date(1) }]],
    setKeyLimit: ["k", 1],
    setRate: ["rate", { amount: 1, perMs: 1 }],
    releaseReservation: ["r", asked],
    putStop: [ID, "CODE", "detail"],
    takeOffStop: [ID, "CODE"],
    createScheduler: [OPTIONS] satisfies Parameters<typeof createScheduler>,
    defineTask: [{ kind: "a", run, retryOn: run, poll: run, cancelOutside: run, schema: new Schema() }],
    defineProcess: [process],
    letGo: [job],
    exclusive: ["r"],
    shared: ["r"],
  };
}

export const GOOD_PROCESS: Required<ProcessSpec> = {
  argv: ["true"],
  cwd: "/",
  env: { PATH: "/usr/bin:/bin" },
  stdinFile: "/dev/null",
  graceMs: 1,
  onOutput: () => {},
};

/** What may be anything, or have more than is known, at a place of the arguments of a call. */
const FREE: Partial<Record<CallName, RegExp>> = {
  enqueue: /^\[0\]\.(?:input|resources\[0\]\.more)$/,
  enqueueMany: /^\[0\]\[0\]\.(?:input|resources\[0\]\.more)$/,
  createScheduler: /^\[0\]\.tasks\[0\]\.more$/,
  setWindows: /^\[1\]\[0\]\.more$/,
  letGo: /^\[0\]\.handle$/,
  // Checked when a task names what they made.
  exclusive: /^/,
  shared: /^/,
};

const WRONG: readonly unknown[] = [
  undefined,
  null,
  5,
  Number.NaN,
  "x",
  true,
  10n,
  Symbol("s"),
  [],
  {},
  Object.create(null),
  () => {},
  new Date(Number.NaN),
];

interface Spoiled {
  readonly where: string;
  readonly given: readonly unknown[];
  /** Of another type than it should be, and not left out. */
  readonly mustBeRefused: boolean;
}

export function* spoil(name: CallName | ContextCall, good: readonly unknown[]): Generator<Spoiled> {
  const free: Partial<Record<string, RegExp>> = FREE;
  const isFree = (path: string): boolean => free[name]?.test(path) === true;
  for (const { path, value, replaced } of placesIn(good, "", (whole) => whole)) {
    for (const wrong of WRONG) {
      const isWrong = kindOf(wrong) !== kindOf(value) && kindOf(wrong) !== "nothing";
      yield {
        where: `${name}${path} = ${inspect(wrong)}`,
        given: replaced(wrong) as readonly unknown[],
        mustBeRefused: isWrong && !isFree(path),
      };
    }
    if (isPlain(value))
      yield {
        where: `${name}${path}.more`,
        given: replaced({ ...value, more: 1 }) as readonly unknown[],
        mustBeRefused: !isFree(`${path}.more`),
      };
  }
}

interface Place {
  readonly path: string;
  readonly value: unknown;
  /** The whole with something else at this place. */
  readonly replaced: (by: unknown) => unknown;
}

function* placesIn(whole: unknown, path: string, rebuild: (part: unknown) => unknown): Generator<Place> {
  if (path !== "") yield { path, value: whole, replaced: rebuild };
  if (Array.isArray(whole))
    for (const [index, item] of whole.entries())
      yield* placesIn(item, `${path}[${index}]`, (by) => rebuild(whole.with(index, by)));
  if (isPlain(whole))
    for (const [key, member] of Object.entries(whole))
      yield* placesIn(member, `${path}.${key}`, (by) => rebuild({ ...whole, [key]: by }));
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  if (Array.isArray(value)) return "list";
  return value instanceof Date ? "Date" : typeof value;
}

/** Calls it by its name, whatever its arguments are; of what is answered piece by piece all is read. */
export async function call(functions: object, name: string, given: readonly unknown[]): Promise<unknown> {
  const { [name]: named } = functions as Readonly<Record<string, (...given: readonly unknown[]) => unknown>>;
  if (named === undefined) throw new Error(`There is no ${name}`);
  const answer = await named(...given);
  if (name === "followLog") for await (const _ of answer as AsyncIterable<unknown>);
  return answer;
}
