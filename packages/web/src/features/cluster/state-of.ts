import type { InstanceView } from "@signalbox/contract";

export type InstanceStateName = "live" | "late" | "draining" | "lost" | "left";

/** Of the lease: an instance that has used up this much of it without a beat is late. */
const LATE_PART = 0.5;

/** How long an answer counts as the present: between two polls nobody is late. */
const FRESH_MS = 4_500;

/** What the database said of it when it was read, and how its lease stood then. Pure. */
export function stateOf(
  { state, beatAt, leaseUntil, leftAt }: InstanceView,
  readAt: number,
  now: number,
): InstanceStateName {
  if (state === "DEAD") return leftAt === null ? "lost" : "left";
  const [beat, until] = [Date.parse(beatAt), Date.parse(leaseUntil)];
  const at = Math.max(readAt, now - FRESH_MS);
  if (at > beat + (until - beat) * LATE_PART) return "late";
  return state === "DRAINING" ? "draining" : "live";
}
