import { z } from "zod";

export const cancelRequestSchema = z.strictObject({
  by: z.string().max(200).exactOptional(),
  reason: z.string().max(2_000).exactOptional(),
});

export const cancelAnswerSchema = z.object({
  /** `canceled`: it had not started. `canceling`: it runs and has been told. `ended`: too late, nothing changed. */
  answer: z.enum(["canceled", "canceling", "ended"]),
});

export type CancelRequest = z.infer<typeof cancelRequestSchema>;
export type CancelAnswer = z.infer<typeof cancelAnswerSchema>;
