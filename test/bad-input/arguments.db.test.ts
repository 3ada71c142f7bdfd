/** Calls with arguments that no type would let through: refused with a code and one sentence, before anything is sent. */

import * as core from "@signalbox/core";
import {
  createScheduler,
  defineTask,
  type ExecutionContext,
  exclusive,
  type Scheduler,
  SchedulerError,
} from "@signalbox/core";
import { afterAll, afterEach, expect, inject, it } from "vitest";
import { echo, openFixture } from "../../packages/core/test/fixture.ts";
import { type CallName, call, GOOD_PROCESS, goodArguments, kindOf, spoil } from "./arguments.ts";

const box = await openFixture(inject("adminUrl"));
const scheduler = createScheduler({ databaseUrl: box.db.url, tasks: [echo] });
const functions = { ...core, ...scheduler };
afterEach(async () => await box.clear());
afterAll(async () => {
  await scheduler.stop();
  await box.close();
});

/** What it was refused with; null: it was not. Anything but an error of ours would be an accident. */
async function refusal(name: string, given: readonly unknown[]): Promise<readonly [string, string] | null> {
  try {
    const answer = await call(functions, name, given);
    if (name === "createScheduler") await (answer as Scheduler).stop();
    return null;
  } catch (error) {
    if (!(error instanceof SchedulerError)) throw error;
    return [error.code, error.message];
  }
}

it("every function of the library is called here", () => {
  const exported = Object.entries(core).flatMap(([name, value]) =>
    typeof value === "function" && !/^class\b/.test(String(value)) ? [name] : [],
  );

  expect(Object.keys(goodArguments(box.db.client)).toSorted()).toEqual(
    [...exported, ...Object.keys(scheduler)].toSorted(),
  );
});

const { start: _start, stop: _stop, ...called } = goodArguments(box.db.client);

it.each(Object.entries(called))(
  "%s refuses every argument and member of a wrong type, and every member that it does not know",
  async (name, good) => {
    const ofGood = await refusal(name, good);
    const wrong: string[] = [];
    let tried = 0;
    for (const { where, given, mustBeRefused } of spoil(name as CallName, good)) {
      tried += 1;
      const refused = await refusal(name, given).catch((error: unknown) => [String(error), ""] as const);
      const isOurs = refused === null || /^[A-Z_]+$/.test(refused[0]);
      if (!isOurs) wrong.push(`${where}: ${refused[0]}`);
      else if (mustBeRefused && (refused === null || refused[0] === ofGood?.[0]))
        wrong.push(`${where}: taken`);
      else if (refused !== null && !/^.{1,600}$/.test(refused[1])) wrong.push(`${where}: ${refused[1]}`);
    }

    expect(wrong).toEqual([]);
    expect(tried > 0).toBe(good.length > 0);
  },
);

const URL_FORM = "is not a URL of the form postgres://user:password@host:5432/database";
const databaseUrl = "postgres://me:secret@localhost/app";

/** `delete` of a list leaves a hole. */
const HOLED = Object.assign([{ kind: "a" }], { 2: { kind: "b" } });

