/**
 * After a failover to a promoted standby the numbers that the lost tail of the old primary gave out would be given
 * out again. Whoever comes first on a new timeline raises them; before that nobody can claim there, because the claim
 * compares the instance's row with the server's timeline.
 */

import type { Transaction } from "../database.ts";
import { sql } from "../sql.ts";

export interface Followed {
  readonly timeline: number;
  /** Whether this transaction is the one that raised the numbers. */
  readonly raised: boolean;
}

/** More claims than any lag between a primary and its standby can hold. */
const NUMBERS_PER_TIMELINE = 2 ** 20;

/**
 * In the transaction that then writes the known timeline to the instance's row. Two at once: the second waits for the
 * row and finds it done. Died half-way: the sequence stays raised, the row does not, and the next one raises it again,
 * which harms nobody.
 */
export async function followTimeline(tx: Transaction): Promise<Followed> {
  const { known, current } = await readTimelines(tx);
  if (known === current) return { timeline: current, raised: false };
  // Locked in one statement, decided in the next.
  await tx.query(sql("lockKnownTimeline")`SELECT FROM signalbox.known_timeline FOR UPDATE`);
  const { known: lockedKnown } = await readTimelines(tx);
  if (lockedKnown === current) return { timeline: current, raised: false };
  // Timelines that came and went without us gave out numbers too. A restored copy can be on a smaller one.
  await raiseNumbers(tx, NUMBERS_PER_TIMELINE * Math.max(1, current - lockedKnown));
  await tx.query(
    sql("knowTimeline")`
      UPDATE signalbox.known_timeline SET timeline = ${current}, raised_at = clock_timestamp()
    `,
  );
  return { timeline: current, raised: true };
}

/** Nobody takes a number meanwhile: on this timeline no claim is possible before our commit. */
async function raiseNumbers(tx: Transaction, by: number): Promise<void> {
  await tx.query(
    sql("raiseClaimNo")`
      SELECT setval('signalbox.claim_no', nextval('signalbox.claim_no') + ${by}::bigint)
    `,
  );
}

async function readTimelines(tx: Transaction): Promise<{ readonly known: number; readonly current: number }> {
  const [row] = await tx.query(
    sql<{ known: number; current: number }>("readTimelines")`
      SELECT timeline AS known, signalbox.current_timeline() AS current FROM signalbox.known_timeline
    `,
  );
  if (row === undefined) throw new Error("signalbox.known_timeline has lost its row");
  return row;
}
