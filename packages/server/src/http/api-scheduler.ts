import type { Scheduler } from "@signalbox/core";

/** What the API asks of a scheduler. It never starts one. */
export type ApiScheduler = Pick<
  Scheduler,
  | "enqueue"
  | "enqueueMany"
  | "cancel"
  | "cancelMany"
  | "cancelRun"
  | "retry"
  | "retryMany"
  | "explain"
  | "get"
  | "list"
  | "overview"
>;
