import { z } from "zod";
import { instant } from "./instant.ts";
import { commaList, wholeNumber, yesOrNo } from "./query-text.ts";
import { taskRunStatus } from "./status.ts";
import { resourceMode, waitingCode } from "./waiting-cause.ts";

export const taskRunSchema = z.object({
  taskRunId: z.string(),
  taskId: z.string(),
  runId: z.string().nullable(),
  kind: z.string(),
  queue: z.string(),
  title: z.string(),
  tags: z.array(z.string()),
  attempt: z.int(),
  /** How many there can be in all by its retry policy; one more for each that ended with its instance. Never less than `attempt`. */
  attempts: z.int(),
  status: taskRunStatus,
  priority: z.int(),
  runAt: instant.nullable(),
  version: z.string().nullable(),
  resources: z.array(z.object({ name: z.string(), mode: resourceMode })),
  concurrencyKey: z.string().nullable(),
  rate: z.string().nullable(),
  /** The gate under which it is parked while it is PENDING; null before anybody has looked at it. */
  blockedOn: waitingCode.nullable(),
  enqueuedAt: instant,
  availableAt: instant.nullable(),
  claimedAt: instant.nullable(),
  claimedBy: z.string().nullable(),
  instanceName: z.string().nullable(),
  claimNo: z.int().nullable(),
  cancelRequestedAt: instant.nullable(),
  finishedAt: instant.nullable(),
  /** A stable code that says how it ended. */
  outcome: z.string().nullable(),
  rowVersion: z.int(),
});

export const taskRunDetailSchema = taskRunSchema.extend({
  input: z.unknown(),
  /** How long it was parked at which gates, in milliseconds. */
  waitedMs: z.partialRecord(waitingCode, z.number()),
  output: z.unknown(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  cancelRequestedBy: z.string().nullable(),
  cancelReason: z.string().nullable(),
});

export const taskRunPageSchema = z.object({
  taskRuns: z.array(taskRunSchema),
  /** Give it as `before` to get the next page; null on the last one. */
  next: z.string().nullable(),
});

/** The query string of a list: `?status=PENDING,AVAILABLE&limit=20`. */
export const taskRunQuerySchema = z.strictObject({
  status: commaList(taskRunStatus).exactOptional(),
  runId: z.uuid().exactOptional(),
  kind: z.string().exactOptional(),
  queue: z.string().exactOptional(),
  tag: z.string().exactOptional(),
  /** How they ended: `?outcome=LEASE_LOST,RUN_TIMEOUT`. */
  outcome: commaList(z.string()).exactOptional(),
  /** Only the newest attempt of each task. */
  newest: yesOrNo().exactOptional(),
  limit: wholeNumber(1, 500).exactOptional(),
  before: z.uuid().exactOptional(),
  /** Which come first; the oldest only of what is PENDING. Default: newest. */
  order: z.enum(["newest", "oldest"]).exactOptional(),
});

/** The task runs of one task, newest first. */
export const attemptPageSchema = z.object({
  taskId: z.string(),
  taskRuns: z.array(taskRunSchema),
  /** Give it as `before` to get the next page; null on the last one. */
  next: z.int().nullable(),
});

export const attemptQuerySchema = z.strictObject({
  limit: wholeNumber(1, 500).exactOptional(),
  before: wholeNumber(1, 2_147_483_647).exactOptional(),
});

export type TaskRun = z.infer<typeof taskRunSchema>;
export type TaskRunDetail = z.infer<typeof taskRunDetailSchema>;
export type TaskRunPage = z.infer<typeof taskRunPageSchema>;
export type TaskRunQuery = z.infer<typeof taskRunQuerySchema>;
export type AttemptPage = z.infer<typeof attemptPageSchema>;
export type AttemptQuery = z.infer<typeof attemptQuerySchema>;
