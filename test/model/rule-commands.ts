/** Rules that people change while work goes on, and time that passes. */

import { expect } from "vitest";
import type { WindowSpec } from "../../packages/core/src/domain/window-spec.ts";
import { took } from "./coverage.ts";
import { windowScopes } from "./gates.ts";
import { holdersOf, isActive, newestOf, taskRunsOf } from "./model.ts";
import { backToPending, demote, demoteUnserved } from "./moves.ts";
import { type Command, pick, pickRun, pickTask, type Scene } from "./scene.ts";
import { RATE, type Scope, STOP } from "./steps.ts";

/** So long that no slot is free again by itself. */
const PERIOD_MS = 3_600_000;
const LONG_AGO = new Date("2020-01-01");
const LONG_OVER = new Date("2020-01-02");
const FAR_AHEAD = new Date("2090-01-01");
const WINDOWS: Readonly<Record<"none" | "open" | "closed", readonly WindowSpec[]>> = {
  none: [],
  open: [{ kind: "maintenance", from: LONG_AGO, until: FAR_AHEAD }],
  closed: [{ kind: "freeze", from: LONG_AGO, until: FAR_AHEAD }],
};

interface Named {
  readonly scope: string;
  readonly given: { readonly queue: string } | { readonly resource: string } | { readonly runId: never };
}

function nameScope(scene: Scene, what: Scope): Named | null {
  if ("queue" in what) return { scope: `queue:${what.queue}`, given: { queue: what.queue } };
  if ("resource" in what) return { scope: `resource:${what.resource}`, given: { resource: what.resource } };
  const run = pickRun(scene, what.run);
  return run === null ? null : { scope: `run:${run.runId}`, given: { runId: run.runId as never } };
}

/** Whoever is AVAILABLE there must be judged again. */
function demoteIn({ model, coverage }: Scene, scope: string): void {
  const before = taskRunsOf(model).filter(({ status }) => status === "AVAILABLE").length;
  demote(model, ({ task, holds }) => holds.has(scope) || scope === `queue:${task.wish.queue}`);
  // Only the rules of a queue make its strays be looked for.
  if (scope.startsWith("queue:")) demoteUnserved(model);
  const after = taskRunsOf(model).filter(({ status }) => status === "AVAILABLE").length;
  if (after < before) took(coverage, "demoted");
}

export const pause: Command<"pause"> = async (scene, { what }) => {
  const named = nameScope(scene, what);
  if (named === null) return false;
  const { scope, given } = named;
  const isNew = !scene.model.paused.has(scope);
  expect(await scene.rig.scheduler.pause(given), `pause of ${scope}`).toBe(isNew);
  scene.model.paused.add(scope);
  if (isNew) demoteIn(scene, scope);
  else if (scope.startsWith("queue:")) demoteUnserved(scene.model);
  return isNew;
};

export const resume: Command<"resume"> = async (scene, { what }) => {
  const named = nameScope(scene, what);
  if (named === null) return false;
  const { rig, model } = scene;
  const was = model.paused.delete(named.scope);
  expect(await rig.scheduler.resume(named.given), `resume of ${named.scope}`).toBe(was);
  return was;
};

export const setWindows: Command<"setWindows"> = async (scene, { what, windows }) => {
  if ("run" in what) return false;
  const scope = "queue" in what ? `queue:${what.queue}` : `resource:${what.resource}`;
  await scene.rig.scheduler.setWindows(what, WINDOWS[windows]);
  if (windows === "none") scene.model.windows.delete(scope);
  else scene.model.windows.set(scope, windows === "open" ? "maintained" : "frozen");
  demoteIn(scene, scope);
  return true;
};

/**
 * The end of its window has come. Of what is to happen then only that is due which the product has written down: the wake
 * of those that wait, and until when those that do not may be claimed.
 */
export const passWindow: Command<"passWindow"> = async ({ rig, model, coverage }, { what }) => {
  if ("run" in what) return false;
  const scope = "queue" in what ? `queue:${what.queue}` : `resource:${what.resource}`;
  const state = model.windows.get(scope);
  if (state !== "maintained" && state !== "frozen") return false;
  const within = taskRunsOf(model).filter((taskRun) => windowScopes(taskRun).includes(scope));
  await rig.query(
    `WITH passed AS (
       UPDATE signalbox.start_window
          SET windows = jsonb_set(windows, '{0,until}', to_jsonb('${LONG_OVER.toISOString()}'::text))
        WHERE over || ':' || name = $1
     ), woken AS (
       UPDATE signalbox.gate_wake SET due_at = '${LONG_OVER.toISOString()}'
        WHERE key = 'window:' || $1 AND due_at = '${FAR_AHEAD.toISOString()}'
     )
     UPDATE signalbox.ready SET open_until = '${LONG_OVER.toISOString()}'
      WHERE task_run_id = ANY ($2::uuid[]) AND open_until = '${FAR_AHEAD.toISOString()}'`,
    [scope, within.map(({ taskRunId }) => taskRunId)],
  );
  model.windows.set(scope, state === "maintained" ? "maintenance over" : "freeze over");
  const waits = within.some(({ parked }) => parked?.gate === "WINDOW" && parked.key === scope);
  if (state === "frozen" && waits) took(coverage, "window opened by itself");
  return true;
};

