/** Runs named tests in a copy of the repository and tells what became of them. */
import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Killer } from "./read-mutants.ts";

/** Far more than a runner takes to start, and than any named test takes. */
const PATIENCE_MS = { forItself: 120_000, forEach: 20_000 };

interface Ended {
  readonly fullName: string;
  readonly status: string;
  readonly failureMessages: readonly string[];
}

export interface TestRun {
  readonly tests: readonly Ended[];
  /** A file that could not be loaded, or a runner that ended without a report. */
  readonly trouble: string | null;
}

/** Placeholders of a table of cases stand for anything. */
function patternOf(title: string): string {
  return title
    .split(/%[sdi]|\$\w+/)
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join(".*");
}

export function isOf({ title }: Killer, { fullName }: Ended): boolean {
  return new RegExp(patternOf(title)).test(fullName);
}

export async function runTests(
  dir: string,
  databaseUrl: string,
  killers: readonly Killer[],
): Promise<TestRun> {
  const report = join(dir, "mutant-report.json");
  rmSync(report, { force: true });
  const giveUpAfterMs = PATIENCE_MS.forItself + PATIENCE_MS.forEach * killers.length;
  const output = await vitest(dir, databaseUrl, giveUpAfterMs, [
    "run",
    ...new Set(killers.map(({ file }) => `--project=${file.endsWith(".db.test.ts") ? "db" : "unit"}`)),
    "--typecheck.enabled=false",
    "--reporter=json",
    `--outputFile=${report}`,
    "--testNamePattern",
    killers.map((killer) => patternOf(killer.title)).join("|"),
    ...new Set(killers.map(({ file }) => file)),
  ]);
  return readReport(report) ?? { tests: [], trouble: output.slice(-2_000) || "no report" };
}

async function vitest(
  dir: string,
  databaseUrl: string,
  giveUpAfterMs: number,
  args: readonly string[],
): Promise<string> {
  const child = spawn(process.execPath, [join(dir, "node_modules/vitest/vitest.mjs"), ...args], {
    cwd: dir,
    env: { ...process.env, SIGNALBOX_TEST_DATABASE_URL: databaseUrl, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => output.push(String(bytes)));
  const timer = setTimeout(() => child.kill("SIGKILL"), giveUpAfterMs);
  await new Promise<void>((resolve, reject) => child.once("error", reject).once("close", () => resolve()));
  clearTimeout(timer);
  return output.join("");
}

function readReport(path: string): TestRun | null {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return null;
  }
  const { testResults } = JSON.parse(text) as {
    testResults: readonly { name: string; message: string; assertionResults: readonly Ended[] }[];
  };
  const broken = testResults.find(
    ({ message, assertionResults }) => message !== "" && assertionResults.length === 0,
  );
  return {
    tests: testResults.flatMap(({ assertionResults }) => assertionResults),
    trouble: broken === undefined ? null : `${broken.name}: ${broken.message}`,
  };
}
