/**
 * Holds docs/requirements.md: every row has exactly one answer, and the answer is there. The same function
 * judges the page and the planted violations that prove it.
 */
import { describe, expect, test } from "vitest";
import { codeIn, isThere, read, rowsIn } from "./markdown.ts";
import { hasTest } from "./page-rules.ts";

const SEEDS = ["000", "002", "003", "004", "005"];
const PAGE = "docs/requirements.md";
const page = read(PAGE);
const rows = requirementsIn(page);
const parts = partsIn(page);

interface Requirement {
  readonly id: string;
  readonly what: string;
  readonly where: readonly string[];
  readonly proof: string;
}

type Answer =
  | { readonly kind: "test"; readonly title: string; readonly file: string }
  | { readonly kind: "adr"; readonly number: string; readonly file: string }
  | { readonly kind: "benchmark"; readonly title: string; readonly file: string }
  | { readonly kind: "later"; readonly part: string };

describe("docs/requirements.md", () => {
  test("has rows enough to be complete, and the parts to come", () => {
    expect(rows.length).toBeGreaterThan(150);
    expect(parts.length).toBeGreaterThanOrEqual(5);
  });

  test("answers every specification, numbered without a gap", () => {
    expect(problemsWithIds(rows.map(({ id }) => id))).toEqual([]);
  });

  test("has one answer per row, and every answer is there", () => {
    const problems = rows.flatMap((row) => problemsOf(row, parts).map((problem) => `${row.id}: ${problem}`));

    expect(problems).toEqual([]);
  });

  test("was really read: answers of all kinds, and many tests", () => {
    const answers = rows.flatMap(({ proof }) => answersIn(proof));
    const tests = answers.flatMap((answer) => (answer.kind === "test" ? [answer.title] : []));

    expect(new Set(answers.map(({ kind }) => kind))).toEqual(new Set(["test", "adr", "benchmark", "later"]));
    expect(new Set(tests).size).toBeGreaterThan(30);
  });
});

describe("a planted violation is found:", () => {
  const right: Requirement = {
    id: "000-1",
    what: "flow",
    where: ["packages/core/src/domain/task-status.ts"],
    proof: 'test "are those of the table and no others" in `packages/core/src/domain/task-status.test.ts`',
  };
  const adr = "[ADR 0003](adr/0003-gate-decision.md)";

  const measured = 'benchmark "no-ops, one process" in `bench/src/scenarios/no-ops.ts`';

  test("nothing wrong", () => {
    expect(problemsOf(right, parts)).toEqual([]);
    expect(problemsOf({ ...right, proof: measured }, parts)).toEqual([]);
    expect(problemsOf({ ...right, proof: adr }, parts)).toEqual([]);
    expect(problemsOf({ ...right, where: [], proof: "later: workflows" }, parts)).toEqual([]);
  });

  test.each<[string, Partial<Requirement>, string]>([
    [
      "a file that does not exist",
      { where: ["packages/core/src/gone.ts"] },
      "packages/core/src/gone.ts is not there",
    ],
    ["a test without a file that it proves", { where: [] }, "says not where it lives"],
    ["a requirement that says nothing", { what: "" }, "says nothing"],
    [
      "a test that does not exist",
      { proof: 'test "flies to the moon" in `packages/core/src/domain/task-status.test.ts`' },
      'no test "flies to the moon" in packages/core/src/domain/task-status.test.ts',
    ],
    [
      "a test file that does not exist",
      { proof: 'test "flies" in `packages/core/src/moon.test.ts`' },
      "packages/core/src/moon.test.ts is not there",
    ],
    [
      "a title that only stands in a text",
      { proof: 'test "vitest" in `packages/core/src/domain/task-status.test.ts`' },
      'no test "vitest" in packages/core/src/domain/task-status.test.ts',
    ],
    [
      "a record that does not exist",
      { proof: "[ADR 9999](adr/9999-gone.md)" },
      "docs/adr/9999-gone.md is not there",
    ],
    [
      "a record under another number",
      { proof: "[ADR 0004](adr/0003-gate-decision.md)" },
      "ADR 0004 is docs/adr/0003-gate-decision.md",
    ],
    [
      "a line that the benchmark does not have",
      { proof: 'benchmark "to the moon" in `bench/src/scenarios/no-ops.ts`' },
      'no line "to the moon" in bench/src/scenarios/no-ops.ts',
    ],
    ["a figure without a file that it measures", { where: [], proof: measured }, "says not where it lives"],
    ["a part that nobody announced", { where: [], proof: "later: moon" }, "no part is called moon"],
    ["something that is there and comes later", { proof: "later: workflows" }, "comes later and is there"],
    ["no answer", { proof: "" }, "has 0 answers"],
    ["an answer of no kind", { proof: "done" }, "has 0 answers"],
    ["two answers", { proof: `${right.proof}, ${adr}` }, "has 2 answers"],
  ])("%s", (_, wrong, problem) => {
    expect(problemsOf({ ...right, ...wrong }, parts)).toEqual([problem]);
  });

  test.each([
    ["a specification that is missing", ["000-1", "002-1", "003-1", "005-1"], "004 has no row"],
    [
      "a number that is missing",
      ["000-1", "000-3", "002-1", "003-1", "004-1", "005-1"],
      "000-3 is not 000-2",
    ],
    [
      "a specification that is not there",
      ["000-1", "001-1", "002-1", "003-1", "004-1", "005-1"],
      "001-1 is of none",
    ],
  ])("%s", (_, ids, problem) => {
    expect(problemsWithIds(ids)).toEqual([problem]);
  });
});

