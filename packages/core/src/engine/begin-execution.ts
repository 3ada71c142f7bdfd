/** Begins to execute what was claimed or taken to be polled, and gives the settler what it came to. */

import type { Outcome } from "../domain/settlement.ts";
import type { EngineParts } from "./engine.ts";
import { endOf } from "./execution-limits.ts";
import { type ExecutionTools, LentTools } from "./execution-tools.ts";
import { namedOf } from "./finished.ts";
import type { HeldClaim } from "./held-claims.ts";
import type { Membership } from "./membership.ts";
import { execute } from "./runner.ts";

export function beginExecution(parts: EngineParts, life: Membership, held: HeldClaim): void {
  const { settings, executors, pool, logs, processes, emit } = parts;
  const { claim } = held;
  const { claimNo, waitedMs, availableMs } = claim;
  if (claim.job === null)
    emit({ type: "task_run.claimed", ...namedOf(claim), claimNo, waitedMs, availableMs });
  const obeyMs = executors.get(claim.kind)?.obeyMs ?? settings.obeyMs;
  life.lease.watch(held, obeyMs);
  const { instanceId } = life;
  const lender = { pool, logs, processes, lease: life.lease.source, instanceId, emit };
  const tools = new LentTools(lender, held, obeyMs);
  const work = execute(held, executors, settings.name, tools);
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
  const { outcome, isStuck } = await endOf(held, work, obeyMs, settings.name);
  life.lease.unwatch(held);
  const ending = tools.end();
  if (ending !== null) await ending;
  if (isStuck) {
    const named = { ...namedOf(claim), claimNo: claim.claimNo };
    life.held.markStuck(held);
    emit({ type: "task_run.stuck", ...named, stuck: life.held.stuck });
    record(outcome);
    await work.catch(() => {});
    life.held.endExecution(held);
    emit({ type: "task_run.unstuck", ...named, stuck: life.held.stuck });
    wake(claim.job === null ? "claimer" : "poller");
  } else {
    life.held.endExecution(held);
    record(outcome);
    // A slot is free when the end is recorded; a look at an outside job takes none.
    if (claim.job !== null) wake("poller");
  }
}
