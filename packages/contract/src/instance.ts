import { z } from "zod";
import { instant } from "./instant.ts";
import { taskRunSchema } from "./task-run.ts";

/** A dead one is shown for ten minutes. */
export const instanceView = z.object({
  instanceId: z.string(),
  name: z.string(),
  state: z.enum(["LIVE", "DRAINING", "DEAD"]),
  kinds: z.array(z.string()),
  slots: z.int(),
  running: z.int(),
  startedAt: instant,
  beatAt: instant,
  leaseUntil: instant,
  /** When it left by itself, of one that is DEAD; null: it was lost. */
  leftAt: instant.nullable(),
  /** Who has asked it to drain, when and why; null: nobody. */
  drainRequest: z
    .object({ since: instant, by: z.string().nullable(), reason: z.string().nullable() })
    .nullable(),
});

export const instanceListSchema = z.object({ computedAt: instant, instances: z.array(instanceView) });

export const instanceDetailSchema = instanceView.extend({
  computedAt: instant,
  /** RUNNING and claimed by it, newest first; also what it only polls. */
  taskRuns: z.array(taskRunSchema),
  /** It holds more than these. */
  cut: z.boolean(),
});

export type InstanceView = z.infer<typeof instanceView>;
export type InstanceList = z.infer<typeof instanceListSchema>;
export type InstanceDetail = z.infer<typeof instanceDetailSchema>;
