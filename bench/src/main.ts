/**
 * `npm run bench [-- --full] [-- <part of the name of a scenario> …]`: Signalbox beside its peers in one run on one
 * PostgreSQL. Prints a table, writes `results/last.json`. Ends with 1 where a round is void; a missed bar is said, not hidden.
 */

import { cpus } from "node:os";
import { newDatabases, type Scenario } from "./bench.ts";
import { type Figure, verdictOf } from "./figure.ts";
import { render } from "./render.ts";
import { writeResults } from "./results.ts";
import { backlog } from "./scenarios/backlog.ts";
import { bulk, oneByOne } from "./scenarios/enqueue.ts";
import { freed } from "./scenarios/freed.ts";
import { allGates, exclusive, longerAllGates, longerExclusive } from "./scenarios/gates.ts";
import { idleLatency } from "./scenarios/latency.ts";
import { memory } from "./scenarios/memory.ts";
import { longer, oneProcess, twoProcesses } from "./scenarios/no-ops.ts";
import { oldSnapshot } from "./scenarios/old-snapshot.ts";
import { processes } from "./scenarios/processes.ts";
import { tenMinutes } from "./scenarios/ten-minutes.ts";
import { startServer } from "./server.ts";

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  "no-ops": oneProcess,
  "longer-no-ops": longer,
  "two-processes": twoProcesses,
  exclusive,
  "longer-exclusive": longerExclusive,
  "all-gates": allGates,
  "longer-all-gates": longerAllGates,
  bulk,
  "one-by-one": oneByOne,
  latency: idleLatency,
  processes,
  memory,
  freed,
  "old-snapshot": oldSnapshot,
  backlog,
  "ten-minutes": tenMinutes,
};

/** Take so long that a run without --full leaves them out. */
const ONLY_IN_FULL: readonly string[] = ["backlog", "ten-minutes"];

const args = process.argv.slice(2);
const full = args.includes("--full");
const words = args.filter((arg) => arg !== "--full");
const chosen = Object.entries(SCENARIOS).filter(
  ([name]) => words.length === 0 || words.some((word) => name.includes(word)),
);
if (chosen.length === 0) {
  process.stderr.write(
    `No scenario is called like ${words.join(" or ")}; there are ${Object.keys(SCENARIOS).join(", ")}\n`,
  );
  process.exit(2);
}

const note = (text: string): void => void process.stderr.write(`${text}\n`);
const measured = chosen.filter(([name]) => full || !ONLY_IN_FULL.includes(name));
if (measured.length < chosen.length) note(`Only with --full: ${ONLY_IN_FULL.join(", ")}`);
if (measured.length === 0) process.exit(2);
let isInterrupted = false;
const interrupted = new Promise<never>((_, reject) => {
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => {
      note(`Interrupted by ${signal}`);
      isInterrupted = true;
      // What is under way fails when the server goes, and nobody waits for it any more.
      process.on("unhandledRejection", () => {});
      process.on("uncaughtException", () => {});
      reject(new Error(`Interrupted by ${signal}`));
    });
});
// Each scenario is raced with it; between two of them nobody listens.
interrupted.catch(() => {});
const starting = startServer();
const server = await Promise.race([starting, interrupted]).catch(async (error: unknown) => {
  await starting.then(
    async ({ stop }) => await stop(),
    () => {},
  );
  leaveWhereInterrupted();
  throw error;
});
const machine = `PostgreSQL ${server.version}, Node ${process.versions.node}, ${cpus().length} cores`;
const asked = measured.map(([name]) => name);
const done: string[] = [];
const figures: Figure[] = [];
try {
  for (const [name, scenario] of measured) {
    note(name);
    const bench = { server, rounds: full ? 5 : 3, full, note, inDatabase: newDatabases(server) };
    const measuring = scenario(bench);
    figures.push(...(await Promise.race([measuring, interrupted])));
    done.push(name);
    writeResults({ machine, asked, done, figures });
  }
} finally {
  // Before the server is stopped: whatever that comes to, the figures are there.
  process.stdout.write(`\n${machine}\n\n${render(figures)}\n`);
  if (figures.some((figure) => verdictOf(figure) === "void")) process.exitCode = 1;
  await server.stop().catch((error: unknown) => {
    note(`The server did not stop: ${String(error)}`);
    process.exitCode = 1;
  });
  leaveWhereInterrupted();
}

/** Workers that are still at work would keep this process here; they end with it. */
function leaveWhereInterrupted(): void {
  if (isInterrupted) process.exit(1);
}
