/** What is done about losses: an instance compares what it holds with the database, and others rescue what the dead held. */

import { expect } from "vitest";
import { reconcileOnce } from "../../packages/core/src/engine/reconciler.ts";
import { rescueOnce } from "../../packages/core/src/engine/rescuer.ts";
import { type Coverage, took } from "./coverage.ts";
import { MOST_INTERRUPTIONS } from "./meanings.ts";
import { isHeldBy, type ModelInstance, type ModelTaskRun, taskRunsOf } from "./model.ts";
import { backToPending, end, unstart } from "./moves.ts";
import { returnIt } from "./outside-jobs.ts";
import { BATCH } from "./rig.ts";
import { type Command, pickInstance } from "./scene.ts";

/** It has ended all it holds and recorded that, on a server whose standby did not get it. */
export const undoEnds: Command<"undoEnds"> = async (scene, { instance: which }) => {
  const chosen = pickInstance(scene, which);
  if (chosen === null) return false;
  const { instance, known } = chosen;
  for (const each of instance.held.all()) {
    instance.held.endExecution(each);
    instance.held.remove(each.claim);
  }
  for (const [taskRun, { claimNo }] of known.held) known.undone.set(taskRun, claimNo);
  const ended = known.held.size;
  known.held.clear();
  return ended > 0;
};

export const reconcile: Command<"reconcile"> = async (scene, { instance: which }) => {
  const chosen = pickInstance(scene, which);
  if (chosen === null) return false;
  const { rig, model, coverage } = scene;
  const { instance, known } = chosen;
  const told: string[] = [];
  const given = await reconcileOnce({
    pool: rig.pool,
    instanceId: instance.instanceId,
    held: instance.held,
    emit: (event) => {
      if (event.type === "task_run.handed_back") told.push(`back ${event.taskRunId}`);
      if (event.type === "task_run.aborted") told.push(`abort ${event.taskRunId}`);
    },
  });
  const mine = taskRunsOf(model).filter(
    ({ status, claimedBy }) => status === "RUNNING" && claimedBy === known.instanceId,
  );
  const lost = mine.filter((taskRun) => known.held.get(taskRun)?.claimNo !== taskRun.claimNo);
  // These have started, elsewhere: they are polled on.
  const polled = lost.filter(goesOnOutside);
  const inside = lost.filter((taskRun) => !goesOnOutside(taskRun));
  const undone = inside.filter((taskRun) => known.undone.get(taskRun) === taskRun.claimNo);
  const unstarted = inside.filter((taskRun) => !undone.includes(taskRun));
  const expected = [
    ...unstarted.filter(({ canceling }) => !canceling).map(({ taskRunId }) => `back ${taskRunId}`),
    ...tellHeld(known),
  ];
  for (const taskRun of polled) returnIt(taskRun, 0);
  for (const taskRun of undone) endLost(taskRun, "END_LOST", coverage);
  for (const taskRun of unstarted) {
    if (taskRun.canceling) end(taskRun, "CANCELED", "CANCELED");
    else {
      backToPending(taskRun);
      unstart(taskRun, model);
    }
  }
  expect(given, "given up").toBe(unstarted.length + undone.length);
  expect(told.toSorted(), "what reconcile told").toEqual(expected.toSorted());
  if (unstarted.length > 0) took(coverage, "handed back");
  if (undone.length > 0) took(coverage, "end undone");
  if (polled.length > 0) took(coverage, "lost poll returned");
  if (told.some((text) => text.startsWith("abort"))) took(coverage, "aborted");
  return true;
};

/** Whom it tells to stop: silently where somebody asked for it, aloud where it is not its own any more. */
function tellHeld({ held, instanceId }: ModelInstance): readonly string[] {
  return [...held].flatMap(([taskRun, hold]) => {
    const isOurs = isHeldBy(taskRun, instanceId, hold);
    // Who is about to end a job because of the cancel is not disturbed by it.
    const knows = hold.job?.cancelRequested === true;
    if (hold.told || (isOurs && (!taskRun.canceling || knows))) return [];
    hold.told = true;
    return isOurs ? [] : [`abort ${taskRun.taskRunId}`];
  });
}

export const rescue: Command<"rescue"> = async ({ rig, model, coverage }) => {
  const rescued = await rescueOnce({ pool: rig.pool, graceMs: 0, batchSize: BATCH, emit: () => {} });
  for (const instance of model.instances) if (instance.expired) instance.state = "DEAD";
  const dead = new Set(
    model.instances.filter(({ state }) => state === "DEAD").map((each) => each.instanceId),
  );
  const lost = taskRunsOf(model).filter(
    ({ status, claimedBy }) => status === "RUNNING" && claimedBy !== null && dead.has(claimedBy),
  );
  for (const taskRun of lost) {
    if (resumes(taskRun)) resume(taskRun, coverage);
    else endLost(taskRun, "LEASE_LOST", coverage);
  }
  expect(rescued, "rescued").toBe(lost.length);
  return lost.length > 0;
};

/** Nothing is begun again while a job of it goes on, unless the asking may be what kills. */
function resumes(taskRun: ModelTaskRun): boolean {
  return goesOnOutside(taskRun) && (taskRun.job?.losses ?? 0) < MOST_INTERRUPTIONS;
}

function goesOnOutside({ job, letGo, task }: ModelTaskRun): boolean {
  return job !== null && (letGo || task.wish.onLost === "resume");
}

function endLost(taskRun: ModelTaskRun, code: "LEASE_LOST" | "END_LOST", coverage: Coverage): void {
  const { interruptions, job, letGo, task, canceling } = taskRun;
  if (canceling) end(taskRun, "CANCELED", "CANCELED");
  else if (task.wish.onLost === "fail") end(taskRun, "FAILED", code);
  else if (Math.max(interruptions, job?.losses ?? 0) >= MOST_INTERRUPTIONS) {
    end(taskRun, "FAILED", "TOO_MANY_INTERRUPTIONS");
    took(coverage, letGo ? "too many losses with one job" : "too many interruptions");
  } else {
    end(taskRun, "FAILED", code, { interruptions: interruptions + 1, later: false, keeps: true });
    if (task.kept.size > 0) took(coverage, "resource kept");
  }
}

function resume(taskRun: ModelTaskRun, coverage: Coverage): void {
  took(coverage, taskRun.letGo ? "lost while it was polled" : "resumed from its handle");
  returnIt(taskRun, 0);
  if (taskRun.job !== null) taskRun.job.losses += 1;
}
