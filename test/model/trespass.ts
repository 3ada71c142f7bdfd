/** Writes in the name of a claim that is not the current one: the guard must refuse them, and nothing may change. */

import { expect } from "vitest";
import { asInstanceId, asTaskRunId } from "../../packages/core/src/domain/ids.ts";
import type { Settlement } from "../../packages/core/src/domain/settlement.ts";
import type { Transaction } from "../../packages/core/src/store/database.ts";
import { deferTaskRuns } from "../../packages/core/src/store/task-runs/defer.ts";
import { handBackTaskRuns } from "../../packages/core/src/store/task-runs/hand-back.ts";
import { settleTaskRuns } from "../../packages/core/src/store/task-runs/settle.ts";
import { labelOf, type Model, type ModelTaskRun, taskRunsOf } from "./model.ts";
import { type Command, pick } from "./scene.ts";

const SUCCESS: Settlement = {
  status: "DONE",
  outcome: "SUCCEEDED",
  output: null,
  error: null,
  nextAttempt: null,
};

interface FalseClaim {
  readonly taskRunId: ReturnType<typeof asTaskRunId>;
  readonly claimNo: number;
  readonly claimedBy: ReturnType<typeof asInstanceId>;
}

const ACTS = {
  settle: async (tx: Transaction, claim: FalseClaim) =>
    (await settleTaskRuns(tx, [{ ...claim, runId: null, settlement: SUCCESS, outside: false }])).length,
  defer: async (tx: Transaction, claim: FalseClaim) =>
    (await deferTaskRuns(tx, [{ ...claim, delayMs: 0, reason: null, outside: false }])).size,
  handBack: async (tx: Transaction, claim: FalseClaim) =>
    (await handBackTaskRuns(tx, claim.claimedBy, [claim])).size,
};

export const trespass: Command<"trespass"> = async ({ rig, model }, { which }) => {
  const claimed = taskRunsOf(model).filter(({ claimedBy }) => claimedBy !== null);
  const running = claimed.filter(({ status }) => status === "RUNNING");
  // Most have ended; what runs has more to lose.
  const taskRun = pick(running.length > 0 && which % 3 > 0 ? running : claimed, which);
  if (taskRun === null) return false;
  const wrongs = taskRun.status === "RUNNING" ? (["number", "owner"] as const) : (["status"] as const);
  for (const wrong of wrongs) {
    const claim = falseClaim(taskRun, wrong, model);
    if (claim === null) continue;
    for (const [name, act] of Object.entries(ACTS)) {
      const written = await rig.pool.transaction(async (tx) => await act(tx, claim));
      expect(written, `${name} of ${labelOf(taskRun)} under a wrong ${wrong}`).toBe(0);
    }
  }
  return true;
};

function falseClaim(
  { taskRunId, claimNo, claimedBy }: ModelTaskRun,
  wrong: "number" | "owner" | "status",
  model: Model,
): FalseClaim | null {
  const other = model.instances.find(({ instanceId }) => instanceId !== claimedBy)?.instanceId;
  const by = wrong === "owner" ? other : claimedBy;
  if (claimNo === null || by === undefined || by === null) return null;
  return {
    taskRunId: asTaskRunId(taskRunId),
    claimNo: wrong === "number" ? claimNo - 1 : claimNo,
    claimedBy: asInstanceId(by),
  };
}
