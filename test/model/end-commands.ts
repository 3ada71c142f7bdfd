/** What ends work or sends it back: settle, reconcile, cancel, retry, time out, rescue. */

import { expect } from "vitest";
import { SchedulerError } from "../../packages/core/src/domain/errors.ts";
import { failOverdueOnce } from "../../packages/core/src/engine/queue-timer.ts";
import { reconcileOnce } from "../../packages/core/src/engine/reconciler.ts";
import { rescueOnce } from "../../packages/core/src/engine/rescuer.ts";
import type { SchedulerEvent } from "../../packages/core/src/engine/telemetry.ts";
import { took } from "./coverage.ts";
import { labelOf, type ModelInstance, type ModelTaskRun, newestOf, taskRunsOf } from "./model.ts";
import { addAttempt, backToPending, cancel as cancelIt, end, tally, unstart } from "./moves.ts";
import { outcomeOf, settleIt } from "./outcomes.ts";
import { pendingOf } from "./passes.ts";
import { BATCH, type Rig, type RigInstance, unlessLost } from "./rig.ts";
import { type Command, pick, pickHolder, pickInstance, pickRun, pickTask, type Scene } from "./scene.ts";
import { type OutcomeName, QUEUED_MS } from "./steps.ts";

const MOST_INTERRUPTIONS = 3;
const quietly = (): void => {};

export const settle: Command<"settle"> = async (scene, { instance: which, outcomes, losesAnswer }) => {
  const chosen = pickHolder(scene, which);
  if (chosen === null) return false;
  const ends = [...chosen.known.held.keys()].map(
    (taskRun, index) => [taskRun, outcomes[index % outcomes.length] ?? "success"] as const,
  );
  await settleThese(scene, chosen, ends, losesAnswer);
  return true;
};

export const settleOne: Command<"settleOne"> = async (scene, { instance: which, which: held, outcome }) => {
  const chosen = pickHolder(scene, which);
  const taskRun = chosen === null ? null : pick([...chosen.known.held.keys()], held);
  if (chosen === null || taskRun === null) return false;
  await settleThese(scene, chosen, [[taskRun, outcome]], false);
  return true;
};

async function settleThese(
  scene: Scene,
  { instance, known }: { readonly instance: RigInstance; readonly known: ModelInstance },
  ends: readonly (readonly [ModelTaskRun, OutcomeName])[],
  losesAnswer: boolean,
): Promise<void> {
  const { held, settler, events } = instance;
  for (const [{ taskRunId }, name] of ends) {
    const execution = held.all().find(({ claim }) => claim.taskRunId === taskRunId);
    if (execution === undefined) throw new Error(`${taskRunId} is not held`);
    held.endExecution(execution);
    settler.add(execution.claim, instance.instanceId, outcomeOf(name), held);
  }
  events.length = 0;
  if (losesAnswer) {
    instance.loseNextAnswer();
    expect(await unlessLost(settler.settleOnce)).toBeNull();
    took(scene.coverage, "settle answered twice");
  }
  while ((await settler.settleOnce()).left > 0);
  const expected = ends.map(([taskRun, name], index) => {
    const claimNo = known.held.get(taskRun)?.claimNo ?? 0;
    known.held.delete(taskRun);
    const told = settleIt(scene, taskRun, name, { claimNo, by: known.instanceId });
    return `${index} ${labelOf(taskRun)} ${told}`;
  });
  const told = ends.map(([taskRun], index) => `${index} ${labelOf(taskRun)} ${toldOf(events, taskRun)}`);
  expect(told, "what the settler told").toEqual(expected);
}

function toldOf(events: readonly SchedulerEvent[], { taskRunId }: ModelTaskRun): string {
  return events
    .flatMap((event) => {
      if (event.type === "task_run.settled" && event.taskRunId === taskRunId) return [event.status];
      if (event.type === "task_run.deferred" && event.taskRunId === taskRunId) return ["deferred"];
      return event.type === "task_run.refused" && event.taskRunId === taskRunId ? ["refused"] : [];
    })
    .join();
}

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
  const expected = [
    ...lost.filter(({ canceling }) => !canceling).map(({ taskRunId }) => `back ${taskRunId}`),
    ...tellHeld(known),
  ];
  for (const taskRun of lost) {
    if (taskRun.canceling) end(taskRun, "CANCELED", "CANCELED");
    else {
      backToPending(taskRun);
      unstart(taskRun, model);
    }
  }
  expect(given, "given up").toBe(lost.length);
  expect(told.toSorted(), "what reconcile told").toEqual(expected.toSorted());
  if (lost.length > 0) took(coverage, "handed back");
  if (told.some((text) => text.startsWith("abort"))) took(coverage, "aborted");
  return true;
};

/** Whom it tells to stop: silently where somebody asked for it, aloud where it is not its own any more. */
function tellHeld({ held, instanceId }: ModelInstance): readonly string[] {
  return [...held].flatMap(([taskRun, hold]) => {
    const isOurs =
      taskRun.status === "RUNNING" && taskRun.claimNo === hold.claimNo && taskRun.claimedBy === instanceId;
    if (hold.told || (isOurs && !taskRun.canceling)) return [];
    hold.told = true;
    return isOurs ? [] : [`abort ${taskRun.taskRunId}`];
  });
}

