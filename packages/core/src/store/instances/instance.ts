/** The row by which an instance says that it lives. */

import { asInstanceId, type InstanceId } from "../../domain/ids.ts";
import type { ProcessMark } from "../../domain/process-mark.ts";
import { wakeExecutor } from "../../domain/wake.ts";
import type { Transaction } from "../database.ts";
import { sql } from "../sql.ts";

export interface NewInstance {
  /** Drawn by the one who joins, who knows it then also where the answer is lost. Default: the database draws it. */
  readonly instanceId?: InstanceId;
  readonly name: string;
  readonly kinds: readonly string[];
  readonly slots: number;
  readonly leaseMs: number;
  /** Where its process runs and which one it is; null where that cannot be told. */
  readonly mark: ProcessMark | null;
}

/**
 * A new boot id each time: whoever was given up for dead never comes back under the old one. What waited for somebody who
 * can run its kind is woken with it.
 */
export async function joinCluster(tx: Transaction, instance: NewInstance): Promise<InstanceId> {
  const [row] = await tx.query(
    sql<{ instanceId: string }>("joinCluster")`
      WITH woken AS (
        INSERT INTO signalbox.gate_wake (key) SELECT unnest(${instance.kinds.map(wakeExecutor)}::text[])
      )
      INSERT INTO signalbox.instance (boot_id, name, kinds, slots, expires_at, timeline, host, process)
      VALUES (coalesce(${instance.instanceId ?? null}::uuid, gen_random_uuid()), ${instance.name}, ${instance.kinds}::text[], ${instance.slots},
              clock_timestamp() + ${instance.leaseMs} * interval '1 ms',
              (SELECT timeline FROM signalbox.known_timeline),
              ${instance.mark?.host ?? null}, ${instance.mark?.process ?? null})
      RETURNING boot_id AS "instanceId"
    `,
  );
  if (row === undefined) throw new Error("joinCluster returned no row");
  return asInstanceId(row.instanceId);
}

/** From now on it claims nothing; it goes on renewing until what it runs has ended. By itself: nobody can call it back. */
export async function markDraining(tx: Transaction, instanceId: InstanceId): Promise<boolean> {
  const rows = await tx.query(
    sql("markDraining")`
      UPDATE signalbox.instance
         SET state = 'DRAINING', drain_requested_at = NULL, drain_requested_by = NULL, drain_reason = NULL
       WHERE boot_id = ${instanceId} AND state IN ('LIVE', 'DRAINING')
      RETURNING boot_id
    `,
  );
  return rows.length > 0;
}

/** Its last word. What it still had RUNNING, if anything, is rescued at once. */
export async function leaveCluster(tx: Transaction, instanceId: InstanceId): Promise<void> {
  await tx.query(
    sql("leaveCluster")`
      UPDATE signalbox.instance SET state = 'DEAD', expires_at = clock_timestamp(), left_at = clock_timestamp()
       WHERE boot_id = ${instanceId} AND state <> 'DEAD'
    `,
  );
}

export interface LostInstance {
  readonly instanceId: InstanceId;
  readonly name: string;
  readonly silentMs: number;
}

/** Both sides of the comparison are the database's clock; the grace covers a renewal that is on its way. */
export async function markLost(tx: Transaction, graceMs: number): Promise<readonly LostInstance[]> {
  const rows = await tx.query(
    sql<{ instanceId: string; name: string; silentMs: number }>("markLost")`
      UPDATE signalbox.instance
         SET state = 'DEAD'
       WHERE state IN ('LIVE', 'DRAINING')
         AND expires_at + ${graceMs} * interval '1 ms' < clock_timestamp()
      RETURNING boot_id AS "instanceId", name,
                (extract(epoch FROM clock_timestamp() - beat_at) * 1000)::float8 AS "silentMs"
    `,
  );
  return rows.map((row) => ({ ...row, instanceId: asInstanceId(row.instanceId) }));
}

/** Rows of instances that ended long ago and have nothing left to rescue. */
export async function forgetDead(tx: Transaction, olderThanMs: number): Promise<void> {
  await tx.query(
    sql("forgetDead")`
      DELETE FROM signalbox.instance
       WHERE state = 'DEAD' AND expires_at < clock_timestamp() - ${olderThanMs} * interval '1 ms'
         AND NOT EXISTS (SELECT FROM signalbox.claim_batch WHERE instance_id = boot_id)
    `,
  );
}
