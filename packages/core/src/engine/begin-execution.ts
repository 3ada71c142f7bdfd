/** Begins to execute what was claimed or taken to be polled, and gives the settler what it came to. */

import type { Outcome } from "../domain/settlement.ts";
import { keepHandle } from "../store/outside-jobs/let-go.ts";
import type { EngineParts } from "./engine.ts";
import { processTerms, stuckOutcome } from "./execution-limits.ts";
import { namedOf } from "./finished.ts";
import type { HeldClaim } from "./held-claims.ts";
import type { Membership } from "./membership.ts";
import { type ExecutionTools, endTools, execute } from "./runner.ts";

export function beginExecution(parts: EngineParts, life: Membership, held: HeldClaim): void {
  const { settings, executors, pool, logs, processes, emit } = parts;
  const { claim } = held;
  const { taskRunId, claimNo, waitedMs, availableMs } = claim;
  if (claim.job === null)
    emit({ type: "task_run.claimed", ...namedOf(claim), claimNo, waitedMs, availableMs });
  const obeyMs = executors.get(claim.kind)?.obeyMs ?? settings.obeyMs;
  life.lease.watch(held, obeyMs);
  const log = logs.open(claim, life.instanceId);
  const tools: ExecutionTools = {
    log: log.write,
    endLog: log.end,
    processes: processes.of(processTerms(held, life.lease.source, obeyMs, emit)),
    keepHandle: async (handle, deadlineInMs) =>
      await pool.transaction(async (tx) => {
        const owned = { taskRunId, claimNo, claimedBy: life.instanceId };
        return await keepHandle(tx, owned, { handle, deadlineInMs });
      }),
  };
  const work = execute(held, executors, settings.name, tools)
    // Whatever a handler does is an outcome, also what nobody thought of.
    .catch(
      (): Outcome => ({
        kind: "failed",
        code: "HANDLER_FAILED",
        message: "threw something strange",
        retryable: true,
      }),
    );
  void finish(parts, life, held, { work, tools, obeyMs });
}

interface Execution {
  readonly work: Promise<Outcome>;
  readonly tools: ExecutionTools;
  readonly obeyMs: number;
}

async function finish(
  { settings, settler, emit, wake }: EngineParts,
  life: Membership,
  held: HeldClaim,
  { work, tools, obeyMs }: Execution,
): Promise<void> {
  const { claim } = held;
  const record = (outcome: Outcome): void => {
    settler.add(claim, life.instanceId, outcome, life.held);
    wake("settler");
  };
  const stuck = await stuckOutcome(held, work, obeyMs, settings.name);
  life.lease.unwatch(held);
  await endTools(tools);
  if (stuck === null) {
    life.held.endExecution(held);
    record(await work);
  } else {
    const named = { ...namedOf(claim), claimNo: claim.claimNo };
    life.held.markStuck(held);
    emit({ type: "task_run.stuck", ...named, stuck: life.held.stuck });
    record(stuck);
    await work;
    life.held.endExecution(held);
    emit({ type: "task_run.unstuck", ...named, stuck: life.held.stuck });
  }
  wake(claim.job === null ? "claimer" : "poller");
}
