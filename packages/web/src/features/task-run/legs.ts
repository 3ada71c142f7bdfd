/** The stays of a task run on its regular way, from its stamps. Pure. */

import type { TaskRun } from "@signalbox/contract";

export interface Leg {
  readonly status: "PENDING" | "AVAILABLE" | "RUNNING";
  readonly from: string;
  /** Null: it is still there. */
  readonly until: string | null;
}

type Stamps = Pick<TaskRun, "enqueuedAt" | "availableAt" | "claimedAt" | "finishedAt">;

export function legsOf({ enqueuedAt, availableAt, claimedAt, finishedAt }: Stamps): readonly Leg[] {
  const legs: Leg[] = [];
  // Enqueued where no gate can apply: it was never PENDING.
  if (availableAt !== enqueuedAt) {
    legs.push({ status: "PENDING", from: enqueuedAt, until: availableAt ?? finishedAt });
  }
  if (availableAt !== null)
    legs.push({ status: "AVAILABLE", from: availableAt, until: claimedAt ?? finishedAt });
  if (claimedAt !== null) legs.push({ status: "RUNNING", from: claimedAt, until: finishedAt });
  return legs;
}
