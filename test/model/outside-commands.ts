/** Outside jobs: polled when they are due, their handles kept, and the times that come for them. */

import { expect } from "vitest";
import { took } from "./coverage.ts";
import {
  isHeldBy,
  isLive,
  labelOf,
  type Model,
  type ModelInstance,
  type ModelTaskRun,
  taskRunsOf,
} from "./model.ts";
import { unlessLost } from "./rig.ts";
import { type Command, pick, pickHolder, pickInstance, type Scene } from "./scene.ts";
import { DEADLINE_MS } from "./steps.ts";

/** Looks that one instance takes at once. */
const MOST_POLLS = 20;

export const poll: Command<"poll"> = async (scene, { instance: which }) => {
  const chosen = pickInstance(scene, which);
  if (chosen === null) return false;
  const { instance, known } = chosen;
  const due = dueFor(known, scene.model);
  const claims = await instance.poll();
  const got = due.filter(({ taskRunId }) => claims.some((claim) => claim.taskRunId === taskRunId));
  const byId = new Map(claims.map((claim) => [claim.taskRunId as string, claim]));
  for (const { taskRunId, attempt, interruptions, job, canceling } of got) {
    expect(byId.get(taskRunId), "what is polled").toMatchObject({
      attempt,
      interruptions,
      job: { handle: job?.handle, overdue: job?.overdue, cancelRequested: canceling },
    });
  }
  expect(claims.length, "polled that were due").toBe(got.length);
  takeJobs(scene, known, { due, got }, new Set(claims.map(({ claimNo }) => claimNo)));
  for (const taskRun of got) {
    const job = { overdue: taskRun.job?.overdue === true, cancelRequested: taskRun.canceling };
    known.held.set(taskRun, { claimNo: taskRun.claimNo ?? 0, told: false, handle: "kept", job });
    took(scene.coverage, "polled");
  }
  return got.length > 0;
};

/** They are taken, and their instance never hears of it. */
export const losePoll: Command<"losePoll"> = async (scene, { instance: which }) => {
  const chosen = pickInstance(scene, which);
  if (chosen === null || freePolls(chosen.known) < 1) return false;
  const { instance, known } = chosen;
  const { rig, model, coverage } = scene;
  const due = dueFor(known, model);
  instance.loseNextAnswer();
  expect(await unlessLost(instance.poll)).toBeNull();
  const { rows } = await rig.db.client.query<{ id: string; claimNo: string }>(
    `SELECT id, claim_no AS "claimNo" FROM signalbox.task_run
      WHERE status = 'RUNNING' AND claimed_by = $1 AND claim_no > $2`,
    [known.instanceId, model.lastClaimNo],
  );
  const got = due.filter(({ taskRunId }) => rows.some(({ id }) => id === taskRunId));
  takeJobs(scene, known, { due, got }, new Set(rows.map(({ claimNo }) => Number(claimNo))));
  if (got.length > 0) took(coverage, "poll answer lost");
  return got.length > 0;
};

function freePolls({ held }: ModelInstance): number {
  return MOST_POLLS - [...held.values()].filter(({ job }) => job !== null).length;
}

/** What nobody has and is due, of the kinds that it knows; however busy its slots are. */
function dueFor(instance: ModelInstance, model: Model): readonly ModelTaskRun[] {
  if (!isLive(instance)) return [];
  return taskRunsOf(model).filter(
    ({ job, task }) => job?.poll === "due" && instance.kinds.includes(task.wish.kind),
  );
}

interface Polled {
  readonly due: readonly ModelTaskRun[];
  readonly got: readonly ModelTaskRun[];
}

/** Each under a number that is larger than every one before. */
function takeJobs(
  { model }: Scene,
  by: ModelInstance,
  { due, got }: Polled,
  numbers: ReadonlySet<number>,
): void {
  expect(got.length, "taken to be polled").toBe(Math.min(Math.max(0, freePolls(by)), due.length));
  expect(numbers.size, "numbers of one poll").toBe(Math.min(1, got.length));
  for (const claimNo of numbers) {
    expect(claimNo, "claim number of a poll").toBeGreaterThan(model.lastClaimNo);
    model.lastClaimNo = claimNo;
    for (const taskRun of got) Object.assign(taskRun, { claimNo, claimedBy: by.instanceId });
  }
  for (const { job } of got) if (job !== null) job.poll = "never";
}

/** Whoever runs it or asks after it has a handle stored. */
export const keepHandle: Command<"keepHandle"> = async (
  scene,
  { instance: which, which: held, losesAnswer },
) => {
  const chosen = pickHolder(scene, which);
  const hold = chosen === null ? null : pick([...chosen.known.held], held);
  if (chosen === null || hold === null) return false;
  const { instance, known } = chosen;
  const [taskRun, mine] = hold;
  const handle = `kept ${mine.claimNo}`;
  if (losesAnswer) instance.loseNextAnswer();
  const keep = async (): Promise<boolean> =>
    await instance.keepHandle(taskRun.taskRunId, handle, DEADLINE_MS);
  const stored = await unlessLost(keep);
  const isOurs = isHeldBy(taskRun, known.instanceId, mine);
  expect(stored, `handle of ${labelOf(taskRun)} was stored`).toBe(losesAnswer ? null : isOurs);
  if (stored === true) mine.handle = "kept";
  if (mine.handle === "none") mine.handle = "unsure";
  if (isOurs) keepIt(scene, taskRun, handle);
  return true;
};

function keepIt({ coverage }: Scene, taskRun: ModelTaskRun, handle: string): void {
  const losses = taskRun.job?.losses ?? 0;
  taskRun.job = { handle, poll: "never", overdue: false, losses };
  took(coverage, "handle kept");
}

/** Every poll that lies ahead is due; not those that wait for their deadline. */
export const passPolls: Command<"passPolls"> = async ({ rig, model }) => {
  await rig.query(
    `UPDATE signalbox.outside_job SET next_poll_at = clock_timestamp()
      WHERE next_poll_at > clock_timestamp() AND next_poll_at < 'infinity' AND next_poll_at <> deadline`,
  );
  const jobs = taskRunsOf(model).flatMap(({ job }) => (job?.poll === "later" ? [job] : []));
  for (const job of jobs) job.poll = "due";
  return jobs.length > 0;
};

/** It has taken too long, and whatever poll there was to be before that is due. */
export const passDeadline: Command<"passDeadline"> = async ({ rig, model }, { which }) => {
  const taskRun = pick(
    taskRunsOf(model).filter(({ job }) => job !== null && !job.overdue),
    which,
  );
  if (taskRun === null || taskRun.job === null) return false;
  await rig.query(
    `UPDATE signalbox.outside_job
        SET deadline = clock_timestamp() - interval '1 s',
            next_poll_at = CASE WHEN next_poll_at = 'infinity' THEN next_poll_at ELSE clock_timestamp() END
      WHERE task_run_id = $1`,
    [taskRun.taskRunId],
  );
  taskRun.job.overdue = true;
  if (taskRun.job.poll !== "never") taskRun.job.poll = "due";
  return true;
};
