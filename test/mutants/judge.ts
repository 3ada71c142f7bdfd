/** What a run of its tests says about a mutant. A red test that is red for another reason kills nothing. */
import type { Killer } from "./read-mutants.ts";
import { isOf, type TestRun } from "./run-tests.ts";

export type Verdict =
  | { readonly kind: "killed"; readonly how: string }
  | { readonly kind: "survived" }
  | { readonly kind: "wrong reason"; readonly why: string };

/** What fails under `expect(…).rejects` is an assertion that is not called one. */
const ASSERTION = /^AssertionError|^Error: (?:promise (?:resolved|rejected)|expected .* to) /;
/** A statement that no database accepts proves nothing about the clause that it lacks. */
const NOT_EVEN_SQL = /syntax error|does not exist|SyntaxError|ReferenceError|TypeError/;

export function judge(killers: readonly Killer[], run: TestRun): Verdict {
  if (run.trouble !== null) return { kind: "wrong reason", why: firstLine(run.trouble) };
  const verdicts = killers.map((killer) => judgeOne(killer, run));
  return verdicts.find(({ kind }) => kind !== "killed") ?? verdicts[0] ?? { kind: "survived" };
}

function judgeOne(killer: Killer, run: TestRun): Verdict {
  const mine = run.tests.filter((test) => test.status !== "skipped" && isOf(killer, test));
  if (mine.length === 0) return { kind: "wrong reason", why: `no test "${killer.title}"` };
  const failures = mine.filter(({ status }) => status === "failed").flatMap((test) => test.failureMessages);
  const [first] = failures;
  if (first === undefined) return { kind: "survived" };
  const isRight = (text: string): boolean =>
    killer.says === null ? ASSERTION.test(text) : text.includes(killer.says);
  const right = failures.find((text) => isRight(text) && !NOT_EVEN_SQL.test(firstLine(text)));
  return right === undefined
    ? { kind: "wrong reason", why: firstLine(first) }
    : { kind: "killed", how: firstLine(right) };
}

function firstLine(text: string): string {
  return text.split("\n")[0] ?? "";
}
