import type { InstanceView } from "@signalbox/contract";

export type InstanceStateName = "live" | "late" | "draining" | "lost";

/** Of the lease: an instance that has used up this much of it without a beat is late. */
const LATE_PART = 0.5;

/** What the database says of it, and how its lease stands by the server's clock. Pure. */
export function stateOf({ state, beatAt, leaseUntil }: InstanceView, now: number): InstanceStateName {
  if (state === "DEAD") return "lost";
  const [beat, until] = [Date.parse(beatAt), Date.parse(leaseUntil)];
  if (now > beat + (until - beat) * LATE_PART) return "late";
  return state === "DRAINING" ? "draining" : "live";
}
