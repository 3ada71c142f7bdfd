/** How often a sequence really did what it is there for. What never happened was not tested. */

import { GATE_NAMES } from "./gates.ts";

export interface Coverage {
  readonly steps: Record<string, number>;
  /** How often a task run was parked there. */
  readonly gates: Record<string, number>;
  readonly paths: Record<string, number>;
}

/** Ways that are easy to miss. */
const PATHS = [
  "settle refused",
  "settle answered twice",
  "claim answer lost",
  "handed back",
  "handed off",
  "enqueued behind a version",
  "end undone",
  "aborted",
  "resource kept",
  "resource released",
  "went on after loss",
  "passed no larger version in line",
  "too many interruptions",
  "canceled while running",
  "deferred",
  "demoted",
  "window closed by itself",
  "window opened by itself",
  "retry refused",
  "run reopened",
  "queue timeout",
  "canceled many",
  "retried many",
  "run pruned",
  "kept what ended later",
  "lowered limit below what is active",
  "explained",
  "let go",
  "let go under a cancel",
  "polled",
  "polled again",
  "poll answer lost",
  "lost poll returned",
  "lost while it was polled",
  "too many losses with one job",
  "handle kept",
  "resumed from its handle",
  "left to others by its handle",
  "canceled while outside",
  "canceled while polled",
  "outside job ended",
  "outside job ended at its deadline",
  "outside job could not be asked",
  "outside job could not be ended",
  "trespass outside",
  "trespass on a poll",
] as const;
export type Path = (typeof PATHS)[number];

export function newCoverage(steps: readonly string[]): Coverage {
  const zeros = (names: readonly string[]): Record<string, number> =>
    Object.fromEntries(names.map((name) => [name, 0]));
  return { steps: zeros(steps), gates: zeros(GATE_NAMES), paths: zeros(PATHS) };
}

export function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

export function took({ paths }: Coverage, path: Path): void {
  count(paths, path);
}
