import { z } from "zod";
import { asked } from "./asked.ts";

export const cancelRequestSchema = z.strictObject(asked);

export const cancelAnswerSchema = z.object({
  /** `canceled`: it had not started. `canceling`: it runs and has been told. `ended`: too late, nothing changed. */
  answer: z.enum(["canceled", "canceling", "ended"]),
});

const cancelFilterSchema = z.strictObject({
  /** Full ids of tasks or task runs. */
  ids: z.array(z.string()).max(10_000).exactOptional(),
  runId: z.string().exactOptional(),
  kind: z.string().exactOptional(),
  status: z.array(z.enum(["PENDING", "AVAILABLE", "RUNNING"])).exactOptional(),
});

/** All that the filter names; what it says must all be met, and it must say something. */
export const cancelManySchema = z.strictObject({ filter: cancelFilterSchema, ...asked });

export const cancelCountsSchema = z.object({
  canceled: z.int(),
  canceling: z.int(),
  ended: z.int(),
  notFound: z.int(),
});

export type CancelRequest = z.infer<typeof cancelRequestSchema>;
export type CancelAnswer = z.infer<typeof cancelAnswerSchema>;
export type CancelMany = z.infer<typeof cancelManySchema>;
export type CancelCounts = z.infer<typeof cancelCountsSchema>;
