import { z } from "zod";
import { instant } from "./instant.ts";

const asked = { by: z.string().max(200).exactOptional() };

export const retryRequestSchema = z.strictObject(asked);

export const retriedSchema = z.object({
  taskId: z.string(),
  /** The new attempt; it is PENDING. */
  taskRunId: z.string(),
  attempt: z.int(),
});

const retryFilterSchema = z.strictObject({
  /** Full ids of tasks, or of their newest task runs. */
  ids: z.array(z.string()).max(10_000).exactOptional(),
  runId: z.string().exactOptional(),
  kind: z.string().exactOptional(),
  /** Default: FAILED only. */
  status: z.array(z.enum(["FAILED", "CANCELED"])).exactOptional(),
  /** Needed where neither `ids` nor `runId` is given. */
  enqueuedSince: instant.exactOptional(),
});

export const retryManySchema = z.strictObject({ filter: retryFilterSchema, ...asked });

export const retryCountsSchema = z.object({ retried: z.int(), notRetryable: z.int(), notFound: z.int() });

export type RetryRequest = z.infer<typeof retryRequestSchema>;
export type Retried = z.infer<typeof retriedSchema>;
export type RetryMany = z.infer<typeof retryManySchema>;
export type RetryCounts = z.infer<typeof retryCountsSchema>;
