/**
 * The turn of a line: for a while a slot goes on with who is next on the same resource, before it is given back. To go through
 * AVAILABLE and a claim takes longer than most of what such tasks do. A part of the settler.
 */

import type { InstanceId, TaskRunId } from "../domain/ids.ts";
import { monotonicMs } from "../executors/monotonic.ts";
import type { Pool } from "../store/database.ts";
import { SHARE_CLAIM_LOCK } from "../store/holds/claim-lock.ts";
import { type Claim, forgetBatches } from "../store/task-runs/claim.ts";
import { goOnInLines, type WentOn } from "../store/task-runs/go-on.ts";
import { handBackTaskRuns } from "../store/task-runs/hand-back.ts";
import { storeOutputsOfDone } from "../store/task-runs/settle.ts";
import { type DecisionOf, type Finished, isOf } from "./finished.ts";
import type { HeldClaim, HeldClaims } from "./held-claims.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import { tellSuccesses } from "./record-ends.ts";
import { type Emit, unheard } from "./telemetry.ts";

export interface LineTurns {
  /** Ends those whose resource and slot go on with who is next, and begins these. The others are to be settled. */
  readonly goOn: (batch: readonly Finished[]) => Promise<TurnEnd>;
}

export interface TurnEnd {
  readonly ended: ReadonlySet<TaskRunId>;
  /** Those that should have begun were handed back: they wait for somebody else. */
  readonly handsBack: boolean;
}

type Ended = Finished<DecisionOf<"end">>;

interface TurningLife {
  readonly instanceId: InstanceId;
  readonly held: HeldClaims;
  readonly lease: Pick<LeaseKeeper, "isTrusted">;
}

export interface LineTurnsDeps<Life extends TurningLife> {
  readonly pool: Pool;
  readonly kinds: readonly string[];
  readonly emit: Emit;
  /** Null while the instance may not claim. */
  readonly life: () => Life | null;
  readonly begin: (life: Life, claimed: readonly HeldClaim[]) => void;
}

export const NOBODY: TurnEnd = { ended: new Set(), handsBack: false };

/** Where there are no lines, to ask is in vain: after each time twice as many settlements do not, up to so many. */
const MOST_UNASKED = 15;

export function createLineTurns<Life extends TurningLife>(deps: LineTurnsDeps<Life>): LineTurns {
  let unasked = 0;
  let inVain = 0;
  return {
    goOn: async (batch) => {
      const life = deps.life();
      const claims = life === null ? [] : inTurn(batch, life, monotonicMs());
      if (life === null || claims.length === 0) return NOBODY;
      if (unasked > 0) {
        unasked -= 1;
        return NOBODY;
      }
      const turn = await goOnWith(deps, life, claims);
      inVain = turn.ended.size > 0 ? 0 : inVain + 1;
      unasked = Math.min(MOST_UNASKED, 2 ** inVain - 1);
      return turn;
    },
  };
}

/** Of the successes from which nothing else follows and whose turn is not over, all that came with one claim. */
function inTurn(batch: readonly Finished[], { held }: TurningLife, nowMs: number): readonly Ended[] {
  const ended = batch.filter((each) => isOf(each, "end")).filter((each) => mayGoOn(each, held));
  const claimNo = ended.find(({ claim }) => nowMs < held.turnEndsAtMs(claim.claimNo))?.claim.claimNo;
  return ended.filter(({ claim }) => claim.claimNo === claimNo);
}

function mayGoOn({ claim, outside, held, decision }: Ended, ofLife: HeldClaims): boolean {
  const isOfLife = held === ofLife;
  return isOfLife && claim.gated && claim.runId === null && !outside && decision.settlement.status === "DONE";
}

async function goOnWith<Life extends TurningLife>(
  deps: LineTurnsDeps<Life>,
  life: Life,
  finished: readonly Ended[],
): Promise<TurnEnd> {
  const { held, lease } = life;
  const requestNo = held.beginSlotless();
  try {
    const wentOn = await send(deps, life, finished, requestNo);
    const ended = new Set(wentOn.ended);
    const settled = finished.filter(({ claim }) => ended.has(claim.taskRunId));
    const turnEndsAtMs = held.turnEndsAtMs(finished[0]?.claim.claimNo ?? 0);
    for (const { claim } of settled) held.remove(claim);
    if (deps.emit !== unheard) tell(deps.emit, settled, wentOn.claims);
    if (lease.isTrusted() && deps.life() === life) {
      held.endRequest(requestNo);
      deps.begin(
        life,
        wentOn.claims.map((claim) => held.add(claim, turnEndsAtMs)),
      );
      return { ended, handsBack: false };
    }
    await handBack(deps.pool, life, wentOn.claims);
    held.loseRequest(requestNo);
    return { ended, handsBack: wentOn.claims.length > 0 };
  } catch (error) {
    held.loseRequest(requestNo);
    throw error;
  }
}

async function send(
  { pool, kinds }: Pick<LineTurnsDeps<TurningLife>, "pool" | "kinds">,
  { instanceId, held }: TurningLife,
  finished: readonly Ended[],
  requestNo: number,
): Promise<WentOn> {
  const claims = finished.map(({ claim }) => claim);
  const taskRunIds = claims.map(({ taskRunId }) => taskRunId);
  const claimNo = claims[0]?.claimNo ?? 0;
  const [wentOn] = await pool.atOnce(
    async (tx) =>
      await Promise.all([
        goOnInLines(tx, { instanceId, kinds, taskRunIds, claimNo, requestNo }),
        storeOutputsOfDone(
          tx,
          { claimNo, claimedBy: instanceId },
          finished.map(({ claim, decision: { settlement } }) => ({ taskRunId: claim.taskRunId, settlement })),
        ),
        // A whole batch is forgotten with its end.
        held.isWholeBatch(claims) ? undefined : forgetBatches(tx, held.batchesEndedBy(claims)),
      ]),
    SHARE_CLAIM_LOCK,
  );
  return wentOn;
}

function tell(emit: Emit, ended: readonly Ended[], begun: readonly Claim[]): void {
  tellSuccesses(emit, ended);
  if (begun.length > 0)
    emit({ type: "task_run.promoted", taskRunIds: begun.map(({ taskRunId }) => taskRunId) });
}

/** The answer came after our deadline, or while the instance leaves: nothing was started, so they go back unharmed. Where that fails they are rescued. */
async function handBack(pool: Pool, { instanceId }: TurningLife, claims: readonly Claim[]): Promise<void> {
  await pool.transaction(async (tx) => await handBackTaskRuns(tx, instanceId, claims)).catch(() => {});
}
