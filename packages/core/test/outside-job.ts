/** A kind whose work goes on outside, and what is outside: a job that answers as the test says, and remembers. */

import type { TaskRunId } from "../src/domain/ids.ts";
import { letGo, type PollAnswer } from "../src/executors/answers.ts";
import { defineTask, type TaskOptions } from "../src/executors/define-task.ts";
import type { ManualScheduler } from "../src/testing/manual-scheduler.ts";
import type { Fixture } from "./fixture.ts";

export const HOUR_MS = 3_600_000;
export const RUNNING: PollAnswer = { kind: "running", pollInMs: HOUR_MS };

/** The world outside. */
export const outside = {
  answer: RUNNING as PollAnswer | Error,
  endProblem: null as Error | null,
  started: 0,
  polled: [] as { readonly handle: unknown; readonly fence: number }[],
  ended: [] as unknown[],
};

export function resetOutside(): void {
  Object.assign(outside, { answer: RUNNING, endProblem: null, started: 0, polled: [], ended: [] });
}

export const cloud = defineTask({
  kind: "cloud",
  run: () => {
    outside.started += 1;
    const handle = { execution: `job-${outside.started}` };
    return letGo({ handle, pollInMs: HOUR_MS, deadlineInMs: 24 * HOUR_MS });
  },
  poll: async (handle, { fence }) => {
    outside.polled.push({ handle, fence });
    if (outside.answer instanceof Error) throw outside.answer;
    return outside.answer;
  },
  cancelOutside: async (handle) => {
    if (outside.endProblem !== null) throw outside.endProblem;
    outside.ended.push(handle);
  },
});

export interface OutsideSteps {
  readonly open: (name?: string) => Promise<ManualScheduler>;
  /** Starts a job and lets it go. */
  readonly start: (scheduler: ManualScheduler, options?: TaskOptions) => Promise<TaskRunId>;
  /** As if the time of the next poll had come. */
  readonly due: () => Promise<void>;
  /** Takes what is to be polled, asks, and records the answer; answers how many. */
  readonly poll: (scheduler: ManualScheduler) => Promise<number>;
}

/** Executes what it holds, and records it. */
export async function step(scheduler: ManualScheduler): Promise<void> {
  await scheduler.execute();
  await scheduler.settle();
}

export function outsideSteps(box: Fixture): OutsideSteps {
  const due = async (): Promise<void> => {
    await box.query(
      "UPDATE signalbox.outside_job SET next_poll_at = clock_timestamp() WHERE next_poll_at < 'infinity'",
    );
  };
  return {
    due,
    open: async (name = "one") => await box.scheduler({ tasks: [cloud], slots: 1, name }),
    start: async (scheduler, options = {}) => {
      const { taskRunId } = await scheduler.enqueue(cloud.task(null, options));
      await scheduler.promote();
      await scheduler.claim();
      await step(scheduler);
      return taskRunId;
    },
    poll: async (scheduler) => {
      await due();
      const taken = await scheduler.poll();
      await step(scheduler);
      return taken.length;
    },
  };
}
