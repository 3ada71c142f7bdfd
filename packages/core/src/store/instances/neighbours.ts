/** Instances on the same host as one that starts. */

import { asInstanceId, type InstanceId } from "../../domain/ids.ts";
import type { Database, Transaction } from "../database.ts";
import { sql } from "../sql.ts";
import type { LostInstance } from "./instance.ts";

export interface Neighbour {
  readonly instanceId: InstanceId;
  /** The mark of its process. */
  readonly process: string;
}

export async function readNeighbours(db: Database, host: string): Promise<readonly Neighbour[]> {
  const rows = await db.query(
    sql<{ instanceId: string; process: string }>("readNeighbours")`
      SELECT boot_id AS "instanceId", process
        FROM signalbox.instance
       WHERE host = ${host} AND state IN ('LIVE', 'DRAINING')
    `,
  );
  return rows.map((row) => ({ ...row, instanceId: asInstanceId(row.instanceId) }));
}

/** Their processes are gone, which is for good: their leases need not run out. What they left is rescued by the next pass. */
export async function expireGone(
  tx: Transaction,
  gone: readonly InstanceId[],
): Promise<readonly LostInstance[]> {
  const rows = await tx.query(
    sql<{ instanceId: string; name: string; silentMs: number }>("expireGone")`
      UPDATE signalbox.instance
         SET state = 'DEAD', expires_at = least(expires_at, clock_timestamp())
       WHERE boot_id = ANY (${gone}::uuid[]) AND state IN ('LIVE', 'DRAINING')
      RETURNING boot_id AS "instanceId", name,
                (extract(epoch FROM clock_timestamp() - beat_at) * 1000)::float8 AS "silentMs"
    `,
  );
  return rows.map((row) => ({ ...row, instanceId: asInstanceId(row.instanceId) }));
}
