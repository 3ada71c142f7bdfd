import type { Transaction } from "../database.ts";
import { sql } from "../sql.ts";

/** Any fixed number; "clai" as bytes. */
const CLAIM_LOCK = 0x636c6169;

/**
 * Sent with the BEGIN of every claim. A claim sees what may start as it was when it began; whoever closes something
 * waits with `takeClaimLock` for the claims that are under way, and those that come see it closed.
 */
export const SHARE_CLAIM_LOCK = `SELECT pg_advisory_xact_lock_shared(${CLAIM_LOCK})`;

/** After the gate lock, never before it. Claims wait until the commit: do nothing slow from here on. */
export async function takeClaimLock(tx: Transaction): Promise<void> {
  await tx.query(sql("takeClaimLock")`SELECT pg_advisory_xact_lock(${CLAIM_LOCK})`);
}
