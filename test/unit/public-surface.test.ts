/**
 * The public surface of the packages, name by name: a change of it is a decision, not an accident. And every
 * name says what a caller needs to know.
 */
import { describe, expect, test } from "vitest";
import { declarationOf, type Exported, exportsIn } from "../../scripts/read-exports.ts";
import { ENTRIES, renderApi } from "../../scripts/render-api.ts";
import { read } from "./markdown.ts";

const SURFACE = {
  "packages/core/src/index.ts": {
    values: [
      "DeferError",
      "ExecutionFailedError",
      "ExecutionStoppedError",
      "NonRetryableError",
      "RetryLaterError",
      "SchedulerError",
      "createScheduler",
      "defineProcess",
      "defineTask",
      "exclusive",
      "letGo",
      "shared",
    ],
    types: [
      "AttemptFilter",
      "AttemptPage",
      "Backoff",
      "Blocker",
      "CallerTransaction",
      "CancelAnswer",
      "CancelCounts",
      "CancelFilter",
      "CancelOptions",
      "ClaimableBy",
      "Count",
      "DeferOptions",
      "Deferred",
      "EnqueueManyOptions",
      "EnqueueOptions",
      "Enqueued",
      "EnqueuedMany",
      "ErrorCode",
      "ErrorDetails",
      "ExecutionContext",
      "Executor",
      "ExplainedCause",
      "Explanation",
      "FollowLogOptions",
      "GateReport",
      "HealthProblem",
      "Holder",
      "InLine",
      "InstanceDetail",
      "InstanceHealth",
      "InstanceId",
      "InstanceList",
      "InstanceView",
      "InvariantReport",
      "InvariantViolation",
      "KeyLimitRule",
      "LetGo",
      "LimitScope",
      "LogEntry",
      "LogMatch",
      "LogPage",
      "LogSearch",
      "LogSearchOptions",
      "LogStream",
      "MigrationReport",
      "NamedTaskRun",
      "Operation",
      "OperationExpectation",
      "OperationFilter",
      "OperationGroup",
      "OperationId",
      "OperationItem",
      "OperationItemFilter",
      "OperationItemPage",
      "OperationListFilter",
      "OperationOptions",
      "OperationPage",
      "OperationPreview",
      "OperationRequest",
      "OperationStatus",
      "OperationVerb",
      "Overview",
      "OverviewOptions",
      "Pausable",
      "Pause",
      "PauseRule",
      "PauseScope",
      "PollAnswer",
      "ProcessDefinition",
      "ProcessEnd",
      "ProcessHost",
      "ProcessInput",
      "ProcessSpec",
      "QueueList",
      "QueueName",
      "QueueRule",
      "QueueView",
      "RateRule",
      "ReadLogOptions",
      "ReadRulesOptions",
      "Reservation",
      "Resource",
      "ResourceDetail",
      "ResourceFilter",
      "ResourceMode",
      "ResourcePage",
      "ResourceView",
      "Retried",
      "RetryCounts",
      "RetryDecision",
      "RetryFilter",
      "RuleList",
      "RuleRequest",
      "Rules",
      "RulesInForce",
      "RulesOn",
      "Run",
      "RunDetail",
      "RunFilter",
      "RunId",
      "RunPage",
      "RunStatus",
      "RunningProcess",
      "Scheduler",
      "SchedulerEvent",
      "SchedulerOptions",
      "SkipReason",
      "StandardSchema",
      "StopRule",
      "TaskDefinition",
      "TaskId",
      "TaskOptions",
      "TaskRun",
      "TaskRunDetail",
      "TaskRunFilter",
      "TaskRunId",
      "TaskRunPage",
      "TaskRunStatus",
      "TaskSpec",
      "TaskStatus",
      "TerminalStatus",
      "UnattendedCause",
      "WaitingCause",
      "WaitingCode",
      "WindowRule",
      "WindowScope",
      "WindowSpec",
      "Windowed",
    ],
  },
  "packages/core/src/testing/index.ts": {
    values: ["createManualScheduler", "createTestDatabase", "executionContext"],
    types: ["ManualOptions", "ManualScheduler", "TestDatabase"],
  },
  "packages/server/src/index.ts": {
    values: ["createLogger", "createMetrics", "logEvents"],
    types: ["LogOptions", "MeasuredEvent", "Metrics"],
  },
} as const;

/** What callers call or fill in: each member answers their questions. */
const CALLED = [
  "Scheduler",
  "SchedulerOptions",
  "TaskSpec",
  "ExecutionContext",
  "Executor",
  "ManualScheduler",
];

const surface = Object.keys(SURFACE).flatMap((entry) => exportsIn(entry, read(entry)));