export const rescue: Command<"rescue"> = async ({ rig, model, coverage }) => {
  const rescued = await rescueOnce({ pool: rig.pool, graceMs: 0, batchSize: BATCH, emit: quietly });
  for (const instance of model.instances) if (instance.expired) instance.state = "DEAD";
  const dead = new Set(
    model.instances.filter(({ state }) => state === "DEAD").map((each) => each.instanceId),
  );
  const lost = taskRunsOf(model).filter(
    ({ status, claimedBy }) => status === "RUNNING" && claimedBy !== null && dead.has(claimedBy),
  );
  for (const taskRun of lost) {
    if (taskRun.canceling) end(taskRun, "CANCELED", "CANCELED");
    else if (taskRun.task.wish.onLost === "fail") end(taskRun, "FAILED", "LEASE_LOST");
    else if (taskRun.interruptions >= MOST_INTERRUPTIONS) {
      end(taskRun, "FAILED", "TOO_MANY_INTERRUPTIONS");
      took(coverage, "too many interruptions");
    } else {
      const next = { interruptions: taskRun.interruptions + 1, later: false, keeps: true };
      end(taskRun, "FAILED", "LEASE_LOST", next);
      if (taskRun.task.kept.size > 0) took(coverage, "resource kept");
    }
  }
  expect(rescued, "rescued").toBe(lost.length);
  return lost.length > 0;
};

export const cancel: Command<"cancel"> = async (scene, { which, byTask }) => {
  const task = pickTask(scene, which);
  if (task === null) return false;
  const taskRun = byTask ? newestOf(task) : (pick(task.attempts, which) ?? newestOf(task));
  const answer = await scene.rig.scheduler.cancel(byTask ? task.taskId : taskRun.taskRunId);
  expect(answer, `cancel of ${labelOf(taskRun)}`).toBe(cancelIt(taskRun));
  if (answer === "canceling") took(scene.coverage, "canceled while running");
  return answer !== "ended";
};

export const cancelRun: Command<"cancelRun"> = async (scene, { which }) => {
  const run = pickRun(scene, which);
  if (run === null) return false;
  const counts = await scene.rig.scheduler.cancelRun(run.runId as never);
  const answers = run.tasks.flatMap(({ attempts }) => attempts).map(cancelIt);
  const said = (answer: string): number => answers.filter((each) => each === answer).length;
  expect(counts, "cancel of a run").toMatchObject({
    canceled: said("canceled"),
    canceling: said("canceling"),
  });
  return counts.canceled + counts.canceling > 0;
};

export const retry: Command<"retry"> = async (scene, { which, byTask }) => {
  const task = pickTask(scene, which);
  if (task === null) return false;
  const meant = byTask ? newestOf(task) : (pick(task.attempts, which) ?? newestOf(task));
  const newest = newestOf(task);
  const can = meant === newest && (newest.status === "FAILED" || newest.status === "CANCELED");
  const wasOver = task.run !== null && tally(task.run.tasks).status !== "RUNNING";
  const answer = await scene.rig.scheduler
    .retry(byTask ? task.taskId : meant.taskRunId)
    .catch((error: unknown) => {
      if (error instanceof SchedulerError) return error.code;
      throw error;
    });
  if (!can) {
    expect(answer, `retry of ${labelOf(meant)}`).toBe("NOT_RETRYABLE");
    took(scene.coverage, "retry refused");
    return false;
  }
  const next = addAttempt(task, { interruptions: 0, later: false });
  expect(answer).toMatchObject({ attempt: next.attempt });
  if (wasOver) took(scene.coverage, "run reopened");
  return true;
};

/** Its time to wait is over. */
export const timeOut: Command<"timeOut"> = async ({ rig, model, coverage }, { which }) => {
  const waits = [...pendingOf(model), ...taskRunsOf(model).filter(({ status }) => status === "AVAILABLE")];
  const taskRun = pick(
    waits.filter(({ task, later }) => task.wish.timesOut && !later),
    which,
  );
  if (taskRun === null) return false;
  await allow(rig, taskRun, 0);
  const { failed } = await failOverdueOnce({ pool: rig.pool, batchSize: BATCH, emit: quietly });
  expect(failed, "timed out").toBe(1);
  await allow(rig, taskRun, QUEUED_MS);
  const { attempt, interruptions, task } = taskRun;
  const again = attempt - interruptions < task.wish.attempts;
  const next = again ? { interruptions, later: task.wish.backsOff, keeps: false } : null;
  end(taskRun, "FAILED", "QUEUE_TIMEOUT", next);
  took(coverage, "queue timeout");
  return true;
};

/** Instead of letting time pass, which its place in line would show: how long its task may wait is another. */
async function allow({ query }: Rig, { task: { taskId } }: ModelTaskRun, queuedMs: number): Promise<void> {
  await query(
    `WITH allowed AS (
       UPDATE signalbox.task SET policy = jsonb_set(policy, '{timeouts,queuedMs}', to_jsonb($2::bigint)) WHERE id = $1
     )
     UPDATE signalbox.queue_deadline AS d
        SET at = greatest(t.enqueued_at, t.run_at) + $2 * interval '1 ms'
       FROM signalbox.task_run AS t
      WHERE t.id = d.task_run_id AND t.task_id = $1`,
    [taskId, queuedMs],
  );
}
