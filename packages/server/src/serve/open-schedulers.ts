/** The two schedulers of a server. They share the database and nothing else. */

import { createScheduler, type Executor, type Scheduler, type SchedulerEvent } from "@signalbox/core";
import type { ServeSettings } from "./serve-settings.ts";

export interface Schedulers {
  /** Joins the cluster: promotes and rescues, and claims what its tasks are for. */
  readonly instance: Scheduler;
  /**
   * Answers the API and is never started: it has connections of its own, so that neither waits for the other, and it
   * still answers while the instance drains.
   */
  readonly control: Scheduler;
}

const API_CONNECTIONS = 10;

export function openSchedulers(
  settings: ServeSettings,
  tasks: readonly Executor[],
  onEvent: (event: SchedulerEvent) => void,
): Schedulers {
  const { databaseUrl, directUrl, instanceName, slots, drainMs } = settings;
  const shared = {
    databaseUrl,
    ...(directUrl === null ? {} : { directUrl }),
    ...(instanceName === null ? {} : { name: instanceName }),
    tasks,
  };
  return {
    instance: createScheduler({ ...shared, ...(slots === null ? {} : { slots }), drainMs, onEvent }),
    // Its tasks are not to run, but to check their input where it is enqueued.
    control: createScheduler({ ...shared, poolSize: API_CONNECTIONS, onEvent }),
  };
}
