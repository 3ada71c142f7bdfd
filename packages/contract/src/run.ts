import { z } from "zod";
import { instant } from "./instant.ts";
import { commaList, wholeNumber } from "./query-text.ts";
import { runStatus, taskRunStatus } from "./status.ts";
import { pause } from "./window.ts";

export const runSchema = z.object({
  runId: z.string(),
  title: z.string(),
  status: runStatus,
  /** How many of its task runs may be AVAILABLE or RUNNING at once; 0 is unlimited. */
  limit: z.int(),
  openTasks: z.int(),
  failedTasks: z.int(),
  canceledTasks: z.int(),
  paused: pause.nullable(),
  createdAt: instant,
  finishedAt: instant.nullable(),
  rowVersion: z.int(),
});

export const runDetailSchema = runSchema.extend({
  /** Its tasks by the status of their newest task run. */
  tasks: z.record(taskRunStatus, z.int()),
});

export const runPageSchema = z.object({
  runs: z.array(runSchema),
  /** Give it as `before` to get the next page; null on the last one. */
  next: z.string().nullable(),
});

/** Newest first. */
export const runQuerySchema = z.strictObject({
  status: commaList(runStatus).exactOptional(),
  limit: wholeNumber(1, 500).exactOptional(),
  before: z.uuid().exactOptional(),
});

/** 0: unlimited. */
export const runLimitSchema = z.strictObject({ limit: z.number() });

export type Run = z.infer<typeof runSchema>;
export type RunDetail = z.infer<typeof runDetailSchema>;
export type RunPage = z.infer<typeof runPageSchema>;
export type RunQuery = z.infer<typeof runQuerySchema>;
export type RunLimit = z.infer<typeof runLimitSchema>;
