/** Writes what a run has shown to `docs/proof.md`, below "Chaos": one entry per test, replaced by the next run of it. */

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { slowness } from "../ha/slowness.ts";
import type { Sometimes } from "../ha/sometimes.ts";

export interface Proof {
  /** A sentence that the run has shown to hold. */
  readonly title: string;
  readonly seed: number;
  readonly seconds: number;
  /** How often each fault was done. */
  readonly faults: Sometimes;
  /** How often each path was taken that faults are there for. */
  readonly paths: Sometimes;
  /** What else is worth knowing, a line each. */
  readonly notes?: readonly string[];
}

const FILE = fileURLToPath(new URL("../../docs/proof.md", import.meta.url));
const HEAD = "# Proof\n\nWhat the long tests have shown, written by their last runs. Not by hand.\n";
const CHAOS = "## Chaos\n";
const CHAOS_INTRO = `
Real processes of compiled code, a load, and somebody who checks the [properties](invariants.md) every second while faults happen and once
more over the whole history when all has drained. The load is work at every gate and of every kind (functions, processes, outside jobs,
deferrals, retries, timeouts, keys, work that is lost with each \`onLost\`), and what people change meanwhile: limits, pauses, windows, stops,
cancels and retries, one and many, reservations released. Instances are killed at random and at exact points: of every act that writes, when
its statement was sent, before its commit and after it (\`test/ha/kill-points.ts\`, which a test compares with the statements of the store).
\`npm run test:long\`; \`SIGNALBOX_LONG_SEED\` repeats the choices of a run, \`SIGNALBOX_LONG_SECONDS\` sets its length. A path that was never taken fails the run.
\`npm test\` has a short round of each.

The disk is filled twice in each round: for the tables, until an enqueue, a claim and a settlement were each refused with 53100, and for the
server's log, until the server goes down. With room again what was acknowledged is done, and nothing is there of what was refused.
`;

export function writeProof(proof: Proof): void {
  const text = existsSync(FILE) ? readFileSync(FILE, "utf8") : HEAD;
  const [before, after] = splitAt(text);
  const entry = render(proof);
  process.stdout.write(`\n${entry}\n`);
  writeFileSync(FILE, `${before}${replaceEntry(after, proof.title, entry)}`);
}

const [MEMORY_BEGIN, MEMORY_END] = ["<!-- memory begin -->", "<!-- memory end -->"];

/** What an instance weighs, between two marks. */
export function writeMeasured(lines: readonly string[]): void {
  const text = readFileSync(FILE, "utf8");
  const [begin, end] = [text.indexOf(MEMORY_BEGIN), text.indexOf(MEMORY_END)];
  if (begin < 0 || end < begin) throw new Error("docs/proof.md has no place for the memory");
  const entry = [whenAndWhere(), "", ...lines.map((each) => `- ${each}`)].join("\n");
  process.stdout.write(`\n${entry}\n`);
  writeFileSync(FILE, `${text.slice(0, begin)}${MEMORY_BEGIN}\n\n${entry}\n\n${text.slice(end)}`);
}

/** At the end of the section "Chaos", which is made where it is missing. */
function splitAt(text: string): readonly [string, string] {
  const from = text.indexOf(CHAOS);
  if (from < 0) return [`${text.trimEnd()}\n\n${CHAOS}${CHAOS_INTRO}`, ""];
  return [text.slice(0, from), text.slice(from)];
}

function replaceEntry(section: string, title: string, entry: string): string {
  const from = section.indexOf(`### ${title}\n`);
  if (from >= 0) {
    const rest = section.slice(from + 4);
    const next = rest.search(/^##/m);
    const after = next < 0 ? "" : rest.slice(next);
    return `${section.slice(0, from)}${entry}\n${after === "" ? "" : `\n${after}`}`;
  }
  // Before the section that somebody else wrote after ours.
  const next = section.slice(CHAOS.length).search(/^## /m);
  if (next < 0) return `${section.trimEnd()}${section === "" ? "" : "\n"}\n${entry}\n`;
  const at = CHAOS.length + next;
  return `${section.slice(0, at).trimEnd()}\n\n${entry}\n\n${section.slice(at)}`;
}

function render({ title, seed, seconds, faults, paths, notes = [] }: Proof): string {
  const total = Object.values(faults).reduce((sum, count) => sum + count, 0);
  const rows = [
    whenAndWhere(`seed ${seed}`, `${Math.round(seconds)} s`),
    "",
    `- ${total} faults: ${list(faults)}`,
    ...(Object.keys(paths).length === 0 ? [] : [`- paths taken: ${list(paths)}`]),
    ...notes.map((note) => `- ${note}`),
  ];
  return `### ${title}\n\n${rows.join("\n")}`;
}

function whenAndWhere(...more: readonly string[]): string {
  const when = new Date().toISOString().slice(0, 16).replace("T", " ");
  const parts = [
    `${when} UTC`,
    `commit ${commit()}`,
    ...more,
    `Node ${process.versions.node}`,
    `load ${slowness().toFixed(1)} per core`,
  ];
  return `${parts.join(", ")}.`;
}

function list(counts: Sometimes): string {
  return Object.entries(counts)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");
}

function commit(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  } catch {
    return "unknown";
  }
}
