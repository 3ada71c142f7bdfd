/**
 * The pool as lists and searches use it: whoever asks for too much is told so, and does not keep a connection and the
 * server busy until the pool gives up on it.
 */

import { SchedulerError } from "../domain/errors.ts";
import type { Pool } from "../store/database.ts";
import { BY_INDEX } from "../store/session.ts";

export interface Bound {
  /** For one statement. */
  readonly withinMs: number;
  /** What to do about it. */
  readonly remedy: string;
}

const LIST_MS = 5_000;
const SEARCH_MS = 15_000;

export const LIST_BOUND: Bound = {
  withinMs: LIST_MS,
  remedy: "ask for fewer at once, or for less by a narrower filter",
};
export const SEARCH_BOUND: Bound = {
  withinMs: SEARCH_MS,
  remedy: "call again, or read the log part by part",
};

/** `queryTimeoutMs` is the patience of the pool itself, before which the server must have given up. */
export function boundedPool(pool: Pool, bound: Bound, queryTimeoutMs: number): Pool {
  const withinMs = Math.max(1, Math.min(bound.withinMs, Math.floor(queryTimeoutMs * 0.8)));
  const timeout = `SET LOCAL statement_timeout = ${withinMs}`;
  return {
    ...pool,
    snapshot: async (work, first) => {
      try {
        return await pool.snapshot(work, first === undefined ? timeout : `${timeout}; ${first}`);
      } catch (error) {
        if (!wasGivenUp(error)) throw error;
        throw new SchedulerError("TOO_SLOW", { withinMs, remedy: bound.remedy }, { cause: error });
      }
    },
  };
}

/** The server's word for a statement that took too long. */
function wasGivenUp(error: unknown): boolean {
  if (!(error instanceof SchedulerError) || error.code !== "DATABASE_UNREACHABLE") return false;
  const { cause } = error;
  return cause instanceof Error && "code" in cause && cause.code === "57014";
}

/** For a look at many things, each of which is found by an index: no table is read as a whole, whatever the planner thinks. */
export async function lookByIndex<Answer>(
  pool: Pool,
  look: Parameters<typeof pool.snapshot<Answer>>[0],
): Promise<Answer> {
  return await pool.snapshot(look, BY_INDEX);
}
