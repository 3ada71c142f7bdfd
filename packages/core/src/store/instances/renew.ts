import type { InstanceId } from "../../domain/ids.ts";
import { type Statement, sql } from "../sql.ts";

/** No row: the lease ran out or others gave us up for dead. There is no way back under this boot id. */
export function renewLease(
  instanceId: InstanceId,
  leaseMs: number,
): Statement<{ state: "LIVE" | "DRAINING" }> {
  return sql<{ state: "LIVE" | "DRAINING" }>("renewLease")`
    UPDATE signalbox.instance
       SET beat_at = clock_timestamp(), expires_at = clock_timestamp() + ${leaseMs} * interval '1 ms'
     WHERE boot_id = ${instanceId}
       AND state IN ('LIVE', 'DRAINING')
       AND expires_at > clock_timestamp()
    RETURNING state
  `;
}
