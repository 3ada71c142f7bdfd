/** What ends work or sends it back: settle, cancel, retry, time out. */

import { expect } from "vitest";
import { failOverdueOnce } from "../../packages/core/src/engine/queue-timer.ts";
import type { SchedulerEvent } from "../../packages/core/src/engine/telemetry.ts";
import { type Path, took } from "./coverage.ts";
import { handOff, heldAlone } from "./hand-off.ts";
import {
  type Hold,
  isHeldBy,
  labelOf,
  type ModelInstance,
  type ModelTaskRun,
  newestOf,
  taskRunsOf,
} from "./model.ts";
import { addAttempt, cancel as cancelIt, end, tally } from "./moves.ts";
import { meaningOf, outcomeOf, settleIt } from "./outcomes.ts";
import { databaseNow, expectNextPolls } from "./outside-jobs.ts";
import { pendingOf } from "./passes.ts";
import { BATCH, codeOfError, type Rig, type RigInstance, unlessLost } from "./rig.ts";
import { type Command, pick, pickHolder, pickRun, pickTask, type Scene } from "./scene.ts";
import { type OutcomeName, QUEUED_MS } from "./steps.ts";

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
    const outcome = await outcomeOf(execution, name);
    held.endExecution(execution);
    settler.add(execution.claim, instance.instanceId, outcome, held);
  }
  events.length = 0;
  const since = await databaseNow(scene.rig);
  if (losesAnswer) {
    instance.loseNextAnswer();
    expect(await unlessLost(settler.settleOnce)).toBeNull();
    took(scene.coverage, "settle answered twice");
  }
  while ((await settler.settleOnce()).left > 0);
  const meant = ends.map(([taskRun, name]) => {
    const hold = holdOf(known, taskRun);
    known.held.delete(taskRun);
    return { taskRun, claimNo: hold.claimNo, meaning: meaningOf(scene, taskRun, name, hold) };
  });
  const nextPolls = new Map<ModelTaskRun, number>();
  const alone = meant.map(({ taskRun, claimNo }) =>
    isHeldBy(taskRun, known.instanceId, { claimNo }) ? heldAlone(taskRun) : [],
  );
  const expected = meant.map(({ taskRun, claimNo, meaning }, index) => {
    const told = settleIt(scene, taskRun, meaning, { claimNo, by: known.instanceId, nextPolls });
    return `${index} ${labelOf(taskRun)} ${told}`;
  });
  for (const [index, { taskRun }] of meant.entries()) handOff(scene, taskRun, alone[index] ?? []);
  const told = ends.map(([taskRun], index) => `${index} ${labelOf(taskRun)} ${toldOf(events, taskRun)}`);
  expect(told, "what the settler told").toEqual(expected);
  await expectNextPolls(scene.rig, since, nextPolls);
}

function holdOf({ held }: ModelInstance, taskRun: ModelTaskRun): Hold {
  const hold = held.get(taskRun);
  if (hold === undefined) throw new Error(`${labelOf(taskRun)} is not held`);
  return hold;
}

const TOLD: Readonly<Partial<Record<SchedulerEvent["type"], readonly string[]>>> = {
  "task_run.deferred": ["deferred"],
  "task_run.let_go": ["let go"],
  "task_run.polled": ["polled"],
  "task_run.refused": ["refused"],
};

function toldOf(events: readonly SchedulerEvent[], { taskRunId }: ModelTaskRun): string {
  return events
    .flatMap((event) => {
      if (!("taskRunId" in event) || event.taskRunId !== taskRunId) return [];
      return event.type === "task_run.settled" ? [event.status] : (TOLD[event.type] ?? []);
    })
    .join();
}

export const cancel: Command<"cancel"> = async (scene, { which, byTask }) => {
  const task = pickTask(scene, which);
  if (task === null) return false;
  const taskRun = byTask ? newestOf(task) : (pick(task.attempts, which) ?? newestOf(task));
  const answer = await scene.rig.scheduler.cancel(byTask ? task.taskId : taskRun.taskRunId);
  expect(answer, `cancel of ${labelOf(taskRun)}`).toBe(cancelIt(taskRun));
  if (answer === "canceling") took(scene.coverage, pathOfCancel(taskRun));
  return answer !== "ended";
};

function pathOfCancel({ letGo, claimedBy }: ModelTaskRun): Path {
  if (!letGo) return "canceled while running";
  return claimedBy === null ? "canceled while outside" : "canceled while polled";
}

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
  const answer = await codeOfError(scene.rig.scheduler.retry(byTask ? task.taskId : meant.taskRunId));
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
