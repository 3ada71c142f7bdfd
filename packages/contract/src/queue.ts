import { z } from "zod";
import { count } from "./count.ts";
import { instant } from "./instant.ts";
import { rulesOn } from "./window.ts";

export const queueView = z.object({
  queue: z.string(),
  /** 0: unlimited. */
  limit: z.int(),
  weight: z.int(),
  ...rulesOn,
  waiting: count,
  available: count,
  running: count,
});

/** Every queue that has rules or open work, by name. */
export const queueListSchema = z.object({
  computedAt: instant,
  queues: z.array(queueView),
  /** There are more than these, or there may be: not all that waits was looked at. */
  cut: z.boolean(),
});

export type QueueView = z.infer<typeof queueView>;
export type QueueList = z.infer<typeof queueListSchema>;
