/** What the rules make of an end: how a task run is left, and whether a new attempt follows. */

import type { ModelTaskRun } from "./model.ts";
import type { Next } from "./moves.ts";
import type { JobAsked } from "./outside-jobs.ts";

export const MOST_INTERRUPTIONS = 3;

/** What is to be written by the rules. Those of one sort are written together. */
export type Meaning =
  | {
      readonly sort: "end";
      readonly status: "DONE" | "FAILED" | "CANCELED";
      readonly outcome: string;
      readonly next: Next | null;
    }
  | { readonly sort: "deferred"; readonly later: boolean }
  | { readonly sort: "let go"; readonly job: JobAsked }
  | { readonly sort: "polled"; readonly afterMs: number; readonly answered: boolean };

export const DONE: Meaning = { sort: "end", status: "DONE", outcome: "SUCCEEDED", next: null };
export const STOPPED: Meaning = { sort: "end", status: "CANCELED", outcome: "CANCELED", next: null };

/** Attempts that ended with their instance do not count as failures. */
export function failed(
  { attempt, interruptions, task }: ModelTaskRun,
  outcome: string,
  { later, keeps }: { readonly later: boolean; readonly keeps: boolean },
): Meaning {
  const again = attempt - interruptions < task.wish.attempts;
  const next = again ? { interruptions, later: later || task.wish.backsOff, keeps } : null;
  return { sort: "end", status: "FAILED", outcome, next };
}

export function lost({ interruptions, task }: ModelTaskRun, outcome: string, keeps: boolean): Meaning {
  const end = { sort: "end", status: "FAILED" } as const;
  if (task.wish.onLost === "fail") return { ...end, outcome, next: null };
  if (interruptions >= MOST_INTERRUPTIONS) return { ...end, outcome: "TOO_MANY_INTERRUPTIONS", next: null };
  return { ...end, outcome, next: { interruptions: interruptions + 1, later: false, keeps } };
}