function requirementsIn(text: string): readonly Requirement[] {
  return rowsIn(text).flatMap(([id = "", what = "", where = "", proof = ""]) =>
    /^\d{3}-/.test(id) ? [{ id, what, where: codeIn(where), proof }] : [],
  );
}

/** The parts to come are listed once, where the page says how to read a row. */
function partsIn(text: string): readonly string[] {
  return codeIn(/The parts to come:.*?\.\n/s.exec(text)?.[0] ?? "");
}

function problemsWithIds(ids: readonly string[]): readonly string[] {
  const missing = SEEDS.filter((seed) => !ids.some((id) => id.startsWith(`${seed}-`)));
  const foreign = ids.filter((id) => !SEEDS.includes(id.slice(0, 3)));
  const misplaced = SEEDS.flatMap((seed) =>
    ids
      .filter((id) => id.startsWith(`${seed}-`))
      .flatMap((id, index) => (id === `${seed}-${index + 1}` ? [] : [`${id} is not ${seed}-${index + 1}`])),
  );
  return [
    ...missing.map((seed) => `${seed} has no row`),
    ...foreign.map((id) => `${id} is of none`),
    ...misplaced,
  ];
}

function problemsOf({ what, where, proof }: Requirement, known: readonly string[]): readonly string[] {
  const answers = answersIn(proof);
  const [answer] = answers;
  return [
    ...(what === "" ? ["says nothing"] : []),
    ...where.filter((path) => !isThere(path)).map((path) => `${path} is not there`),
    ...(answer === undefined || answers.length !== 1
      ? [`has ${answers.length} answers`]
      : problemsWith(answer, where, known)),
  ];
}

function answersIn(proof: string): readonly Answer[] {
  const tests = [...proof.matchAll(/\btest "([^"]+)" in `([^`]+)`/g)].map(
    ([, title = "", file = ""]): Answer => ({ kind: "test", title, file }),
  );
  const measured = [...proof.matchAll(/\bbenchmark "([^"]+)" in `([^`]+)`/g)].map(
    ([, title = "", file = ""]): Answer => ({ kind: "benchmark", title, file }),
  );
  const records = [...proof.matchAll(/\[ADR (\d{4})\]\((adr\/[^)]+)\)/g)].map(
    ([, number = "", file = ""]): Answer => ({ kind: "adr", number, file: `docs/${file}` }),
  );
  const later = [...proof.matchAll(/\blater: ([\w ]+)/g)].map(
    ([, part = ""]): Answer => ({ kind: "later", part }),
  );
  return [...tests, ...measured, ...records, ...later];
}

function problemsWith(answer: Answer, where: readonly string[], known: readonly string[]): readonly string[] {
  switch (answer.kind) {
    case "later":
      return [
        ...(known.includes(answer.part) ? [] : [`no part is called ${answer.part}`]),
        ...(where.length === 0 ? [] : ["comes later and is there"]),
      ];
    case "adr":
      return problemsWithFile(answer.file, (text) =>
        text.startsWith(`# ${answer.number}: `) ? null : `ADR ${answer.number} is ${answer.file}`,
      );
    case "benchmark":
      if (where.length === 0) return ["says not where it lives"];
      return problemsWithFile(answer.file, (text) =>
        text.includes(`"${answer.title}"`) ? null : `no line "${answer.title}" in ${answer.file}`,
      );
    case "test":
      if (where.length === 0) return ["says not where it lives"];
      return problemsWithFile(answer.file, (text) =>
        hasTest(text, answer.title) ? null : `no test "${answer.title}" in ${answer.file}`,
      );
  }
}

function problemsWithFile(file: string, judge: (text: string) => string | null): readonly string[] {
  const problem = isThere(file) ? judge(read(file)) : `${file} is not there`;
  return problem === null ? [] : [problem];
}
