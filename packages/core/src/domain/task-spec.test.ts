import { describe, expect, it } from "vitest";
import { DEFAULT_BACKOFF } from "./backoff.ts";
import { SchedulerError } from "./errors.ts";
import { exclusive, type Resource, shared } from "./resource.ts";
import { isGated, resolveTaskSpec, type TaskSpec } from "./task-spec.ts";

const runAt = new Date("2026-11-15T12:00:00.000Z");

function refusalOf(spec: TaskSpec, at?: string): SchedulerError {
  try {
    resolveTaskSpec(spec, at);
  } catch (error) {
    if (error instanceof SchedulerError) return error;
    throw error;
  }
  throw new Error("It was not refused");
}

describe("a task spec", () => {
  it("needs only a kind; the rest has defaults", () => {
    expect(resolveTaskSpec({ kind: "mail" })).toEqual({
      kind: "mail",
      inputJson: "null",
      title: "mail",
      priority: 5,
      queue: "default",
      tags: [],
      concurrencyKey: null,
      rate: null,
      stops: [],
      runAt: null,
      resources: [],
      version: null,
      outOfOrder: false,
      policy: { attempts: 1, backoff: DEFAULT_BACKOFF, onLost: "retry" },
    });
  });

  it("keeps everything that is given", () => {
    const resolved = resolveTaskSpec({
      kind: "migrate",
      input: { file: "0007.sql" },
      title: "Migrate orders",
      priority: 0,
      queue: "rollouts",
      tags: ["team:orders", "nightly"],
      concurrencyKey: "customer:7",
      rate: "ddl",
      stops: [{ code: "APPROVAL", detail: "by two people" }, { code: "STAGE_ORDER" }],
      runAt,
      resources: [exclusive("prod/orders"), shared("prod/users")],
      version: "20261115.2",
      outOfOrder: true,
      retry: { attempts: 4, backoff: { firstMs: 0, factor: 1, maxMs: 5 } },
      onLost: "fail",
    });

    expect(resolved).toEqual({
      kind: "migrate",
      inputJson: `{"file":"0007.sql"}`,
      title: "Migrate orders",
      priority: 0,
      queue: "rollouts",
      tags: ["team:orders", "nightly"],
      concurrencyKey: "customer:7",
      rate: "ddl",
      stops: [
        { code: "APPROVAL", detail: "by two people" },
        { code: "STAGE_ORDER", detail: null },
      ],
      runAt,
      resources: [exclusive("prod/orders"), shared("prod/users")],
      version: "20261115.2",
      outOfOrder: true,
      policy: { attempts: 4, backoff: { firstMs: 0, factor: 1, maxMs: 5 }, onLost: "fail" },
    });
  });

  it("fills in what a backoff does not say", () => {
    const resolved = resolveTaskSpec({ kind: "mail", retry: { attempts: 2, backoff: { firstMs: 10 } } });

    expect(resolved.policy.backoff).toEqual({ ...DEFAULT_BACKOFF, firstMs: 10 });
  });

  it("keeps of a resource only its name and mode", () => {
    const withMore = { ...exclusive("prod/orders"), colour: "red" };

    expect(resolveTaskSpec({ kind: "mail", resources: [withMore] }).resources).toEqual([
      exclusive("prod/orders"),
    ]);
  });
});

describe("the tags of a task", () => {
  it("count once each, in the order in which they are given", () => {
    expect(resolveTaskSpec({ kind: "mail", tags: ["b", "a", "b"] }).tags).toEqual(["b", "a"]);
  });

  it("gate nothing, and neither does the name of a queue: whether a queue has rules is known where it is inserted", () => {
    expect(isGated(resolveTaskSpec({ kind: "mail", tags: ["a"], queue: "bulk" }), false)).toBe(false);
  });
});

