/**
 * Takes one clause at a time out of a copy of the sources and demands that a named test notices. With words as
 * arguments only the mutants whose file name has one of them; with --note the result goes to docs/proof.md.
 */
import { FENCES, NOT_BUILT } from "../test/mutants/fences.ts";
import { judge, type Verdict } from "../test/mutants/judge.ts";
import { noteResult } from "../test/mutants/note-result.ts";
import { type Mutant, readMutants, staleIn } from "../test/mutants/read-mutants.ts";
import { isOf, runTests, type TestRun } from "../test/mutants/run-tests.ts";
import { makeWorkCopy, type WorkCopy } from "../test/mutants/work-copy.ts";
import { serverOfThisRun } from "../test/setup/postgres.ts";

interface Result {
  readonly mutant: Mutant;
  readonly verdict: Verdict;
}

async function main(args: readonly string[]): Promise<void> {
  const unknown = args.find((arg) => arg.startsWith("--") && arg !== "--note");
  if (unknown !== undefined)
    throw new Error(`${unknown} is not known; give words of the names of mutants, or --note`);
  const words = args.filter((arg) => !arg.startsWith("--"));
  const all = readMutants();
  const chosen = words.length === 0 ? all : all.filter(({ id }) => words.some((word) => id.includes(word)));
  if (chosen.length === 0) throw new Error(`No mutant is called like ${words.join(" or ")}`);
  const stale = staleIn(chosen);
  if (stale.length > 0)
    throw new Error(`These mutants do not fit the sources any more:\n${stale.join("\n")}`);
  const server = await serverOfThisRun();
  const copy = makeWorkCopy();
  try {
    const red = await redWithoutAny(copy, server.url, chosen);
    const results: Result[] = [];
    for (const mutant of chosen) results.push(await tryOut(copy, server.url, mutant, red));
    tellTotal(results);
    if (args.includes("--note") && chosen.length === all.length) noteResult(results);
    process.exitCode = results.every(({ verdict }) => verdict.kind === "killed") ? 0 : 1;
  } finally {
    copy.remove();
    await server.stop();
  }
}

/** A test that is red anyway kills nothing. */
async function redWithoutAny(
  copy: WorkCopy,
  url: string,
  mutants: readonly Mutant[],
): Promise<TestRun["tests"]> {
  const killers = mutants.flatMap((mutant) => mutant.killers);
  const { tests, trouble } = await runTests(copy.dir, url, killers);
  if (trouble !== null) throw new Error(`The tests do not run without a mutant: ${trouble}`);
  const [green, red] = ["passed", "failed"].map((is) => tests.filter(({ status }) => status === is));
  console.log(`${green?.length} tests, named by ${mutants.length} mutants, are green without any`);
  for (const { fullName } of red ?? []) console.log(`red without any: ${fullName}`);
  return red ?? [];
}

async function tryOut(copy: WorkCopy, url: string, mutant: Mutant, red: TestRun["tests"]): Promise<Result> {
  const begunAt = performance.now();
  const run = async (): Promise<TestRun> => await runTests(copy.dir, url, mutant.killers);
  const wasRed = red.some((test) => mutant.killers.some((killer) => isOf(killer, test)));
  // Once more by itself: a machine that is busy with all of them makes some red that are not.
  const isRed = wasRed && (await run()).tests.some(({ status }) => status === "failed");
  const verdict: Verdict = isRed
    ? { kind: "wrong reason", why: "red without the mutant" }
    : judge(mutant.killers, await copy.changed(mutant.changes, run));
  tell(mutant, verdict, performance.now() - begunAt);
  return { mutant, verdict };
}

function tell({ id }: Mutant, verdict: Verdict, tookMs: number): void {
  const why = verdict.kind === "killed" ? verdict.how : verdict.kind === "wrong reason" ? verdict.why : "";
  const seconds = `${(tookMs / 1000).toFixed(1)} s`;
  console.log(`${verdict.kind.padEnd(12)}  ${id.padEnd(38)}  ${seconds.padStart(7)}  ${why.slice(0, 110)}`);
}

function tellTotal(results: readonly Result[]): void {
  const killed = results.filter(({ verdict }) => verdict.kind === "killed").length;
  console.log(`\n${killed} of ${results.length} mutants killed`);
  console.log(`Not built yet: ${NOT_BUILT.map((number) => `${number} ${FENCES[number]}`).join("; ")}`);
}

// An interrupt must not leave the server and the copy behind: both are removed on exit.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
await main(process.argv.slice(2));