/** What a caller would write, what it is refused with, and the sentence. */
const ROWS: readonly (readonly [
  name: CallName,
  given: readonly unknown[],
  code: string,
  sentence: string,
])[] = [
  ["enqueue", [], "INVALID_TASK", "task: is missing; give an object with kind"],
  ["enqueue", [null], "INVALID_TASK", "task: is null; give an object with kind"],
  ["enqueue", [{ kind: "a", tags: "x" }], "INVALID_TASK", "task.tags: is a text; give a list of texts"],
  [
    "enqueue",
    [{ kind: "a", resources: {} }],
    "INVALID_TASK",
    "task.resources: is an object; give a list of resources",
  ],
  [
    "enqueue",
    [{ kind: "a", resources: [null] }],
    "INVALID_TASK",
    "task.resources[0]: is null; give an object with name and mode",
  ],
  ["enqueue", [{ kind: "a", retry: 5 }], "INVALID_TASK", "task.retry: is a number; give an object"],
  ["enqueue", [{ kind: "a", timeouts: 5 }], "INVALID_TASK", "task.timeouts: is a number; give an object"],
  ["enqueue", [{ kind: "a", priority: "high" }], "INVALID_TASK", "task.priority: is a text; give a number"],
  ["enqueue", [{ kind: "a", runAt: "tomorrow" }], "INVALID_TASK", "task.runAt: is a text; give a Date"],
  ["enqueue", [{ kind: "a", runat: 1 }], "INVALID_TASK", "task: has no runat; did you mean runAt?"],
  [
    "enqueue",
    [{ kind: "a" }, { run: { title: "r" } }],
    "INVALID_TASK",
    "options: has no run; there are only transaction, idempotencyKey",
  ],
  [
    "enqueue",
    [{ kind: "a" }, { idempotencykey: "k" }],
    "INVALID_TASK",
    "options: has no idempotencykey; did you mean idempotencyKey?",
  ],
  [
    "enqueue",
    [{ kind: "a" }, { transaction: {} }],
    "INVALID_TASK",
    "transaction: is an object; give a pg client on which you sent BEGIN",
  ],
  ["enqueueMany", ["x"], "INVALID_TASK", "tasks: is a text; give a list of tasks"],
  ["enqueueMany", [[null]], "INVALID_TASK", "task: is null; give an object with kind"],
  ["enqueueMany", [HOLED], "INVALID_TASK", "tasks[1]: is missing; give an object with kind"],
  ["enqueueMany", [[], { run: 5 }], "INVALID_TASK", "run: is a number; give an object with title"],
  ["cancel", [], "INVALID_ARGUMENT", "id: is missing; give a text"],
  ["cancel", [5], "INVALID_ARGUMENT", "id: is a number; give a text"],
  ["cancel", ["8a31", { why: "no" }], "INVALID_TEXT", "options: has no why; there are only by, reason"],
  ["cancelMany", ["x"], "INVALID_FILTER", "The filter is a text; give an object"],
  [
    "cancelMany",
    [{ status: "PENDING" }],
    "INVALID_FILTER",
    "The filter at status is a text; give a list of statuses",
  ],
  ["getRun", [5], "INVALID_ARGUMENT", "runId: is a number; give a text"],
  ["listRuns", ["x"], "INVALID_FILTER", "The filter is a text; give an object"],
  [
    "listRuns",
    [{ status: "RUNNING" }],
    "INVALID_FILTER",
    "The filter at status is a text; give a list of statuses",
  ],
  [
    "listRuns",
    [{ status: ["PENDING"] }],
    "INVALID_FILTER",
    "The filter cannot be for status PENDING, only for RUNNING, DONE, FAILED, CANCELED",
  ],
  ["listRuns", [{ before: "first" }], "RUN_NOT_FOUND", "No run has the id first"],
  ["readRules", [5], "INVALID_ARGUMENT", "options: is a number; give an object"],
  [
    "readRules",
    [{ limit: 0 }],
    "INVALID_FILTER",
    "The filter has a limit (0) that is not a whole number from 1 to 100000",
  ],
  ["explain", [undefined], "INVALID_ARGUMENT", "id: is missing; give a text"],
  ["setQueue", [5, { limit: 1 }], "INVALID_RULE", "queue: is a number; give a text"],
  ["setQueue", ["q"], "INVALID_RULE", "rules: is missing; give an object"],
  ["setQueue", ["q", {}], "INVALID_RULE", "rules: change nothing; give limit or weight"],
  ["setQueue", ["q", { limits: 1 }], "INVALID_RULE", "rules: has no limits; did you mean limit?"],
  ["setRunLimit", [5, 1], "INVALID_ARGUMENT", "runId: is a number; give a text"],
  [
    "setRunLimit",
    ["r", "two"],
    "INVALID_LIMIT",
    "a text is not a parallel limit; use a whole number, 0 for unlimited",
  ],
  ["setKeyLimit", ["k"], "INVALID_RULE", "limit: is missing; give a whole number from 1 to 1000000"],
  ["setRate", ["r"], "INVALID_RULE", "rate: is missing; give an object with amount and perMs"],
  ["pause", ["q"], "INVALID_RULE", "what: is a text; give an object"],
  ["pause", [{}], "INVALID_RULE", "what: names nothing; give queue, resource or runId"],
  [
    "pause",
    [{ queue: "q", resource: "r" }],
    "INVALID_RULE",
    "what: names 2 things; give queue, resource or runId",
  ],
  ["resume", [{ run: "r" }], "INVALID_RULE", "what: has no run; there are only queue, resource, runId"],
  ["setWindows", [{ queue: "q" }], "INVALID_WINDOW", "windows: is missing; give a list of windows"],
  ["setWindows", [{ runId: "r" }, []], "INVALID_RULE", "what: has no runId; there are only queue, resource"],
  ["putStop", [undefined, "CODE"], "INVALID_ARGUMENT", "taskId: is missing; give a text"],
  ["readLog", ["8a31", { from: "0" }], "INVALID_ARGUMENT", "from: is a text; give a number"],
  ["checkInvariants", [{ since: "today" }], "INVALID_ARGUMENT", "since: is a text; give a Date"],
  ["defineTask", [], "INVALID_ARGUMENT", "definition: is missing; give an object with kind and run"],
  ["defineTask", [{ kind: 1 }], "INVALID_ARGUMENT", "kind: is a number; give a text"],
  ["defineTask", [{ kind: "a" }], "INVALID_ARGUMENT", "run: is missing; give a function"],
  [
    "defineTask",
    [{ kind: "a", run: () => 1, retryon: () => "fail" }],
    "INVALID_ARGUMENT",
    "definition: has no retryon; did you mean retryOn?",
  ],
  ["createScheduler", [], "INVALID_ARGUMENT", "options: is missing; give an object with databaseUrl"],
  ["createScheduler", [null], "INVALID_ARGUMENT", "options: is null; give an object with databaseUrl"],
  ["createScheduler", [{ databaseUrl: "" }], "INVALID_ARGUMENT", `databaseUrl: ${URL_FORM}`],
  [
    "createScheduler",
    [{ databaseUrl: "mysql://me:secret@db/app" }],
    "INVALID_ARGUMENT",
    `databaseUrl: ${URL_FORM}`,
  ],
  [
    "createScheduler",
    [{ databaseUrl, slots: 2 ** 31 }],
    "INVALID_ARGUMENT",
    "slots: 2147483648 is not a whole number from 1 to 1000000",
  ],
  [
    "createScheduler",
    [{ databaseUrl, slot: 2 }],
    "INVALID_ARGUMENT",
    "options: has no slot; did you mean slots?",
  ],
];

