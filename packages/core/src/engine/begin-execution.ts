/** Begins to execute what was claimed or taken to be polled, and gives the settler what it came to. */

import type { Outcome } from "../domain/settlement.ts";
import type { EngineParts } from "./engine.ts";
import { onEnd } from "./execution-limits.ts";
import { LentTools, type ToolLender } from "./execution-tools.ts";
import { namedOf } from "./finished.ts";
import type { HeldClaim } from "./held-claims.ts";
import type { Membership } from "./membership.ts";
import { execute } from "./runner.ts";
import { unheard } from "./telemetry.ts";

export function beginExecutions(parts: EngineParts, life: Membership, claimed: readonly HeldClaim[]): void {
  const { pool, logs, processes, emit } = parts;
  const { instanceId } = life;
  const lender = { pool, logs, processes, lease: life.lease.source, instanceId, emit };
  for (const held of claimed) beginExecution(parts, life, held, lender);
}

function beginExecution(parts: EngineParts, life: Membership, held: HeldClaim, lender: ToolLender): void {
  const { settings, executors, emit } = parts;
  const { claim } = held;
  if (claim.job === null && emit !== unheard) {
    const { claimNo, waitedMs, availableMs } = claim;
    emit({ type: "task_run.claimed", ...namedOf(claim), claimNo, waitedMs, availableMs });
  }
  const obeyMs = executors.get(claim.kind)?.obeyMs ?? settings.obeyMs;
  life.lease.watch(held, obeyMs);
  const tools = new LentTools(lender, held, obeyMs);
  const work = execute(held, executors, settings.name, tools);
  onEnd(held, { work, obeyMs, instanceName: settings.name }, ({ outcome, isStuck }) => {
    life.lease.unwatch(held);
    const finish = (): void =>
      isStuck ? void recordStuck(parts, life, held, { outcome, work }) : record(parts, life, held, outcome);
    const ending = tools.end();
    if (ending === null) finish();
    else void ending.then(finish);
  });
}

function record({ settler, wake }: EngineParts, life: Membership, held: HeldClaim, outcome: Outcome): void {
  life.held.endExecution(held);
  settler.add(held.claim, life.instanceId, outcome, life.held);
  wake("settler");
  // A slot is free when the end is recorded; a look at an outside job takes none.
  if (held.claim.job !== null) wake("poller");
}

/** Its end is recorded before it comes. */
async function recordStuck(
  { settler, emit, wake }: EngineParts,
  life: Membership,
  held: HeldClaim,
  { outcome, work }: { readonly outcome: Outcome; readonly work: Promise<Outcome> },
): Promise<void> {
  const { claim } = held;
  const named = { ...namedOf(claim), claimNo: claim.claimNo };
  life.held.markStuck(held);
  emit({ type: "task_run.stuck", ...named, stuck: life.held.stuck });
  settler.add(claim, life.instanceId, outcome, life.held);
  wake("settler");
  await work.catch(() => {});
  life.held.endExecution(held);
  emit({ type: "task_run.unstuck", ...named, stuck: life.held.stuck });
  wake(claim.job === null ? "claimer" : "poller");
}
