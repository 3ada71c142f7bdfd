import type { Scheduler, TaskRun } from "@signalbox/core";
import { DEMO_TASKS } from "./tasks.ts";

const AT_MOST = 500;

/** The open task runs of the demo's kinds; null when there are so many that not all were read. */
export async function openDemoTaskRuns(scheduler: Scheduler): Promise<readonly TaskRun[] | null> {
  const pages = await Promise.all(
    DEMO_TASKS.map(({ kind }) =>
      scheduler.list({ kind, status: ["PENDING", "AVAILABLE", "RUNNING"], limit: AT_MOST }),
    ),
  );
  if (pages.some(({ next }) => next !== null)) return null;
  return pages.flatMap(({ taskRuns }) => taskRuns);
}
