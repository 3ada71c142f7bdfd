/** Records what executions came to, many at once. What could not be recorded for sure is tried again. */

import type { InstanceId } from "../domain/ids.ts";
import { type Decision, decide, type Outcome } from "../domain/settlement.ts";
import { isRefusedValue, type Pool } from "../store/database.ts";
import type { Claim } from "../store/task-runs/claim.ts";
import { type DecisionOf, type Finished, isOf } from "./finished.ts";
import type { HeldClaim, HeldClaims } from "./held-claims.ts";
import { monotonicMs } from "./monotonic.ts";
import { notStorable, recordEnds, tellEnd } from "./record-ends.ts";
import { recordDeferrals, recordLetGo, recordPolls } from "./record-partings.ts";
import type { Emit } from "./telemetry.ts";

interface SettlePass {
  readonly left: number;
  /** Something that was waited for has ended, or a new attempt waits. */
  readonly opensGates: boolean;
  /** Something goes on outside and is to be polled, sooner perhaps than what was known to be due. */
  readonly letGo: boolean;
}

export interface Settler {
  readonly add: (claim: Claim, claimedBy: InstanceId, outcome: Outcome, held: HeldClaims) => void;
  /** Writes up to one batch. Throws when the database does; nothing is lost then. */
  readonly settleOnce: () => Promise<SettlePass>;
}

export function createSettler(deps: {
  readonly pool: Pool;
  readonly batchSize: number;
  readonly emit: Emit;
}): Settler {
  let waiting: Finished[] = [];
  return {
    add: (claim, claimedBy, outcome, held) => {
      const decision = decide(outcome, claim.policy, claim, Math.random());
      const execution = held.get(claim.taskRunId);
      const outside = (execution?.handle ?? "none") !== "none";
      waiting.push({ claim, claimedBy, decision, outside, held, ranMs: ranMsOf(claim, execution) });
    },
    settleOnce: async () => {
      const [first] = waiting;
      if (first === undefined) return { left: 0, opensGates: false, letGo: false };
      // One kind of decision at a time: within one transaction, task runs are locked in the order of their ids.
      const batch = waiting.filter((each) => isOf(each, first.decision.kind)).slice(0, deps.batchSize);
      await recordBatch(deps, batch);
      const recorded = new Set(batch);
      waiting = waiting.filter((each) => !recorded.has(each));
      for (const { claim, held } of batch) held.remove(claim);
      const letGo = first.decision.kind === "let_go" || first.decision.kind === "poll_again";
      return { left: waiting.length, opensGates: batch.some(opensGates), letGo };
    },
  };
}

/** An outside job has run since the claim that started it, on whatever instance that was. */
function ranMsOf({ job }: Claim, execution: HeldClaim | undefined): number {
  const nowMs = monotonicMs();
  return (job?.ranMs ?? 0) + nowMs - (execution?.begunAtMs ?? nowMs);
}

async function recordBatch(
  { pool, emit }: { readonly pool: Pool; readonly emit: Emit },
  batch: readonly Finished[],
): Promise<void> {
  const of = <Kind extends Decision["kind"]>(kind: Kind): readonly Finished<DecisionOf<Kind>>[] =>
    batch.filter((each) => isOf(each, kind));
  const { kind } = batch[0]?.decision ?? { kind: null };
  if (kind === "deferred") await recordDeferrals(pool, of(kind), emit);
  else if (kind === "poll_again") await recordPolls(pool, of(kind), emit);
  else if (kind === "end") for (const each of await recordEnds(pool, of(kind))) tellEnd(emit, each);
  else {
    try {
      await recordLetGo(pool, of("let_go"), emit);
    } catch (error) {
      if (!isRefusedValue(error)) throw error;
      // One of the handles; each is tried by itself.
      for (const each of of("let_go")) await recordOneLetGo(pool, each, emit);
    }
  }
}

async function recordOneLetGo(
  pool: Pool,
  finished: Finished<DecisionOf<"let_go">>,
  emit: Emit,
): Promise<void> {
  try {
    await recordLetGo(pool, [finished], emit);
  } catch (error) {
    if (!isRefusedValue(error)) throw error;
    for (const each of await recordEnds(pool, [notStorable(finished)])) tellEnd(emit, each);
  }
}

function opensGates({ claim, decision }: Finished): boolean {
  if (decision.kind === "let_go" || decision.kind === "poll_again") return false;
  return claim.gated || decision.kind === "deferred" || decision.settlement.nextAttempt !== null;
}
