import type { Transaction } from "../database.ts";
import { sql } from "../sql.ts";

/**
 * Sent with the BEGIN of every claim. A claim sees what may start as it was when it began; whoever closes something
 * waits with `takeClaimLock` for the claims that are under way, and those that come see it closed.
 */
export const SHARE_CLAIM_LOCK = "LOCK TABLE signalbox.claim_lock IN ROW SHARE MODE";

/** What claims of instances from before 0018 share; "clai" as bytes. */
const OLDER_CLAIM_LOCK = 0x636c6169;

/** After the gate lock, never before it. Claims wait until the commit: do nothing slow from here on. */
export async function takeClaimLock(tx: Transaction): Promise<void> {
  await tx.query(sql("takeOlderClaimLock")`SELECT pg_advisory_xact_lock(${OLDER_CLAIM_LOCK})`);
  await tx.query(sql("takeClaimLock")`LOCK TABLE signalbox.claim_lock IN EXCLUSIVE MODE`);
}
