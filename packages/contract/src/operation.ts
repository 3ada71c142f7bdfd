import {
  OPERATION_STATUSES,
  OPERATION_VERBS,
  type OperationStatus,
  type OperationVerb,
  SKIP_REASONS,
  type SkipReason,
} from "@signalbox/core/domain";
import { z } from "zod";
import { asked } from "./asked.ts";
import { count } from "./count.ts";
import { instant } from "./instant.ts";
import { commaList, wholeNumber } from "./query-text.ts";
import { asEnum, taskRunStatus } from "./status.ts";

export const operationVerb = z.enum(asEnum<OperationVerb>(OPERATION_VERBS));
export const operationStatus = z.enum(asEnum<OperationStatus>(OPERATION_STATUSES));
/** Why nothing can be done about a task run. */
export const skipReason = z.enum(asEnum<SkipReason>(SKIP_REASONS));

/** Which task runs it is about; everything that is given must fit, and something must be given. */
export const operationFilter = z.strictObject({
  /** Full ids of task runs, without any other condition. */
  ids: z.array(z.string()).max(1_000).exactOptional(),
  status: z.array(taskRunStatus).exactOptional(),
  runId: z.string().exactOptional(),
  kind: z.string().exactOptional(),
  queue: z.string().exactOptional(),
  tag: z.string().exactOptional(),
  enqueuedSince: instant.exactOptional(),
});

export const operationPreviewRequestSchema = z.strictObject({ verb: operationVerb, filter: operationFilter });
export const operationRequestSchema = operationPreviewRequestSchema.extend(asked);

const expectation = {
  /** What the filter fits. */
  matched: count,
  /** What something can be done about. */
  eligible: count,
  groups: z.array(
    z.object({
      /** Null: these ids are of no task run. */
      status: taskRunStatus.nullable(),
      /** Null: something can be done about them. */
      reason: skipReason.nullable(),
      count: z.int(),
    }),
  ),
};

export const operationPreviewSchema = z.object({
  verb: operationVerb,
  ...expectation,
  /** Five at most of what something can be done about, newest first. */
  first: z.array(z.object({ taskRunId: z.string(), title: z.string(), status: taskRunStatus })),
});

export const operationSchema = z.object({
  operationId: z.string(),
  verb: operationVerb,
  filter: operationFilter,
  by: z.string().nullable(),
  reason: z.string().nullable(),
  status: operationStatus,
  /** As it was when somebody asked; what it comes to may differ from that. */
  expected: z.object(expectation),
  done: z.int(),
  /** By why. */
  skipped: z.partialRecord(skipReason, z.int()),
  failed: z.int(),
  createdAt: instant,
  endedAt: instant.nullable(),
  aborted: z.object({ by: z.string().nullable(), reason: z.string().nullable() }).nullable(),
  /** What went wrong with its last turn, which is tried again. */
  problem: z.string().nullable(),
  rowVersion: z.int(),
});

export const operationPageSchema = z.object({
  operations: z.array(operationSchema),
  /** Give it as `before` to get the next page; null on the last one. */
  next: z.string().nullable(),
});

/** Newest first. */
export const operationQuerySchema = z.strictObject({
  status: commaList(operationStatus).exactOptional(),
  limit: wholeNumber(1, 500).exactOptional(),
  before: z.uuid().exactOptional(),
});

const operationItem = z.object({
  itemNo: z.int(),
  taskRunId: z.string(),
  title: z.string().nullable(),
  result: z.enum(["skipped", "failed"]),
  /** Of a skipped one a `SkipReason`, of a failed one what the database said, as an SQLSTATE. */
  reason: z.string(),
  detail: z.string().nullable(),
});

/** The first 1000 are kept. */
export const operationItemPageSchema = z.object({
  items: z.array(operationItem),
  /** Give it as `after` to get the next page; null on the last one. */
  next: z.int().nullable(),
});

export const operationItemQuerySchema = z.strictObject({
  result: z.enum(["skipped", "failed"]).exactOptional(),
  limit: wholeNumber(1, 500).exactOptional(),
  after: wholeNumber(0, 1_000).exactOptional(),
});

export type OperationFilter = z.infer<typeof operationFilter>;
export type OperationPreviewRequest = z.infer<typeof operationPreviewRequestSchema>;
export type OperationRequest = z.infer<typeof operationRequestSchema>;
export type OperationPreview = z.infer<typeof operationPreviewSchema>;
export type Operation = z.infer<typeof operationSchema>;
export type OperationPage = z.infer<typeof operationPageSchema>;
export type OperationQuery = z.infer<typeof operationQuerySchema>;
export type OperationItem = z.infer<typeof operationItem>;
export type OperationItemPage = z.infer<typeof operationItemPageSchema>;
export type OperationItemQuery = z.infer<typeof operationItemQuerySchema>;
