import type { Database } from "../database.ts";
import { type Statement, sql } from "../sql.ts";
import {
  holdsAreWhatIsActive,
  runningIsOwned,
  runsEndOnce,
  type Violation,
  waitingIsPending,
} from "./active-sets.ts";
import {
  attemptsAreAChain,
  exclusionHolds,
  nothingStartsEarly,
  onlyKnownMoves,
  runLimitsHold,
  versionsStartInOrder,
} from "./history.ts";
import { keyLimitsHold, nothingForbiddenStarts, queueLimitsHold } from "./rules.ts";

/** A promise that is broken in the database. */
export interface InvariantViolation {
  /** "S6", …: the properties are listed in docs/invariants.md. */
  readonly property: string;
  readonly detail: string;
}

/** The answer of `checkInvariants`. */
export interface InvariantReport {
  readonly violations: readonly InvariantViolation[];
  /** What could not be checked on this server, with the reason. */
  readonly notChecked: readonly string[];
}

export interface InvariantOptions {
  /** How far back the history is read. */
  readonly since: Date;
  /** How long a dead instance's task runs may be RUNNING before that is a violation. */
  readonly rescueWithinMs: number;
}

/** In one snapshot: while work goes on, two reads would not agree with each other. */
export async function checkInvariants(db: Database, options: InvariantOptions): Promise<InvariantReport> {
  const { since, rescueWithinMs } = options;
  const [server] = await db.query(
    sql<{ tracked: string }>("tracksCommits")`SELECT current_setting('track_commit_timestamp') AS tracked`,
  );
  const knowsCommits = server?.tracked === "on";
  const checks: [string, Statement<Violation>][] = [
    ["S1", onlyKnownMoves(since)],
    ["S3", attemptsAreAChain(since)],
    ["S5", runningIsOwned(rescueWithinMs)],
    ["S6", exclusionHolds(since)],
    ["S7", runLimitsHold(since)],
    ["S7", queueLimitsHold(since)],
    ["S7", keyLimitsHold(since)],
    ...(knowsCommits ? [["S8", versionsStartInOrder(since)] satisfies [string, Statement<Violation>]] : []),
    ["S9", nothingStartsEarly(since)],
    ["S9", nothingForbiddenStarts(since)],
    ["S21", waitingIsPending()],
    ["S21", holdsAreWhatIsActive()],
    ["S25", runsEndOnce(since)],
  ];
  const violations: InvariantViolation[] = [];
  for (const [property, statement] of checks) {
    for (const { detail } of await db.query(statement)) violations.push({ property, detail });
  }
  return { violations, notChecked: knowsCommits ? [] : ["S8: needs track_commit_timestamp = on"] };
}
