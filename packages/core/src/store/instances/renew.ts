import type { InstanceId } from "../../domain/ids.ts";
import type { Transaction } from "../database.ts";
import { type Statement, sql } from "../sql.ts";
import { followTimeline } from "./timeline.ts";

export interface Renewed {
  readonly state: "LIVE" | "DRAINING";
  /** The timeline of the server that renewed it. */
  readonly timeline: number;
}

interface RenewedRow extends Renewed {
  /** Whether the numbers have been raised for this timeline. */
  readonly followed: boolean;
}

/** No row: the lease ran out or others gave us up for dead. There is no way back under this boot id. */
export function renewLease(instanceId: InstanceId, leaseMs: number): Statement<RenewedRow> {
  return sql<RenewedRow>("renewLease")`
    UPDATE signalbox.instance
       SET beat_at = clock_timestamp(), expires_at = clock_timestamp() + ${leaseMs} * interval '1 ms',
           timeline = (SELECT timeline FROM signalbox.known_timeline)
     WHERE boot_id = ${instanceId}
       AND state IN ('LIVE', 'DRAINING')
       AND expires_at > clock_timestamp()
    RETURNING state, signalbox.current_timeline() AS timeline, timeline = signalbox.current_timeline() AS followed
  `;
}

/**
 * A renewal, and on a new timeline what must come before the first claim there. The boot id stays: what the standby
 * had got of our claims is still ours, and reconcile finds the rest. Null: the lease is lost.
 */
export async function renewOnce(
  tx: Transaction,
  instanceId: InstanceId,
  leaseMs: number,
): Promise<Renewed | null> {
  const [renewed] = await tx.query(renewLease(instanceId, leaseMs));
  if (renewed === undefined) return null;
  const { followed, ...answer } = renewed;
  if (followed) return answer;
  await followTimeline(tx);
  const [again] = await tx.query(renewLease(instanceId, leaseMs));
  return again === undefined ? null : { state: again.state, timeline: again.timeline };
}
