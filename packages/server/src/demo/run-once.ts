/** One chapter of every story, watched to its end. */

import { setTimeout as delay } from "node:timers/promises";
import type { Scheduler, TaskId, TaskRunDetail, WaitingCode } from "@signalbox/core";
import { openDemoTaskRuns } from "./open-task-runs.ts";
import { STORIES } from "./stories.ts";

export interface EndedDemo {
  /** In the order in which they were enqueued. */
  readonly tasks: readonly WatchedTask[];
  readonly tookMs: number;
}

export interface WatchedTask {
  readonly newest: TaskRunDetail;
  /** The gates at which it was seen waiting. */
  readonly waitedAt: readonly WaitingCode[];
}

type GatesByTask = ReadonlyMap<TaskId, Set<WaitingCode>>;

const LOOK_EVERY_MS = 150;

/** Resolves when all have ended, or at `signal`. */
export async function runDemoOnce(scheduler: Scheduler, signal: AbortSignal): Promise<EndedDemo> {
  const startedAt = performance.now();
  const gatesByTask = await enqueueStories(scheduler);
  while (!signal.aborted && (await anyIsOpen(scheduler, gatesByTask))) {
    await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
  }
  const tookMs = performance.now() - startedAt;
  const tasks = await Promise.all(
    [...gatesByTask].map(async ([taskId, gates]) => ({
      newest: await scheduler.get(taskId),
      waitedAt: [...gates],
    })),
  );
  return { tasks, tookMs };
}

async function enqueueStories(scheduler: Scheduler): Promise<GatesByTask> {
  const gatesByTask = new Map<TaskId, Set<WaitingCode>>();
  for (const story of STORIES) {
    const { tasks, run } = story.chapter(new Date(), 0);
    const { taskRuns } = await scheduler.enqueueMany(tasks, run === undefined ? {} : { run });
    for (const { taskId } of taskRuns) gatesByTask.set(taskId, new Set());
  }
  return gatesByTask;
}

async function anyIsOpen(scheduler: Scheduler, gatesByTask: GatesByTask): Promise<boolean> {
  const open = await openDemoTaskRuns(scheduler);
  if (open === null) return true;
  const own = open.filter(({ taskId }) => gatesByTask.has(taskId));
  for (const { taskId, blockedOn } of own) {
    if (blockedOn !== null) gatesByTask.get(taskId)?.add(blockedOn);
  }
  return own.length > 0;
}
