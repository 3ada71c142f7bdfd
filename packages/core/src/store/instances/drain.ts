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

/**
 * Takes the request back: DRAINING → LIVE for one that lives, and the next life of one that has lost its lease is not asked.
 * What waited for somebody who can run its kinds is woken with it. False: nobody had asked it, or its next life has the request.
 */
export async function endDrain(tx: Transaction, instanceId: InstanceId): Promise<boolean> {
  const [row] = await tx.query(
    sql<{ kinds: readonly string[] }>("endDrain")`
      UPDATE signalbox.instance
         SET state = CASE WHEN state = 'DRAINING' AND expires_at > clock_timestamp() THEN 'LIVE' ELSE state END,
             drain_requested_at = NULL, drain_requested_by = NULL, drain_reason = NULL
       WHERE boot_id = ${instanceId} AND drain_requested_at IS NOT NULL
      RETURNING kinds
    `,
  );
  if (row === undefined) return false;
  await wakeGates(tx, row.kinds.map(wakeExecutor));
  return true;
}

/**
 * Moves the request to the next life of an instance: one that is called back under an old id meanwhile is called back before, or has
 * no request any more. Nobody is asked under an old id from then on, and would not hear of it. False: none of them was asked, or it
 * was called back.
 */
export async function carryDrain(
  tx: Transaction,
  former: readonly InstanceId[],
  to: InstanceId,
): Promise<boolean> {
  if (former.length === 0) return false;
  const rows = await tx.query(
    sql("carryDrain")`
      WITH lives AS MATERIALIZED (
        SELECT boot_id, drain_requested_at, drain_requested_by, drain_reason
          FROM signalbox.instance
         WHERE boot_id = ANY (${former}::uuid[])
         ORDER BY boot_id
           FOR UPDATE
      ), over AS (
        UPDATE signalbox.instance
           SET state = CASE state WHEN 'LIVE' THEN 'DRAINING' ELSE state END,
               drain_requested_at = NULL, drain_requested_by = NULL, drain_reason = NULL
         WHERE boot_id = ANY (ARRAY(SELECT boot_id FROM lives))
      )
      UPDATE signalbox.instance AS i
         SET state = 'DRAINING', drain_requested_at = asked.drain_requested_at,
             drain_requested_by = asked.drain_requested_by, drain_reason = asked.drain_reason
        FROM (SELECT * FROM lives WHERE drain_requested_at IS NOT NULL ORDER BY drain_requested_at LIMIT 1) AS asked
       WHERE i.boot_id = ${to} AND i.state = 'LIVE'
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
