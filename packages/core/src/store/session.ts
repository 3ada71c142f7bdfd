/**
 * What is said to the server before our statements: about the session where it is our own, within each transaction where a
 * pooler stands in between. A pooler refuses such things as startup parameters, and what is set for a session there leaks to
 * its other clients.
 */

/** A process that is frozen in the middle of a transaction must not keep its row locks from the others. */
const IDLE_TIMEOUT_MS = 2_000;

/**
 * Every statement of ours that writes goes by an index; without these the planner turns some of them into hash joins over
 * whole tables when its statistics are a little old, at seven times the cost.
 */
export const BY_INDEX = [
  "SET LOCAL enable_hashjoin = off",
  "SET LOCAL enable_mergejoin = off",
  "SET LOCAL enable_seqscan = off",
].join("; ");

/**
 * To go with the BEGIN of a transaction whose statements are named, nearly all of them: their plans are kept. The server
 * would make some of them anew each time, because it takes a plan without a look at the values for a worse one.
 */
export const KEEP_PLANS = "SET LOCAL plan_cache_mode = force_generic_plan";

/**
 * To go with the BEGIN of a transaction that locks rows by a list of ids: they are locked in the order of the index, which
 * is that of the ids, and not in that in which they happen to lie.
 */
export const IN_INDEX_ORDER = "SET LOCAL enable_bitmapscan = off";

/**
 * What a session may make its plans by: any way there is; by index; and by index, in its order, with plans that are kept. A session
 * of our own is told where that changes: to say it within each transaction takes an idle server a tenth of the time of a claim.
 */
export type Planning = "any" | "by index" | "kept";

export function planningText(planning: Planning): string {
  const byAny = planning === "any" ? "on" : "off";
  return [
    `SET enable_hashjoin = ${byAny}`,
    `SET enable_mergejoin = ${byAny}`,
    `SET enable_seqscan = ${byAny}`,
    `SET enable_bitmapscan = ${planning === "kept" ? "off" : "on"}`,
    `SET plan_cache_mode = ${planning === "kept" ? "force_generic_plan" : "auto"}`,
  ].join("; ");
}

export interface SessionTexts {
  /** Once, for a session that is our own. */
  readonly session: string;
  readonly begin: string;
  readonly beginElsewhere: string;
  readonly beginSnapshot: string;
}

export function sessionTexts(queryTimeoutMs: number): SessionTexts {
  // The server gives up on a statement before the client does.
  const statementTimeoutMs = Math.max(1, Math.floor(queryTimeoutMs * 0.8));
  const bounds = [
    `statement_timeout = ${statementTimeoutMs}`,
    `idle_in_transaction_session_timeout = ${IDLE_TIMEOUT_MS}`,
    "jit = off",
  ];
  const boundsHere = bounds.map((bound) => `SET LOCAL ${bound}`);
  return {
    session: [
      // What goes with a BEGIN must not be carried out without it: only a transaction that says so may write.
      "SET default_transaction_read_only = on",
      "SET default_transaction_isolation = 'read committed'",
      ...bounds.map((bound) => `SET ${bound}`),
    ].join("; "),
    begin: "BEGIN READ WRITE",
    // A bare BEGIN, which cannot fail for what it asks for: whatever comes after it leaves a transaction that takes nothing.
    beginElsewhere: [
      "BEGIN",
      "SET TRANSACTION ISOLATION LEVEL READ COMMITTED READ WRITE",
      ...boundsHere,
      BY_INDEX,
    ].join("; "),
    beginSnapshot: ["BEGIN", "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY", ...boundsHere].join(
      "; ",
    ),
  };
}
