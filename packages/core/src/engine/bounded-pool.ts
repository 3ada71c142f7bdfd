/**
 * The pool as lists and searches use it: whoever asks for too much is told so, and does not keep a connection and the
 * server busy until the pool gives up on it.
 */

import { SchedulerError } from "../domain/errors.ts";
import type { Pool } from "../store/database.ts";
import { BY_INDEX } from "../store/session.ts";

interface Bound {
  /** For one statement, by the server. */
  readonly withinMs: number;
  /** For one statement, by the client: the server must have given up before. Default: that of the pool. */
  readonly patienceMs?: number;
  /** What to do about it. */
  readonly remedy: string;
}

const LIST_MS = 5_000;
/** How much of the client's patience the server has. */
const SERVERS_PART = 0.8;

/** `queryTimeoutMs` is the patience of the pool itself. */
export function listBound(queryTimeoutMs: number): Bound {
  return {
    withinMs: Math.min(LIST_MS, serversPart(queryTimeoutMs)),
    remedy: "ask for fewer at once, or for less by a narrower filter",
  };
}

export function searchBound(searchTimeoutMs: number): Bound {
  return {
    withinMs: Math.ceil(searchTimeoutMs),
    patienceMs: Math.ceil(searchTimeoutMs / SERVERS_PART),
    remedy: "call again, or read the log part by part",
  };
}

function serversPart(ms: number): number {
  return Math.max(1, Math.floor(ms * SERVERS_PART));
}

export function boundedPool(pool: Pool, { withinMs, patienceMs, remedy }: Bound): Pool {
  const timeout = `SET LOCAL statement_timeout = ${withinMs}`;
  return {
    ...pool,
    snapshot: async (work, first) => {
      try {
        return await pool.snapshot(work, first === undefined ? timeout : `${timeout}; ${first}`, patienceMs);
      } catch (error) {
        if (!wasGivenUp(error)) throw error;
        throw new SchedulerError("TOO_SLOW", { withinMs, remedy }, { cause: error });
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
