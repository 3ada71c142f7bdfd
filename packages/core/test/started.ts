/** Schedulers with their timers and their thread, short leases and short rests; stopped when the test is over. */

import { createScheduler } from "../src/engine/scheduler.ts";
import type { Enqueued, Scheduler } from "../src/engine/scheduler-face.ts";
import type { SchedulerOptions } from "../src/engine/settings.ts";
import type { TaskDefinition, TaskOptions } from "../src/executors/define-task.ts";
import { echo, type Fixture } from "./fixture.ts";
import { waitUntil } from "./wait-until.ts";

export interface Started {
  /** It knows `echo`, unless told otherwise. */
  readonly create: (options?: Partial<SchedulerOptions>) => Scheduler;
  /** Starts one, enqueues one task of this kind and waits until it runs. */
  readonly running: (
    task: TaskDefinition<unknown>,
    options: Partial<SchedulerOptions>,
    spec?: TaskOptions,
  ) => Promise<Enqueued & { readonly scheduler: Scheduler }>;
  readonly stopAll: () => Promise<void>;
}

export function startIn(box: Fixture): Started {
  let started: Scheduler[] = [];
  const create: Started["create"] = (options = {}) => {
    const scheduler = createScheduler({
      databaseUrl: box.db.url,
      tasks: [echo],
      leaseMs: 3_000,
      beatMs: 300,
      pollIntervalMs: 200,
      ...options,
    });
    started.push(scheduler);
    return scheduler;
  };
  return {
    create,
    running: async (task, options, spec = {}) => {
      const scheduler = create({ tasks: [task], leaseMs: 60_000, ...options });
      await scheduler.start();
      const enqueued = await scheduler.enqueue(task.task(null, spec));
      // The database says so before the instance has the answer to its claim.
      await waitUntil("it runs", () => scheduler.health().executing === 1);
      return { scheduler, ...enqueued };
    },
    stopAll: async () => {
      for (const scheduler of started) await scheduler.stop();
      started = [];
    },
  };
}

/** For a handler that ends when it is told to, and not before. */
export async function untilTold(signal: AbortSignal): Promise<never> {
  return await new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}
