import type { InstanceId } from "../domain/ids.ts";
import { monotonicMs } from "../executors/monotonic.ts";
import type { Pool } from "../store/database.ts";
import { SHARE_CLAIM_LOCK } from "../store/holds/claim-lock.ts";
import { type Claim, claimTaskRuns } from "../store/task-runs/claim.ts";
import { claimFew } from "../store/task-runs/claim-few.ts";
import { handBackTaskRuns } from "../store/task-runs/hand-back.ts";
import type { ClaimFront } from "./claim-front.ts";
import type { ClaimPace } from "./claim-pace.ts";
import type { HeldClaim, HeldClaims } from "./held-claims.ts";

export interface ClaimDeps {
  readonly pool: Pool;
  readonly instanceId: InstanceId;
  readonly kinds: readonly string[];
  readonly slots: number;
  readonly batchSize: number;
  /** Remembers from one claim to the next where to look. Default: each looks at everything. */
  readonly front?: ClaimFront;
  /** Remembers which statement is next. Default: the one for many. */
  readonly pace?: ClaimPace;
  readonly held: HeldClaims;
  /** Whether the lease still holds by this process's own clock. */
  readonly isTrusted: () => boolean;
}

/** Takes available task runs for this instance, never more than it has free slots. */
export async function claimOnce(deps: ClaimDeps): Promise<readonly HeldClaim[]> {
  const { pool, instanceId, kinds, held } = deps;
  const freeSlots = Math.min(held.freeSlots(deps.slots), deps.batchSize);
  if (freeSlots < 1 || kinds.length === 0 || !deps.isTrusted()) return [];
  const requestNo = held.beginRequest();
  try {
    const request = { freeSlots, requestNo };
    const claims = (await claimAsFew(deps, request)) ?? (await claimAsMany(deps, request));
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

interface Asked {
  readonly freeSlots: number;
  readonly requestNo: number;
}

/** Null: nothing was taken, because more lies there or it is not the time for it. */
async function claimAsFew(
  { pool, instanceId, kinds, pace }: ClaimDeps,
  { freeSlots, requestNo }: Asked,
): Promise<readonly Claim[] | null> {
  const wanted = pace?.few(freeSlots) ?? null;
  if (wanted === null) return null;
  const { claims, seen } = await pool.atOnce(
    async (tx) => await claimFew(tx, { instanceId, kinds, freeSlots: wanted, requestNo }),
    SHARE_CLAIM_LOCK,
  );
  pace?.gotFew({ wanted, seen, got: claims.length });
  return seen > wanted ? null : claims;
}

async function claimAsMany(
  { pool, instanceId, kinds, front, pace }: ClaimDeps,
  { freeSlots, requestNo }: Asked,
): Promise<readonly Claim[]> {
  const fronts = front?.next(monotonicMs()) ?? null;
  const { claims, offers } = await pool.atOnce(
    async (tx) => await claimTaskRuns(tx, { instanceId, kinds, freeSlots, fronts, requestNo }),
    SHARE_CLAIM_LOCK,
  );
  if (claims.length >= freeSlots) front?.gotAll(offers, freeSlots);
  pace?.gotMany({ wanted: freeSlots, got: claims.length });
  return claims;
}
