/** Holds the mutants against the sources: what one takes away is there, and so is the test that must notice. */
import { describe, expect, test } from "vitest";
import { FENCES, NOT_BUILT } from "../mutants/fences.ts";
import { judge } from "../mutants/judge.ts";
import { applyChange, type Killer, parseMutant, readMutants } from "../mutants/read-mutants.ts";
import { isThere, read } from "./markdown.ts";

const mutants = readMutants();

describe("the mutants", () => {
  test("are there for every fence, or it is said that it is not built", () => {
    const numbers = Object.keys(FENCES).map(Number);
    const covered = new Set(mutants.map(({ fence }) => fence));

    expect(numbers).toEqual(Array.from({ length: 46 }, (_, index) => index + 1));
    expect(numbers.filter((number) => covered.has(number) === NOT_BUILT.includes(number))).toEqual([]);
    expect(mutants.length).toBeGreaterThan(90);
  });

  test.each(mutants.map((mutant) => [mutant.id, mutant] as const))("%s fits the sources", (_, mutant) => {
    if (mutant.fence !== null) expect(mutant.name).toBe(FENCES[mutant.fence]);
    for (const change of mutant.changes) {
      const text = read(change.file);
      expect(applyChange(change, text)).not.toBe(text);
    }
    for (const { file, title } of mutant.killers) {
      expect(isThere(file), file).toBe(true);
      expect(hasTitle(read(file), title), `"${title}" in ${file}`).toBe(true);
    }
  });
});

/** A title may begin with that of its describe. */
function hasTitle(text: string, title: string): boolean {
  const words = title.split(" ");
  return words.some((_, index) => {
    const [before, rest] = [words.slice(0, index).join(" "), words.slice(index).join(" ")];
    return text.includes(rest) && text.includes(before) && rest.length > 12;
  });
}

describe("a mutant file", () => {
  const whole = `# 1: settle: claim number
Why.

in a.ts
- old
-   text
+ new

killed by a.test.ts
> refuses it
says never
`;

  test("has a number, changes, and tests with what they say", () => {
    expect(parseMutant("x", whole)).toEqual({
      id: "x",
      fence: 1,
      name: "settle: claim number",
      changes: [{ file: "a.ts", find: "old\n  text", replace: "new" }],
      killers: [{ file: "a.test.ts", title: "refuses it", says: "never" }],
    });
  });

  test("that lacks a part is refused", () => {
    expect(() => parseMutant("x", whole.replace("# 1", "1"))).toThrow("first line");
    expect(() => parseMutant("x", whole.replace("in a.ts", ""))).toThrow("changes nothing");
    expect(() => parseMutant("x", whole.replace("> refuses it", ""))).toThrow("no test");
  });

  test("whose text is gone, or stands there twice, is refused", () => {
    const change = { file: "a.ts", find: "old", replace: "$1" };

    expect(applyChange(change, "an old one")).toBe("an $1 one");
    expect(() => applyChange(change, "a new one")).toThrow("0 times");
    expect(() => applyChange(change, "old and old")).toThrow("2 times");
  });
});

describe("a mutant is killed", () => {
  const killer: Killer = { file: "a.test.ts", title: "refuses %s", says: null };
  const run = (status: string, failure = "", fullName = "a settlement refuses it") => ({
    tests: [{ fullName, status, failureMessages: failure === "" ? [] : [failure] }],
    trouble: null,
  });

  test("by an assertion of its test", () => {
    expect(judge([killer], run("failed", "AssertionError: expected 1 to be 0\n at a"))).toEqual({
      kind: "killed",
      how: "AssertionError: expected 1 to be 0",
    });
    const resolved = 'Error: promise resolved "1" instead of rejecting';
    expect(judge([killer], run("failed", resolved))).toEqual({ kind: "killed", how: resolved });
  });

  test("not by a green test, an error, a timeout, SQL that is none, or a test that did not run", () => {
    expect(judge([killer], run("passed"))).toEqual({ kind: "survived" });
    for (const other of [
      run("failed", "Error: Test timed out in 30000ms"),
      run("failed", "error: syntax error at or near WHERE"),
      run("failed", 'AssertionError: expected error: column "x" does not exist'),
      run("failed", "AssertionError: no", "a settlement accepts it"),
      run("skipped"),
      { tests: [], trouble: "a.test.ts: Transform failed" },
    ]) {
      expect(judge([killer], other).kind).toBe("wrong reason");
    }
  });

  test("by every test that it names, and by what it says where that is no assertion", () => {
    const [failed, hangs] = [run("failed", "AssertionError: no"), { ...killer, says: "Waited in vain" }];

    expect(judge([killer, hangs], failed).kind).toBe("wrong reason");
    expect(judge([hangs], run("failed", "Error: Waited in vain until")).kind).toBe("killed");
  });
});
