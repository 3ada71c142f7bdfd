import { z } from "zod";
import { asked } from "./asked.ts";
import { instant } from "./instant.ts";

/** One of the two: an instant that lies ahead, or so long from now by the database's clock. */
export const deferRequestSchema = z.strictObject({
  runAt: instant.exactOptional(),
  delayMs: z.number().exactOptional(),
  ...asked,
});

export const deferredSchema = z.object({
  taskId: z.string(),
  /** It is PENDING. */
  taskRunId: z.string(),
  runAt: instant,
});

export type DeferRequest = z.infer<typeof deferRequestSchema>;
export type Deferred = z.infer<typeof deferredSchema>;
