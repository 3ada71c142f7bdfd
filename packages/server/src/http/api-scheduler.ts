import type { Rules, Scheduler } from "@signalbox/core";

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
  | "defer"
  | "explain"
  | "get"
  | "list"
  | "listAttempts"
  | "readLog"
  | "searchLog"
  | "getRun"
  | "listRuns"
  | "setRunLimit"
  | "readRules"
  | "listQueues"
  | "listResources"
  | "getResource"
  | "listInstances"
  | "getInstance"
  | "drainInstance"
  | "callInstanceBack"
  | "overview"
  | "previewOperation"
  | "startOperation"
  | "getOperation"
  | "listOperations"
  | "listOperationItems"
  | "abortOperation"
  | keyof Rules
>;
