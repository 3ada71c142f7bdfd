/** Takes outside jobs that are due, to ask how they are doing. Any instance that knows the kind may. */

import type { InstanceId } from "../domain/ids.ts";
import type { Executor } from "../executors/executor.ts";
import type { Pool } from "../store/database.ts";
import { returnOutsideJobs, UNASKED } from "../store/outside-jobs/let-go.ts";
import { takeOutsideJobs } from "../store/outside-jobs/take.ts";
import type { HeldClaim, HeldClaims } from "./held-claims.ts";

export interface PollDeps {
  readonly pool: Pool;
  readonly instanceId: InstanceId;
  readonly kinds: readonly string[];
  readonly held: HeldClaims;
  /** Whether the lease still holds by this process's own clock. */
  readonly isTrusted: () => boolean;
}

/** Looks that one instance takes at once; they take no slots. */
const POLLS_AT_ONCE = 20;

/** The kinds that can be asked. */
export function pollableKinds(executors: ReadonlyMap<string, Executor>): readonly string[] {
  return [...executors.values()].flatMap((executor) => (executor.poll === undefined ? [] : [executor.kind]));
}

/** How many more it may ask at once. */
export function freePolls(held: HeldClaims): number {
  return POLLS_AT_ONCE - held.polling;
}

export async function takeDueOnce(deps: PollDeps): Promise<readonly HeldClaim[]> {
  const { pool, instanceId, kinds, held } = deps;
  const freeSlots = freePolls(held);
  if (freeSlots < 1 || kinds.length === 0 || !deps.isTrusted()) return [];
  const requestNo = held.beginSlotless();
  try {
    const claims = await pool.atOnce(
      async (tx) => await takeOutsideJobs(tx, { instanceId, kinds, freeSlots, requestNo }),
    );
    if (deps.isTrusted()) {
      held.endRequest(requestNo);
      return claims.map((claim) => held.add(claim));
    }
    // The answer came after our deadline: others may have these soon.
    const back = claims.map((claim) => ({ ...claim, claimedBy: instanceId, ...UNASKED }));
    if (back.length > 0)
      await pool.transaction(async (tx) => await returnOutsideJobs(tx, back)).catch(() => {});
    held.loseRequest(requestNo);
    return [];
  } catch (error) {
    held.loseRequest(requestNo);
    throw error;
  }
}
