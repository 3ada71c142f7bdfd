/** Asking an instance from outside to drain, and taking that back. */

import type { InstanceId } from "../../domain/ids.ts";
import { wakeExecutor } from "../../domain/wake.ts";
import type { Transaction } from "../database.ts";
import { wakeGates } from "../holds/wake.ts";
import { sql } from "../sql.ts";

export interface DrainRequest {
  readonly by: string | null;
  readonly reason: string | null;
}

/** LIVE → DRAINING. False: it is not LIVE. */
export async function requestDrain(
  tx: Transaction,
  instanceId: InstanceId,
  { by, reason }: DrainRequest,
): Promise<boolean> {
  const rows = await tx.query(
    sql("requestDrain")`
      UPDATE signalbox.instance
         SET state = 'DRAINING', drain_requested_at = clock_timestamp(), drain_requested_by = ${by}, drain_reason = ${reason}
       WHERE boot_id = ${instanceId} AND state = 'LIVE'
      RETURNING boot_id
    `,
  );
  return rows.length > 0;
}

/** DRAINING → LIVE for one that was asked to, and lives. What waited for somebody who can run its kinds is woken with it. */
export async function endDrain(tx: Transaction, instanceId: InstanceId): Promise<boolean> {
  const [row] = await tx.query(
    sql<{ kinds: readonly string[] }>("endDrain")`
      UPDATE signalbox.instance
         SET state = 'LIVE', drain_requested_at = NULL, drain_requested_by = NULL, drain_reason = NULL
       WHERE boot_id = ${instanceId} AND state = 'DRAINING'
         AND drain_requested_at IS NOT NULL AND expires_at > clock_timestamp()
      RETURNING kinds
    `,
  );
  if (row === undefined) return false;
  await wakeGates(tx, row.kinds.map(wakeExecutor));
  return true;
}

/** The next life of an instance is asked for what the last one was. False: that one was not, or was called back. */
export async function carryDrain(tx: Transaction, from: InstanceId, to: InstanceId): Promise<boolean> {
  const rows = await tx.query(
    sql("carryDrain")`
      UPDATE signalbox.instance AS i
         SET state = 'DRAINING', drain_requested_at = before.drain_requested_at,
             drain_requested_by = before.drain_requested_by, drain_reason = before.drain_reason
        FROM signalbox.instance AS before
       WHERE i.boot_id = ${to} AND i.state = 'LIVE'
         AND before.boot_id = ${from} AND before.drain_requested_at IS NOT NULL
      RETURNING i.boot_id
    `,
  );
  return rows.length > 0;
}

export async function isInstance(tx: Transaction, instanceId: InstanceId): Promise<boolean> {
  const rows = await tx.query(
    sql("isInstance")`SELECT FROM signalbox.instance WHERE boot_id = ${instanceId}`,
  );
  return rows.length > 0;
}
