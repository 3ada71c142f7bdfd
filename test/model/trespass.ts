/** Writes in the name of a claim that is not the current one: the guard must refuse them, and nothing may change. */

import { expect } from "vitest";
import { asInstanceId, asTaskRunId } from "../../packages/core/src/domain/ids.ts";
import type { Settlement } from "../../packages/core/src/domain/settlement.ts";
import type { Transaction } from "../../packages/core/src/store/database.ts";
import {
  keepHandle,
  letGoTaskRuns,
  returnOutsideJobs,
} from "../../packages/core/src/store/outside-jobs/let-go.ts";
import { deferTaskRuns } from "../../packages/core/src/store/task-runs/defer.ts";
import { handBackTaskRuns } from "../../packages/core/src/store/task-runs/hand-back.ts";
import { settleTaskRuns } from "../../packages/core/src/store/task-runs/settle.ts";
import { took } from "./coverage.ts";
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
  letGo: async (tx: Transaction, claim: FalseClaim) =>
    (await letGoTaskRuns(tx, [{ ...claim, job: { handle: "false", pollInMs: 0, deadlineInMs: 0 } }])).size,
  pollAgain: async (tx: Transaction, claim: FalseClaim) =>
    (await returnOutsideJobs(tx, [{ ...claim, pollInMs: 0, how: "answered" }])).size,
  keepHandle: async (tx: Transaction, claim: FalseClaim) =>
    Number(await keepHandle(tx, claim, { handle: "false", deadlineInMs: 0 })),
};
type Act = keyof typeof ACTS;

/** `act`: the claim is right, but a job goes on with it, so it cannot begin anew. */
type Wrong = "number" | "owner" | "status" | "act";
const ALL = Object.keys(ACTS) as readonly Act[];
const REFUSED: Readonly<Record<Wrong, readonly Act[]>> = {
  number: ALL,
  owner: ALL,
  status: ALL,
  act: ["defer", "handBack"],
};

export const trespass: Command<"trespass"> = async ({ rig, model, coverage }, { which }) => {
  const claimed = taskRunsOf(model).filter(({ claimedBy, letGo }) => claimedBy !== null || letGo);
  const running = claimed.filter(({ status }) => status === "RUNNING");
  // Most have ended; what runs has more to lose.
  const taskRun = pick(running.length > 0 && which % 3 > 0 ? running : claimed, which);
  if (taskRun === null) return false;
  if (taskRun.letGo) took(coverage, taskRun.claimedBy === null ? "trespass outside" : "trespass on a poll");
  for (const wrong of wrongsOf(taskRun)) {
    const claim = falseClaim(taskRun, wrong, model);
    if (claim === null) continue;
    for (const name of REFUSED[wrong]) {
      const written = await rig.pool.transaction(async (tx) => await ACTS[name](tx, claim));
      expect(written, `${name} of ${labelOf(taskRun)} under a wrong ${wrong}`).toBe(0);
    }
  }
  return true;
};

function wrongsOf({ status, letGo, claimedBy }: ModelTaskRun): readonly Wrong[] {
  if (status !== "RUNNING") return ["status"];
  // Nobody has it: whoever says so is wrong.
  if (claimedBy === null) return ["owner"];
  return letGo ? ["number", "owner", "act"] : ["number", "owner"];
}

function falseClaim(
  { taskRunId, claimNo, claimedBy }: ModelTaskRun,
  wrong: Wrong,
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