describe("the public surface", () => {
  test.each(Object.entries(SURFACE))("of %s is this and nothing else", (entry, { values, types }) => {
    const exported = exportsIn(entry, read(entry));
    const names = (wanted: Exported["kind"]): readonly string[] =>
      exported
        .filter(({ kind }) => kind === wanted)
        .map(({ name }) => name)
        .toSorted();

    expect(names("value")).toEqual(values);
    expect(names("type")).toEqual(types);
  });

  test.each(surface.map(({ name, file }) => [name, file]))("%s of %s says what it is", (name, file) => {
    expect(problemsWith(name, read(file))).toEqual([]);
  });

  test("was really read", () => {
    expect(surface.length).toBeGreaterThan(50);
    expect(CALLED.filter((name) => !surface.some((each) => each.name === name))).toEqual([]);
  });
});

describe("docs/reference/api.md", () => {
  const page = read("docs/reference/api.md");

  test("is what scripts/generate-api.ts writes", () => {
    expect(page).toBe(renderApi());
  });

  test("has every name that the packages export, and says something about each", () => {
    const rows = [...page.matchAll(/^\| `(\w+)` \| ([A-Z`h].+) \|$/gm)].map(([, name]) => name);

    expect(Object.values(ENTRIES)).toEqual(Object.keys(SURFACE));
    expect(surface.map(({ name }) => name).filter((name) => !rows.includes(name))).toEqual([]);
  });

  test("has the members of an interface with their types, whatever lines they take", () => {
    const text = [
      "/** How it goes. */",
      "export interface Way extends Road {",
      "  readonly length?: number;",
      "  /**",
      "   * Goes there,",
      "   * and back.",
      "   */",
      "  readonly go: (",
      "    to: string,",
      "  ) => Promise<void>;",
      "  readonly paved: {",
      "    readonly since: Date;",
      "  } | null;",
      "  readonly state:",
      "    | {",
      '        readonly kind: "open";',
      "      }",
      "    | {",
      '        readonly kind: "closed";',
      "      };",
      "  readonly lanes: number;",
      "}",
    ];

    expect(declarationOf("Way", text.join("\n"))).toEqual({
      what: "How it goes.",
      has: "Road",
      members: [
        { name: "length?", type: "number", what: "" },
        { name: "go", type: "( to: string, ) => Promise<void>", what: "Goes there, and back." },
        { name: "paved", type: "{ since: Date; } | null", what: "" },
        { name: "state", type: '{ kind: "open"; } | { kind: "closed"; }', what: "" },
        { name: "lanes", type: "number", what: "" },
      ],
    });
    expect(() => declarationOf("Gone", text.join("\n"))).toThrow("Gone is not there");
  });
});

describe("a planted violation is found:", () => {
  test("a name without a comment, and one that is not there", () => {
    expect(problemsWith("Task", "export interface Task {\n  readonly id: string;\n}\n")).toEqual([
      "Task has no comment",
    ]);
    expect(problemsWith("Task", "/** What is to be done. */\nexport interface Task {}\n")).toEqual([]);
    expect(problemsWith("Task", "interface Task {}\n")).toEqual(["Task is not there"]);
  });

  test("a member of what callers call without a comment", () => {
    const text =
      "/** It. */\nexport interface Executor {\n  /** Its name. */\n  readonly kind: string;\n  run(): void;\n}\n";

    expect(problemsWith("Executor", text)).toEqual(["Executor.run has no comment"]);
  });

  test("everything of a file at once", () => {
    expect(() => exportsIn("src/index.ts", 'export * from "./builders.ts";')).toThrow("export *");
  });
});

function problemsWith(name: string, text: string): readonly string[] {
  const lines = text.split("\n");
  const declaration = new RegExp(`^export (?:async )?(?:class|const|function|interface|type) ${name}\\b`);
  const at = lines.findIndex((line) => declaration.test(line));
  if (at < 0) return [`${name} is not there`];
  return [
    ...(isCommented(lines, at) ? [] : [`${name} has no comment`]),
    ...(CALLED.includes(name) ? membersWithoutComment(name, lines, at) : []),
  ];
}

function membersWithoutComment(name: string, lines: readonly string[], at: number): readonly string[] {
  const end = lines.findIndex((line, index) => index > at && line === "}");
  return lines.slice(at, end).flatMap((line, index) => {
    const member = /^ {2}(?:readonly )?(\w+)\??[:(]/.exec(line)?.[1];
    return member === undefined || isCommented(lines, at + index) ? [] : [`${name}.${member} has no comment`];
  });
}

function isCommented(lines: readonly string[], at: number): boolean {
  return lines[at - 1]?.trim().endsWith("*/") === true;
}
