/** Records what executions came to, many at once. What could not be recorded for sure is tried again. */

import type { InstanceId } from "../domain/ids.ts";
import { type Decision, decide, type Outcome } from "../domain/settlement.ts";
import { monotonicMs } from "../executors/monotonic.ts";
import { isRefusedRow, isRefusedValue, type Pool } from "../store/database.ts";
import type { Claim } from "../store/task-runs/claim.ts";
import { type DecisionOf, type Finished, isOf } from "./finished.ts";
import type { HeldClaim, HeldClaims } from "./held-claims.ts";
import { type LineTurns, NOBODY, type TurnEnd } from "./line-turns.ts";
import { notStorable, type Recorded, recordEnds } from "./record-ends.ts";
import { recordDeferrals, recordLetGo, recordPolls } from "./record-partings.ts";
import type { Emit } from "./telemetry.ts";
import { Unrecorded } from "./unrecorded.ts";

interface SettlePass extends Recorded {
  /** Still to be written, and not by another call. */
  readonly left: number;
  /** Something is recorded, and not RUNNING any more. */
  readonly freesSlots: boolean;
  /** Something goes on outside and is to be polled, sooner perhaps than what was known to be due. */
  readonly letGo: boolean;
}

export interface Settler {
  readonly add: (claim: Claim, claimedBy: InstanceId, outcome: Outcome, held: HeldClaims) => void;
  /**
   * Writes up to one batch, also beside another call that is under way. Throws when the database does, nothing is lost then.
   * Of a batch in which it refuses a row each is written by itself in the passes that follow; what it refuses then is told
   * when all the others are written.
   */
  readonly settleOnce: () => Promise<SettlePass>;
}

export function createSettler(deps: {
  readonly pool: Pool;
  readonly batchSize: number;
  readonly emit: Emit;
  /** Left out: every slot is given back. */
  readonly turns?: LineTurns;
}): Settler {
  const unrecorded = new Unrecorded();
  return {
    add: (claim, claimedBy, outcome, held) => {
      const decision = decide(outcome, claim.policy, claim, Math.random());
      const execution = held.get(claim.taskRunId);
      const outside = (execution?.handle ?? "none") !== "none";
      unrecorded.add({ claim, claimedBy, decision, outside, held, ranMs: ranMsOf(claim, execution) });
    },
    settleOnce: async () => {
      let batch = unrecorded.take(deps.batchSize);
      // What cannot go now goes when those are back that are on their way.
      if (batch.finished.length === 0) return { left: 0, freesSlots: false, letGo: false, ...NOTHING };
      let recorded: Recorded;
      let wentOn = NOBODY;
      try {
        wentOn = await wentOnOf(deps.turns, batch.finished);
        batch = unrecorded.removeFrom(batch, wentOn.ended);
        if (batch.finished.length === 0)
          return {
            left: unrecorded.left,
            freesSlots: wentOn.handsBack,
            letGo: false,
            ...opened(NOTHING, wentOn),
          };
        recorded = await recordBatch(deps, batch.finished);
      } catch (error) {
        if (!isRefusedRow(error)) {
          unrecorded.putBack(batch);
          throw error;
        }
        unrecorded.refuse(batch);
        if (unrecorded.isRefused) throw error;
        return { left: unrecorded.left, freesSlots: false, letGo: false, ...opened(NOTHING, wentOn) };
      }
      unrecorded.remove(batch);
      const { finished } = batch;
      for (const { claim, held } of finished) held.remove(claim);
      return {
        left: unrecorded.left,
        freesSlots: true,
        ...opened(recorded, wentOn),
        letGo: finished.some(goesOn),
      };
    },
  };
}

/** What the database refuses is settled as ever: there it is found out which of them that was, and told. */
async function wentOnOf(turns: LineTurns | undefined, finished: readonly Finished[]): Promise<TurnEnd> {
  try {
    return (await turns?.goOn(finished)) ?? NOBODY;
  } catch (error) {
    if (isRefusedRow(error)) return NOBODY;
    throw error;
  }
}

/** What was handed back waits again, and others may take it. */
function opened(recorded: Recorded, { handsBack }: TurnEnd): Recorded {
  return { ...recorded, opensGates: recorded.opensGates || handsBack };
}

const NOTHING: Recorded = { opensGates: false, handsOff: false };

/** An outside job has run since the claim that started it, on whatever instance that was. */
function ranMsOf({ job }: Claim, execution: HeldClaim | undefined): number {
  const nowMs = monotonicMs();
  return (job?.ranMs ?? 0) + nowMs - (execution?.begunAtMs ?? nowMs);
}

async function recordBatch({ pool, emit }: RecordDeps, batch: readonly Finished[]): Promise<Recorded> {
  const [only, ...others] = batch;
  try {
    return await recordTogether({ pool, emit }, batch);
  } catch (error) {
    const isTheValue = isRefusedValue(error) && only !== undefined && others.length === 0;
    if (!isTheValue) throw error;
    return await recordEnds(pool, [notStorable(only, error)], emit);
  }
}

interface RecordDeps {
  readonly pool: Pool;
  readonly emit: Emit;
}

async function recordTogether({ pool, emit }: RecordDeps, batch: readonly Finished[]): Promise<Recorded> {
  const of = <Kind extends Decision["kind"]>(kind: Kind): readonly Finished<DecisionOf<Kind>>[] =>
    batch.filter((each) => isOf(each, kind));
  switch (batch[0]?.decision.kind) {
    case undefined:
      return NOTHING;
    case "end":
      return await recordEnds(pool, of("end"), emit);
    case "deferred":
      await recordDeferrals(pool, of("deferred"), emit);
      return { opensGates: true, handsOff: false };
    case "let_go":
      await recordLetGo(pool, of("let_go"), emit);
      return NOTHING;
    case "poll_again":
      await recordPolls(pool, of("poll_again"), emit);
      return NOTHING;
  }
}

function goesOn({ decision }: Finished): boolean {
  return decision.kind === "let_go" || decision.kind === "poll_again";
}