export const setRunLimit: Command<"setRunLimit"> = async (scene, { which, limit }) => {
  const run = pickRun(scene, which);
  if (run === null) return false;
  await scene.rig.scheduler.setRunLimit(run.runId as never, limit);
  run.limit = limit;
  noteLowered(scene, `run:${run.runId}`, limit);
  return true;
};

function noteLowered({ model, coverage }: Scene, scope: string, limit: number): void {
  if (limit > 0 && holdersOf(model, scope).length > limit)
    took(coverage, "lowered limit below what is active");
}

export const setQueue: Command<"setQueue"> = async (scene, { queue, limit }) => {
  const { rig, model } = scene;
  const isFirst = (model.queueLimits.get(queue) ?? 0) === 0 && limit > 0;
  await rig.scheduler.setQueue(queue, { limit });
  model.queueLimits.set(queue, limit);
  const scope = `queue:${queue}`;
  if (isFirst) {
    // What runs counts from now on; what has not started is judged again.
    demoteIn(scene, scope);
    const running = taskRunsOf(model).filter(
      ({ status, task }) => status === "RUNNING" && task.wish.queue === queue,
    );
    for (const taskRun of running) taskRun.holds.add(scope);
  } else demoteUnserved(model);
  noteLowered(scene, scope, limit);
  return true;
};

export const setKeyLimit: Command<"setKeyLimit"> = async (scene, { key, limit }) => {
  await scene.rig.scheduler.setKeyLimit(key, limit);
  scene.model.keyLimits.set(key, limit);
  noteLowered(scene, `key:${key}`, limit);
  return true;
};

export const setRate: Command<"setRate"> = async ({ rig, model }, { amount }) => {
  await rig.scheduler.setRate(RATE, { amount, perMs: PERIOD_MS });
  model.rateAmount = amount;
  return true;
};

/** All starts are a period ago. The rate is set anew, so that the check of the history begins anew too. */
export const passPeriod: Command<"passPeriod"> = async ({ rig, model }) => {
  await rig.query(
    `UPDATE signalbox.rate_slot AS s
        SET started_at = clock_timestamp() - ${2 * PERIOD_MS} * interval '1 ms'
       FROM signalbox.task_run AS t
      WHERE t.id = s.task_run_id AND (s.started_at IS NOT NULL OR t.claimed_at IS NOT NULL)`,
  );
  await rig.scheduler.setRate(RATE, { amount: model.rateAmount, perMs: PERIOD_MS });
  const had = model.rateStarts.length > 0;
  model.rateStarts.length = 0;
  return had;
};

/** Every run time that lies ahead has come. */
export const passTime: Command<"passTime"> = async ({ rig, model }) => {
  await rig.query(
    `WITH due AS (
       UPDATE signalbox.waiting SET run_at = clock_timestamp() - interval '1 s' WHERE run_at > clock_timestamp()
     )
     UPDATE signalbox.task_run SET run_at = clock_timestamp() - interval '1 s'
      WHERE status = 'PENDING' AND run_at > clock_timestamp()`,
  );
  const waiting = taskRunsOf(model).filter(({ status, later }) => status === "PENDING" && later);
  for (const taskRun of waiting) taskRun.later = false;
  return waiting.length > 0;
};

export const putStop: Command<"putStop"> = async (scene, { which }) => {
  const task = pickTask(scene, which);
  if (task === null) return false;
  await scene.rig.scheduler.putStop(task.taskId as never, STOP);
  task.stops.add(STOP);
  if (task.attempts.some(isActive)) demote(scene.model, (taskRun) => taskRun.task === task);
  return true;
};

export const takeOffStop: Command<"takeOffStop"> = async ({ rig, model }, { which }) => {
  const task = pick(
    model.tasks.filter(({ stops }) => stops.size > 0),
    which,
  );
  if (task === null) return false;
  expect(await rig.scheduler.takeOffStop(task.taskId as never, STOP)).toBe(true);
  task.stops.delete(STOP);
  return true;
};

/** Kept for nobody from now on. Who went before all others because of it stands in line again. */
export const releaseReservation: Command<"releaseReservation"> = async (scene, { resource }) => {
  const { rig, model, coverage } = scene;
  const task = model.tasks.find(({ kept }) => kept.has(resource));
  expect(await rig.scheduler.releaseReservation(resource)).toBe(task !== undefined);
  if (task === undefined) return false;
  const newest = newestOf(task);
  if (newest.status === "AVAILABLE") backToPending(newest);
  task.kept.delete(resource);
  if (task.kept.size === 0) newest.priority = task.wish.priority;
  took(coverage, "resource released");
  return true;
};
