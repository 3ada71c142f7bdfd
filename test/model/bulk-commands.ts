/** Cancels and retries of many at once, by ids, run, kind and status: all that is meant, nothing else, and counted once. */

import { expect } from "vitest";
import type { RunId } from "../../packages/core/src/domain/ids.ts";
import { took } from "./coverage.ts";
import { isOpen, type Model, type ModelRun, type ModelTaskRun, newestOf } from "./model.ts";
import { addAttempt, cancel, tally } from "./moves.ts";
import { MOST_OPEN, pendingOf } from "./passes.ts";
import { type Command, pick, pickRun, pickTask, type Scene } from "./scene.ts";
import type { Bulk } from "./steps.ts";

const LONG_AGO = new Date("2020-01-01");
/** Of nothing that there ever was. */
const NO_ID = "00000000-0000-7000-8000-000000000000";

interface Found {
  /** In the order of the filter; null: whatever there is. */
  readonly ids: readonly string[] | null;
  readonly run: ModelRun | null;
  readonly taskRuns: readonly ModelTaskRun[];
}

/** Whom the filter names before it looks at kinds and statuses. Null: it names a run, and there is none. */
function find(scene: Scene, { ids, run: which }: Bulk): Found | null {
  const run = which === null ? null : pickRun(scene, which);
  if (which !== null && run === null) return null;
  if (ids === null) {
    const tasks = scene.model.tasks.filter((task) => run === null || task.run === run);
    return { ids, run, taskRuns: tasks.map(newestOf) };
  }
  const named = ids.flatMap(({ which: task, byTask }) => {
    const meant = pickTask(scene, task);
    if (meant === null) return [];
    const taskRun = byTask ? newestOf(meant) : (pick(meant.attempts, task) ?? newestOf(meant));
    return [{ taskRun, id: byTask ? meant.taskId : taskRun.taskRunId }];
  });
  return {
    ids: [...new Set(named.map(({ id }) => id)), NO_ID],
    run,
    taskRuns: [...new Set(named.map(({ taskRun }) => taskRun))],
  };
}

function filterOf({ ids, run }: Found, { kind }: Bulk): object {
  return {
    ...(ids !== null && { ids }),
    ...(run !== null && { runId: run.runId as RunId }),
    ...(kind !== null && { kind }),
  };
}

function isNamed({ ids, run }: Found): boolean {
  return ids !== null || run !== null;
}

function fits({ task }: ModelTaskRun, { kind }: Bulk, run: ModelRun | null): boolean {
  return (kind === null || task.wish.kind === kind) && (run === null || task.run === run);
}

export const cancelMany: Command<"cancelMany"> = async (scene, { filter, status }) => {
  const found = find(scene, filter);
  if (found === null) return false;
  const asked = { ...filterOf(found, filter), ...(status.length > 0 && { status }) };
  const isEmpty = Object.keys(asked).length === 0;
  const counts = await scene.rig.scheduler.cancelMany(isEmpty ? { status: ALL_OPEN } : asked);
  const meant = found.taskRuns.filter((taskRun) => fits(taskRun, filter, found.run));
  const before = meant.filter((taskRun) => !isOpen(taskRun)).length;
  // Whoever names them one by one is told of each; of a run, of those that have ended.
  const others = (done: number): number =>
    found.ids !== null ? found.taskRuns.length - done : found.run !== null ? before : 0;
  const answers = meant
    .filter((taskRun) => isOpen(taskRun) && (status.length === 0 || isOneOf(status, taskRun)))
    .map(cancel);
  const said = (answer: string): number => answers.filter((each) => each === answer).length;
  expect(counts, `cancel of ${JSON.stringify(asked)}`).toEqual({
    canceled: said("canceled"),
    canceling: said("canceling"),
    ended: others(answers.length),
    notFound: found.ids === null ? 0 : 1,
  });
  if (answers.length > 1) took(scene.coverage, "canceled many");
  return answers.length > 0;
};

const ALL_OPEN = ["PENDING", "AVAILABLE", "RUNNING"] as const;

function isOneOf(statuses: readonly string[], { status }: ModelTaskRun): boolean {
  return statuses.includes(status);
}

export const retryMany: Command<"retryMany"> = async (scene, { filter, status }) => {
  const { rig, model, coverage } = scene;
  const found = find(scene, filter);
  if (found === null) return false;
  const statuses = status.length > 0 ? status : ["FAILED"];
  const again = found.taskRuns
    .filter((taskRun) => fits(taskRun, filter, found.run) && isOneOf(statuses, taskRun))
    .filter((taskRun) => newestOf(taskRun.task) === taskRun);
  if (pendingOf(model).length + again.length > MOST_OPEN) return false;
  const wereOver = runsThatAreOver(model);
  const asked = {
    ...filterOf(found, filter),
    ...(status.length > 0 && { status }),
    // Where neither ids nor a run say where to look.
    ...(!isNamed(found) && { enqueuedSince: LONG_AGO }),
  };
  const counts = await rig.scheduler.retryMany(asked);
  for (const { task } of again) addAttempt(task, { interruptions: 0, later: false });
  const unfit = found.taskRuns.length - again.length;
  expect(counts, `retry of ${JSON.stringify(asked)}`).toEqual({
    retried: again.length,
    ...(found.ids === null ? { notRetryable: 0, notFound: 0 } : { notRetryable: unfit, notFound: 1 }),
  });
  if (again.length > 1) took(coverage, "retried many");
  if (again.some(({ task: { run } }) => wereOver.has(run))) took(coverage, "run reopened");
  return again.length > 0;
};

function runsThatAreOver({ runs }: Model): ReadonlySet<ModelRun | null> {
  return new Set(runs.filter(({ tasks }) => tally(tasks).status !== "RUNNING"));
}