it("what callers of JavaScript get wrong is said in one sentence, and nothing is written", async () => {
  const told: unknown[] = [];
  for (const [name, given] of ROWS) told.push([name, given, ...((await refusal(name, given)) ?? ["taken"])]);

  expect(told).toEqual(ROWS);
  for (const table of ["task", "run", "queue", "pause", "key_limit", "rate", "event_store"])
    expect([table, await box.value(`SELECT count(*)::integer FROM signalbox.${table}`)]).toEqual([table, 0]);
});

it("options of a task that are no object are refused where the task is made", () => {
  const options: unknown = 5;

  expect(() => echo.task(1, options as object)).toThrow("options: is a number; give an object");
  expect(() =>
    defineTask({ kind: "b", run: () => 1 }).task(1, { resources: [exclusive("r")] }),
  ).not.toThrow();
});

/** Inside an execution. */
async function withProcesses(
  use: (processes: ExecutionContext["processes"]) => Promise<void>,
): Promise<void> {
  const user = defineTask<null>({ kind: "user", run: async (_, { processes }) => await use(processes) });
  const manual = await box.scheduler({ tasks: [user] });
  const { taskRunId } = await manual.enqueue(user.task(null));
  await manual.runUntilIdle();
  expect(await manual.get(taskRunId)).toMatchObject({ status: "DONE", error: null });
}

it("a process to start, and the grace to stop it with, are refused with every member of a wrong type", async () => {
  const wrong: string[] = [];
  const tryOut = async (where: string, mustBeRefused: boolean, act: () => unknown): Promise<void> => {
    const error: unknown = await Promise.resolve()
      .then(act)
      .then(
        () => null,
        (thrown: unknown) => thrown,
      );
    const isOurs = error instanceof SchedulerError && /^.{1,600}$/.test(error.message);
    if (mustBeRefused && (!isOurs || error.code !== "INVALID_ARGUMENT"))
      wrong.push(`${where}: ${String(error)}`);
  };
  await withProcesses(async (processes) => {
    const start = processes.start as (...given: readonly unknown[]) => ReturnType<typeof processes.start>;
    for (const { where, given, mustBeRefused } of spoil("processes.start", [GOOD_PROCESS]))
      await tryOut(where, mustBeRefused, async () => await (await start(...given)).ended);
    const running = await processes.start({ ...GOOD_PROCESS, argv: ["sleep", "100"] });
    const stop = running.stop as (...given: readonly unknown[]) => void;
    for (const { where, given, mustBeRefused } of spoil("stop", [1]))
      await tryOut(where, mustBeRefused, () => stop(...given));
    expect((await running.ended).signal).toBe("SIGTERM");
  });

  expect(wrong).toEqual([]);
});

it("what a caller of JavaScript gets wrong about a process is said in one sentence", async () => {
  const rows: readonly (readonly [spec: unknown, sentence: string])[] = [
    [undefined, "spec: is missing; give an object with argv and cwd and env and graceMs and onOutput"],
    [{ ...GOOD_PROCESS, onOutput: undefined }, "onOutput: is missing; give a function"],
    [{ ...GOOD_PROCESS, onoutput: () => {} }, "spec: has no onoutput; did you mean onOutput?"],
    [{ ...GOOD_PROCESS, argv: "ls -l" }, "argv: is a text; give a list of texts"],
    [{ ...GOOD_PROCESS, argv: [] }, "argv: is not a list that begins with a program"],
    [{ ...GOOD_PROCESS, argv: ["ls", 5] }, "argv[1]: is a number; give a text"],
    [{ ...GOOD_PROCESS, argv: ["ls", "a\u0000"] }, "argv[1]: contains a NUL character"],
    [{ ...GOOD_PROCESS, env: { A: 1 } }, "env.A: is not a text"],
    [{ ...GOOD_PROCESS, graceMs: -1 }, "graceMs: is not between 0 and 3600000 milliseconds"],
  ];
  const told: unknown[] = [];
  await withProcesses(async ({ start }) => {
    for (const [spec] of rows)
      await start(spec as never).catch((error: Error) => told.push([spec, error.message]));
  });

  expect(told).toEqual(rows);
});

it("a wrong value is told from a right one here", () => {
  expect([[], new Date(), null, 1, "1", {}].map(kindOf)).toEqual([
    "list",
    "Date",
    "nothing",
    "number",
    "string",
    "object",
  ]);
});
