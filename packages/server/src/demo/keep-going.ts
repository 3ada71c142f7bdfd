/** Keeps the demo moving for ever: enqueues a story's next chapter when the one before is mostly done. */

import { setTimeout as delay } from "node:timers/promises";
import type { Scheduler } from "@signalbox/core";
import { openDemoTaskRuns } from "./open-task-runs.ts";
import { isDue, STORIES, type Story } from "./stories.ts";

export interface DemoDeps {
  readonly scheduler: Scheduler;
  /** False while another process keeps it going. */
  isOurTurn(): Promise<boolean>;
  onProblem(error: unknown): void;
}

const LOOK_EVERY_MS = 700;

/** Resolves when `signal` is aborted. Survives a database that is away for a while. */
export async function keepDemoGoing(deps: DemoDeps, signal: AbortSignal): Promise<void> {
  for (let turn = 0; !signal.aborted; turn++) {
    try {
      if (await deps.isOurTurn()) await continueStories(deps.scheduler, turn);
    } catch (error) {
      if (!signal.aborted) deps.onProblem(error);
    }
    await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
  }
}

async function continueStories(scheduler: Scheduler, turn: number): Promise<void> {
  const open = await openDemoTaskRuns(scheduler);
  if (open === null) return;
  for (const story of STORIES) {
    if (isDue(story, open)) await enqueueChapter(scheduler, story, turn);
  }
}

async function enqueueChapter(scheduler: Scheduler, story: Story, turn: number): Promise<void> {
  const { tasks, run } = story.chapter(new Date(), turn);
  await scheduler.enqueueMany(tasks, run === undefined ? {} : { run });
}
