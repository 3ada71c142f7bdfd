/**
 * Decides which pending task runs may become AVAILABLE.
 *
 * Pure: the engine reads a snapshot under the gate lock, asks here, and writes the answer. Adding a
 * rule means adding a file under `gates/` and one line in `GATES`.
 */

import { Admission, type Promotion } from "./admission.ts";
import { firstCause } from "./gates/gates.ts";
import type { TaskRunId } from "./ids.ts";
import { comparePlaces } from "./line.ts";
import type { PromotionSnapshot } from "./promotion-snapshot.ts";
import type { WaitingCause } from "./waiting-cause.ts";

export interface PromotionPlan {
  readonly promote: readonly Promotion[];
  readonly waiting: ReadonlyMap<TaskRunId, WaitingCause>;
  /** Could not be judged. They stay where they are; the others are not held up by them. */
  readonly failed: ReadonlyMap<TaskRunId, unknown>;
}

export function planPromotions(snapshot: PromotionSnapshot): PromotionPlan {
  const admission = new Admission(snapshot);
  const promote: Promotion[] = [];
  const waiting = new Map<TaskRunId, WaitingCause>();
  const failed = new Map<TaskRunId, unknown>();
  for (const candidate of snapshot.candidates.toSorted(comparePlaces)) {
    try {
      const cause = firstCause(candidate, admission);
      if (cause === null) {
        promote.push(admission.admit(candidate));
      } else {
        admission.keepWaiting(candidate, cause);
        waiting.set(candidate.taskRunId, cause);
      }
    } catch (error) {
      failed.set(candidate.taskRunId, error);
    }
  }
  return { promote, waiting, failed };
}