describe("a task spec is refused in one clear sentence", () => {
  const named = (name: string): Resource[] => [exclusive(name)];
  const wrong: readonly (readonly [fields: Partial<TaskSpec>, sentence: string])[] = [
    [{ kind: "" }, "task.kind: is empty; give it a name"],
    [{ kind: "  " }, "task.kind: is empty; give it a name"],
    [{ kind: "k".repeat(201) }, "task.kind: is longer than 200 characters"],
    [{ kind: "a\nb" }, "task.kind: contains a control character"],
    [{ kind: "a\u0000b" }, "task.kind: contains a control character"],
    [{ kind: "a\u009bb" }, "task.kind: contains a control character"],
    [{ title: "" }, "task.title: is empty; give it a name"],
    [{ title: "half \ud83d" }, "task.title: contains half a surrogate pair, which is not text"],
    [{ priority: -1 }, "task.priority: -1 is not a whole number from 0 to 9"],
    [{ priority: 10 }, "task.priority: 10 is not a whole number from 0 to 9"],
    [{ priority: 2.5 }, "task.priority: 2.5 is not a whole number from 0 to 9"],
    [{ priority: Number.NaN }, "task.priority: NaN is not a whole number from 0 to 9"],
    [{ input: "\u0000" }, "task.input: contains a NUL character, which cannot be stored"],
    [{ input: { to: [1n] } }, "task.input.to[0]: a bigint is not JSON"],
    [{ input: [{ n: Number.NaN }] }, "task.input[0].n: NaN is not a JSON number"],
    [{ resources: named("") }, "task.resources[0].name: is empty; give it a name"],
    [{ resources: named("a\tb") }, "task.resources[0].name: contains a control character"],
    [{ resources: [...named("a"), shared("a")] }, 'task.resources[1].name: "a" is named twice'],
    [
      { resources: Array.from({ length: 101 }, (_, i) => shared(`r${i}`)) },
      "task.resources: are 101, at most 100",
    ],
    [{ queue: "" }, "task.queue: is empty; give it a name"],
    [{ queue: "a\nb" }, "task.queue: contains a control character"],
    [{ concurrencyKey: " " }, "task.concurrencyKey: is empty; give it a name"],
    [{ concurrencyKey: "k".repeat(201) }, "task.concurrencyKey: is longer than 200 characters"],
    [{ rate: "\ud83d" }, "task.rate: contains half a surrogate pair, which is not text"],
    [{ tags: ["a", ""] }, "task.tags[1]: is empty; give it a name"],
    [{ tags: Array.from({ length: 21 }, (_, i) => `t${i}`) }, "task.tags: are 21, at most 20"],
    [{ stops: [{ code: "" }] }, "task.stops[0].code: is empty; give it a name"],
    [{ stops: [{ code: "A" }, { code: "A" }] }, 'task.stops[1].code: "A" is named twice'],
    [
      { stops: [{ code: "APPROVAL", detail: "half \ud83d" }] },
      "task.stops[0].detail: contains half a surrogate pair, which is not text",
    ],
    [{ stops: Array.from({ length: 21 }, (_, i) => ({ code: `S${i}` })) }, "task.stops: are 21, at most 20"],
    [{ version: "2" }, "task.version: orders tasks on a resource, so name the resource too"],
    [{ runAt: new Date(Number.NaN) }, "task.runAt: is not an instant between the years 1970 and 9999"],
    [{ runAt: new Date(-1) }, "task.runAt: is not an instant between the years 1970 and 9999"],
    [{ runAt: new Date(Date.UTC(10_000)) }, "task.runAt: is not an instant between the years 1970 and 9999"],
    [{ retry: { attempts: 0 } }, "task.retry.attempts: 0 is not a whole number from 1 to 100"],
    [{ retry: { attempts: 101 } }, "task.retry.attempts: 101 is not a whole number from 1 to 100"],
    [{ retry: { attempts: 1.5 } }, "task.retry.attempts: 1.5 is not a whole number from 1 to 100"],
  ];

  it.each(wrong.map(([fields, sentence]) => [sentence, fields] as const))("%s", (sentence, fields) => {
    const refusal = refusalOf({ kind: "mail", ...fields });

    expect(refusal.message).toBe(sentence);
    expect(refusal.code).toBe("INVALID_TASK");
  });

  it.each([
    { firstMs: -1 },
    { firstMs: Number.NaN },
    { firstMs: Number.POSITIVE_INFINITY },
    { factor: 0.9 },
    { factor: Number.NaN },
    { factor: Number.POSITIVE_INFINITY },
    { maxMs: -1 },
    { maxMs: Number.NaN },
    { maxMs: Number.POSITIVE_INFINITY },
    { maxMs: 31_536_000_001 },
  ])("with a backoff of %o", (backoff) => {
    const refusal = refusalOf({ kind: "mail", retry: { backoff } });

    expect(refusal.message).toBe(
      "task.retry.backoff: needs firstMs and maxMs from 0 to 31536000000 (a year) and a factor of at least 1",
    );
    expect(refusal.code).toBe("INVALID_TASK");
  });

  it("with a version that is not dotted integers, under a code of its own", () => {
    const refusal = refusalOf({ kind: "mail", version: "v2", resources: named("a") });

    expect(refusal.message).toBe('"v2" is not a version; use dotted integers such as 3 or 20261115.2');
    expect(refusal.code).toBe("INVALID_VERSION");
  });

  it("that begins with where the spec stands among others", () => {
    const refusal = refusalOf({ kind: "mail", priority: 11 }, "tasks[3]");

    expect(refusal.details).toEqual({
      at: "tasks[3].priority",
      problem: "11 is not a whole number from 0 to 9",
    });
  });
});

