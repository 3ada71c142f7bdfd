import type { Transaction } from "../database.ts";
import { preparedSql, sql } from "../sql.ts";

/** Any fixed number; "gate" as bytes. */
const GATE_LOCK = 0x67617465;
/** A promoter that is frozen in the middle loses its session, and with it the lock, after this time. */
const FROZEN_AFTER = "2s";

/**
 * The one lock under which gates are decided. It must be a statement of its own, before anything is
 * read: in READ COMMITTED the next statement then sees all that earlier holders of the lock wrote.
 */
export async function tryGateLock(tx: Transaction): Promise<boolean> {
  const [row] = await tx.query(
    preparedSql<{ locked: boolean }>("tryGateLock")`
      SELECT set_config('idle_in_transaction_session_timeout', ${FROZEN_AFTER}, true),
             pg_try_advisory_xact_lock(${GATE_LOCK}) AS locked
    `,
  );
  return row?.locked === true;
}

/** For what must be decided now, such as a changed limit: waits for the pass that is under way. */
export async function takeGateLock(tx: Transaction): Promise<void> {
  await tx.query(
    sql("takeGateLock")`
      SELECT set_config('idle_in_transaction_session_timeout', ${FROZEN_AFTER}, true),
             pg_advisory_xact_lock(${GATE_LOCK})
    `,
  );
}
