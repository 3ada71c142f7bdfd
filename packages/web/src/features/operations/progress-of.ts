/** How far an operation is, by what it was expected to come to. Pure. */

import type { Operation, OperationPreview } from "@signalbox/contract";

export type SkipReason = NonNullable<OperationPreview["groups"][number]["reason"]>;

export interface OperationProgress {
  /** From 0 to 1; 1 only at its end. */
  readonly share: number;
  /** How many more it came to in the end than was expected; less than 0: fewer. */
  readonly difference: number;
}

export function skippedOf({ skipped }: Pick<Operation, "skipped">): number {
  return Object.values(skipped).reduce((sum, count) => sum + count, 0);
}

/** The set is looked at again while it goes on, so its end alone says that it is whole. */
export function progressOf(
  operation: Pick<Operation, "status" | "done" | "failed" | "expected">,
): OperationProgress {
  const { status, done, failed, expected } = operation;
  const { count, atLeast } = expected.eligible;
  // Not what was skipped: most of that was known before not to be eligible.
  const acted = done + failed;
  if (status !== "DONE") return { share: acted / Math.max(count, acted + 1), difference: 0 };
  return { share: 1, difference: atLeast ? 0 : acted - count };
}