describe("what comes from JavaScript without types is refused too", () => {
  // What an untyped caller can pass: the checker would not let us write it.
  const untyped = (fields: object): TaskSpec => ({ kind: "mail", ...fields });

  it.each([
    [{ kind: undefined }, "task.kind: is missing; give a text"],
    [{ title: 7 }, "task.title: is a number; give a text"],
    [{ priority: "5" }, "task.priority: is a text; give a number"],
    [{ runAt: "2026-11-15" }, "task.runAt: is a text; give a Date"],
    [{ outOfOrder: 1 }, "task.outOfOrder: is a number; give true or false"],
    [{ stops: ["WAIT"] }, "task.stops[0]: is a text; give an object with code"],
    [{ resources: ["a"] }, "task.resources[0]: is a text; give an object with name and mode"],
    [{ retry: { backoff: { firstMs: "1s" } } }, "task.retry.backoff.firstMs: is a text; give a number"],
    [{ retry: { atempts: 3 } }, "task.retry: has no atempts; did you mean attempts?"],
    [{ timeouts: { runningMS: 3 } }, "task.timeouts: has no runningMS; did you mean runningMs?"],
    [{ runat: runAt }, "task: has no runat; did you mean runAt?"],
    [{ prioritiy: 1 }, "task: has no prioritiy; did you mean priority?"],
    [
      { resources: [{ name: "a", mode: "write" }] },
      'task.resources[0].mode: "write" is neither "exclusive" nor "shared"',
    ],
    [{ onLost: "again" }, 'task.onLost: "again" is none of "retry", "fail" and "resume"'],
    [{ timeouts: { queuedMs: 0 } }, "task.timeouts.queuedMs: 0 is not a whole number from 1 to 2147483647"],
    [
      { timeouts: { runningMs: 2 ** 31 } },
      "task.timeouts.runningMs: 2147483648 is not a whole number from 1 to 2147483647",
    ],
    [
      { timeouts: { progressMs: 1.5 } },
      "task.timeouts.progressMs: 1.5 is not a whole number from 1 to 2147483647",
    ],
  ])("%o: %s", (fields, sentence) => {
    expect(refusalOf(untyped(fields)).message).toBe(sentence);
  });
});

describe("null in a task", () => {
  it("counts as not given, wherever something need not be given", () => {
    const nulls: object = {
      input: null,
      title: null,
      priority: null,
      queue: null,
      tags: null,
      concurrencyKey: null,
      rate: null,
      stops: null,
      runAt: null,
      resources: null,
      version: null,
      outOfOrder: null,
      retry: { attempts: null, backoff: { firstMs: null } },
      onLost: null,
      timeouts: { queuedMs: null },
      unknown: null,
    };

    expect(resolveTaskSpec({ kind: "mail", ...nulls })).toEqual(resolveTaskSpec({ kind: "mail" }));
    const stops: object[] = [{ code: "APPROVAL", detail: null }];
    expect(resolveTaskSpec({ kind: "mail", stops: stops as TaskSpec["stops"] & object }).stops).toEqual([
      { code: "APPROVAL", detail: null },
    ]);
  });
});

describe("a task is gated", () => {
  const plain = resolveTaskSpec({ kind: "mail" });

  it("by nothing when it stands alone and names nothing to wait for", () => {
    expect(isGated(plain, false)).toBe(false);
  });

  it.each([
    ["its run", plain, true],
    ["its instant", { ...plain, runAt }, false],
    ["its resources", { ...plain, resources: [shared("prod/orders")] }, false],
    ["its version", { ...plain, version: "1" }, false],
    ["its concurrency key", { ...plain, concurrencyKey: "customer:7" }, false],
    ["its rate", { ...plain, rate: "sms" }, false],
    ["its stops", { ...plain, stops: [{ code: "APPROVAL", detail: null }] }, false],
  ] as const)("by %s", (_, task, inRun) => {
    expect(isGated(task, inRun)).toBe(true);
  });
});

describe("the bounds themselves are allowed", () => {
  const longest = { firstMs: 31_536_000_000, factor: 1, maxMs: 31_536_000_000 };

  it.each<[string, Partial<TaskSpec>]>([
    ["200 characters", { title: "t".repeat(200) }],
    ["priority 9", { priority: 9 }],
    ["the first instant of 1970", { runAt: new Date(0) }],
    ["the last instant of 9999", { runAt: new Date(Date.UTC(10_000) - 1) }],
    ["100 resources", { resources: Array.from({ length: 100 }, (_, i) => shared(`r${i}`)) }],
    ["100 attempts, a year apart", { retry: { attempts: 100, backoff: longest } }],
  ])("%s", (_, fields) => {
    const { retry, ...rest } = fields;

    expect(resolveTaskSpec({ kind: "mail", ...fields })).toMatchObject({
      ...rest,
      policy: { attempts: 1, ...retry },
    });
  });
});
