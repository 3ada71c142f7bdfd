/**
 * Which topics the server cannot read now. By topic: an answer to one that was under way says nothing of the others, and the
 * server tells each trouble once.
 */

import type { Problem } from "@signalbox/contract";

export interface Troubles {
  /** Null: it was read. Answers what is left to show, if anything. */
  readonly note: (topic: string, problem: Problem | null) => Problem | null;
  /** Of others nobody wants to know any more. */
  readonly keep: (topics: readonly string[]) => Problem | null;
}

const UNAVAILABLE = 503;

export function createTroubles(): Troubles {
  const known = new Map<string, Problem>();
  const first = (): Problem | null => known.values().next().value ?? null;
  return {
    note: (topic, problem) => {
      // What is not found, or refused, is the business of the page that asked.
      if (problem?.status === UNAVAILABLE) known.set(topic, problem);
      else known.delete(topic);
      return first();
    },
    keep: (topics) => {
      for (const topic of known.keys()) if (!topics.includes(topic)) known.delete(topic);
      return first();
    },
  };
}
