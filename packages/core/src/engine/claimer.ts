import type { InstanceId } from "../domain/ids.ts";
import { monotonicMs } from "../executors/monotonic.ts";
import type { Pool } from "../store/database.ts";
import { SHARE_CLAIM_LOCK } from "../store/holds/claim-lock.ts";
import { claimTaskRuns } from "../store/task-runs/claim.ts";
import { handBackTaskRuns } from "../store/task-runs/hand-back.ts";
import type { ClaimFront } from "./claim-front.ts";
import type { HeldClaim, HeldClaims } from "./held-claims.ts";

export interface ClaimDeps {
  readonly pool: Pool;
  readonly instanceId: InstanceId;
  readonly kinds: readonly string[];
  readonly slots: number;
  readonly batchSize: number;
  /** Remembers from one claim to the next where to look. Default: each looks at everything. */
  readonly front?: ClaimFront;
  readonly held: HeldClaims;
  /** Whether the lease still holds by this process's own clock. */
  readonly isTrusted: () => boolean;
}

/** Takes available task runs for this instance, never more than it has free slots. */
export async function claimOnce(deps: ClaimDeps): Promise<readonly HeldClaim[]> {
  const { pool, instanceId, kinds, front, held } = deps;
  const freeSlots = Math.min(held.freeSlots(deps.slots), deps.batchSize);
  if (freeSlots < 1 || kinds.length === 0 || !deps.isTrusted()) return [];
  const requestNo = held.beginRequest();
  try {
    const fronts = front?.next(monotonicMs()) ?? null;
    const { claims, offers } = await pool.atOnce(
      async (tx) => await claimTaskRuns(tx, { instanceId, kinds, freeSlots, fronts, requestNo }),
      SHARE_CLAIM_LOCK,
    );
    if (claims.length >= freeSlots) front?.gotAll(offers, freeSlots);
    if (deps.isTrusted()) {
      held.endRequest(requestNo);
      return claims.map((claim) => held.add(claim));
    }
    // The answer came after our deadline: others may have these soon. Nothing was started, so they go back unharmed;
    // where that fails they are rescued.
    await pool.transaction(async (tx) => await handBackTaskRuns(tx, instanceId, claims)).catch(() => {});
    held.loseRequest(requestNo);
    return [];
  } catch (error) {
    held.loseRequest(requestNo);
    throw error;
  }
}
