/** What instances do to task runs, as acts on a pool of the test's choice: so that one can be stopped inside another. */

import type { RunId, TaskRunId } from "../src/domain/ids.ts";
import { type Ending, settle } from "../src/domain/settlement.ts";
import { cancelOnce } from "../src/engine/canceler.ts";
import { claimOnce } from "../src/engine/claimer.ts";
import { HeldClaims } from "../src/engine/held-claims.ts";
import { promoteOnce } from "../src/engine/promoter.ts";
import { reconcileOnce } from "../src/engine/reconciler.ts";
import { rescueOnce } from "../src/engine/rescuer.ts";
import { createSettler } from "../src/engine/settler.ts";
import type { Pool } from "../src/store/database.ts";
import { joinCluster } from "../src/store/instances/instance.ts";
import { renewLease } from "../src/store/instances/renew.ts";
import { changeRunLimit } from "../src/store/runs/limit.ts";
import { sql } from "../src/store/sql.ts";
import { type SettledTaskRun, type SettleRequest, settleTaskRuns } from "../src/store/task-runs/settle.ts";
import type { ManualScheduler } from "../src/testing/manual-scheduler.ts";

export type Act<Result = unknown> = (pool: Pool) => Promise<Result>;

const emit = (): void => {};
const LEASE_MS = 60_000;
const NOBODY = { by: null, reason: null };
export const SUCCESS: Ending = { kind: "succeeded", output: 1 };
export const FAILURE: Ending = {
  kind: "failed",
  code: "HANDLER_FAILED",
  message: "no",
  retryable: true,
};

export const promote: Act<Awaited<ReturnType<typeof promoteOnce>>> = async (pool) =>
  await promoteOnce({ pool, batchSize: 100 });

export const rescue: Act<number> = async (pool) =>
  await rescueOnce({ pool, graceMs: 0, batchSize: 100, emit });

export function cancel(id: string): Act<"canceled" | "canceling" | "ended"> {
  return async (pool) => await cancelOnce(pool, id, NOBODY);
}

export function changeLimit(runId: RunId, limit: number): Act<boolean> {
  return async (pool) => await pool.transaction(async (tx) => await changeRunLimit(tx, runId, limit));
}

/** What the scheduler holds ends like this, whether or not that is still its to say. */
export function settlementsOf(scheduler: ManualScheduler, outcome: Ending): readonly SettleRequest[] {
  return scheduler.held.all().map(({ claim }) => ({
    taskRunId: claim.taskRunId,
    claimNo: claim.claimNo,
    claimedBy: scheduler.instanceId,
    runId: claim.runId,
    settlement: settle(outcome, claim.policy, claim, 0),
    outside: false,
  }));
}

export function settleAll(scheduler: ManualScheduler, outcome: Ending): Act<readonly SettledTaskRun[]> {
  const requests = settlementsOf(scheduler, outcome);
  return async (pool) => await pool.transaction(async (tx) => await settleTaskRuns(tx, requests));
}

/** In a transaction, so that it can be stopped; the lease's thread sends the same statement by itself. */
export function renewFor(
  instanceId: ManualScheduler["instanceId"],
  leaseMs = LEASE_MS,
): Act<readonly { readonly state: string }[]> {
  return async (pool) =>
    await pool.transaction(async (tx) => await tx.query(renewLease(instanceId, leaseMs)));
}

/** An instance of which a test has every string in hand. */
export interface Worker {
  readonly claim: Act;
  readonly settle: (outcome: Ending, taskRunIds?: readonly TaskRunId[]) => Act;
  readonly reconcile: Act;
  readonly renew: Act;
  readonly expire: Act;
}

export async function joinAsWorker(pool: Pool, kind: string): Promise<Worker> {
  const instanceId = await pool.transaction(
    async (tx) =>
      await joinCluster(tx, {
        name: "worker",
        kinds: [kind],
        slots: 50,
        leaseMs: LEASE_MS,
        mark: null,
      }),
  );
  const mine = { instanceId, kinds: [kind] };
  const held = new HeldClaims();
  return {
    claim: async (on) =>
      await claimOnce({ ...mine, pool: on, slots: 50, batchSize: 50, held, isTrusted: () => true }),
    settle: (outcome, taskRunIds) => {
      const chosen = held
        .all()
        .filter(({ claim }) => taskRunIds === undefined || taskRunIds.includes(claim.taskRunId));
      return async (on) => {
        const settler = createSettler({ pool: on, batchSize: 100, emit });
        for (const each of chosen) {
          held.endExecution(each);
          settler.add(each.claim, instanceId, outcome, held);
        }
        await settler.settleOnce();
      };
    },
    // As if no answer to a claim had ever come.
    reconcile: async (on) => await reconcileOnce({ pool: on, instanceId, held: new HeldClaims(), emit }),
    renew: renewFor(instanceId),
    expire: async (on) =>
      await on.transaction(
        async (tx) =>
          await tx.query(
            sql(
              "expire",
            )`UPDATE signalbox.instance SET expires_at = clock_timestamp() WHERE boot_id = ${instanceId}`,
          ),
      ),
  };
}
