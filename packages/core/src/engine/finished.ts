/** An execution that came to something which is still to be recorded. */

import type { InstanceId } from "../domain/ids.ts";
import type { Decision } from "../domain/settlement.ts";
import type { Transaction } from "../store/database.ts";
import { type Claim, forgetBatches } from "../store/task-runs/claim.ts";
import type { HeldClaims } from "./held-claims.ts";
import type { NamedTaskRun } from "./telemetry.ts";

export type DecisionOf<Kind extends Decision["kind"]> = Extract<Decision, { readonly kind: Kind }>;

export interface Finished<Decided extends Decision = Decision> {
  readonly claim: Claim;
  readonly claimedBy: InstanceId;
  readonly decision: Decided;
  /** A handle was or may have been stored: there is a row to clear away. */
  readonly outside: boolean;
  readonly held: HeldClaims;
  readonly ranMs: number;
}

export function isOf<Kind extends Decision["kind"]>(
  finished: Finished,
  kind: Kind,
): finished is Finished<DecisionOf<Kind>> {
  return finished.decision.kind === kind;
}

/** In the transaction that records them. */
export async function forgetBatchesOf(tx: Transaction, batch: readonly Finished[]): Promise<void> {
  for (const held of new Set(batch.map((finished) => finished.held))) {
    const claims = batch.filter((finished) => finished.held === held).map(({ claim }) => claim);
    await forgetBatches(tx, held.batchesEndedBy(claims));
  }
}

export function namedOf({ taskRunId, taskId, kind, title, attempt }: Claim): NamedTaskRun {
  return { taskRunId, taskId, kind, title, attempt };
}
