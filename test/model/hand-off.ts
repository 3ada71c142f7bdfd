/** The oracle's own reading of what a settlement hands to the next in line, without a pass. */

import { took } from "./coverage.ts";
import { causesOf, isSmallerVersion, parkedAtResource } from "./gates.ts";
import {
  inLineOrder,
  isOpen,
  type Model,
  type ModelTaskRun,
  modeAt,
  newestOf,
  queueLimit,
  taskRunsOf,
} from "./model.ts";
import { admit } from "./moves.ts";
import type { Scene } from "./scene.ts";

/** What it has alone, and what goes with its end: nothing of that is kept for its task since a loss. */
export function heldAlone(taskRun: ModelTaskRun): readonly string[] {
  const { task, holds } = taskRun;
  return task.wish.resources
    .filter(({ name, mode }) => mode === "exclusive" && holds.has(`resource:${name}`) && !task.kept.has(name))
    .map(({ name }) => name);
}

/** It has ended, and no attempt follows it. One of a run hands nothing on. */
export function handOff({ model, coverage }: Scene, taskRun: ModelTaskRun, names: readonly string[]): void {
  if (isOpen(taskRun) || newestOf(taskRun.task) !== taskRun || taskRun.task.run !== null) return;
  for (const name of names) {
    const next = nextAt(model, name);
    if (next === null || !waitsForNothingElse(next, name, model)) continue;
    admit(next, model);
    took(coverage, "handed off");
  }
}

function nextAt(model: Model, name: string): ModelTaskRun | null {
  const waiting = taskRunsOf(model).filter(({ status }) => status === "PENDING");
  const line = inLineOrder(waiting.filter((each) => parkedAtResource(each) && modeAt(each, name) !== null));
  const behind = waiting.filter(({ parked }) => parked?.gate === "VERSION_ORDER" && parked.key === name);
  const [first] = line;
  if (first !== undefined) return first.task.wish.version === null && behind.length === 0 ? first : null;
  // Alone with its version: nobody with the same one or a smaller one, wherever that stands.
  return behind.find((each) => versionsUpTo(each, name, model).length === 1) ?? null;
}

function versionsUpTo({ task }: ModelTaskRun, name: string, model: Model): readonly ModelTaskRun[] {
  const { version } = task.wish;
  return taskRunsOf(model).filter((other) => {
    const theirs = other.task.wish.version;
    if (!isOpen(other) || theirs === null || version === null || modeAt(other, name) === null) return false;
    return !isSmallerVersion(version, theirs);
  });
}

function waitsForNothingElse(taskRun: ModelTaskRun, name: string, model: Model): boolean {
  const { resources } = taskRun.task.wish;
  const isForThisAlone = resources.length === 1 && modeAt(taskRun, name) === "exclusive";
  if (!isForThisAlone || isLimited(taskRun, name, model) || isBelowDone(taskRun, name, model)) return false;
  return causesOf(taskRun, model, parkedAtResource).length === 0;
}

/** Where there are windows, or a limit, a pass decides, whatever they say at the moment. */
function isLimited({ task: { run, wish } }: ModelTaskRun, name: string, model: Model): boolean {
  const byItself = run !== null || wish.concurrencyKey !== null || wish.rated;
  const hasWindows = [`queue:${wish.queue}`, `resource:${name}`].some((scope) => model.windows.has(scope));
  return byItself || hasWindows || queueLimit(model, wish.queue) > 0;
}

/** Also where it may start below them. */
function isBelowDone({ task }: ModelTaskRun, name: string, model: Model): boolean {
  const { version } = task.wish;
  const former = model.pruned.map(newestOf);
  return [...taskRunsOf(model), ...former].some((other) => {
    const theirs = other.task.wish.version;
    if (other.status !== "DONE" || theirs === null || version === null) return false;
    return modeAt(other, name) !== null && isSmallerVersion(version, theirs);
  });
}
