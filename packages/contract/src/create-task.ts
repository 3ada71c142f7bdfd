/**
 * What creates tasks. A schema here says what a field is made of; what a good value is (names, ranges,
 * versions) is decided once, by the scheduler.
 */

import { z } from "zod";
import { instant } from "./instant.ts";
import { resourceMode } from "./waiting-cause.ts";

export const taskSpecSchema = z.strictObject({
  /** Which executor runs it. */
  kind: z.string(),
  /** Any JSON value. */
  input: z.unknown().exactOptional(),
  title: z.string().exactOptional(),
  /** 0 is the most urgent, 9 the least. */
  priority: z.number().exactOptional(),
  queue: z.string().exactOptional(),
  tags: z.array(z.string()).exactOptional(),
  concurrencyKey: z.string().exactOptional(),
  rate: z.string().exactOptional(),
  stops: z.array(z.strictObject({ code: z.string(), detail: z.string().exactOptional() })).exactOptional(),
  runAt: instant.exactOptional(),
  resources: z.array(z.strictObject({ name: z.string(), mode: resourceMode })).exactOptional(),
  /** Dotted integers, as text: 1.10 is not 1.1. */
  version: z.string().exactOptional(),
  outOfOrder: z.boolean().exactOptional(),
  retry: z
    .strictObject({
      attempts: z.number().exactOptional(),
      backoff: z
        .strictObject({
          firstMs: z.number().exactOptional(),
          factor: z.number().exactOptional(),
          maxMs: z.number().exactOptional(),
        })
        .exactOptional(),
    })
    .exactOptional(),
  onLost: z.enum(["retry", "fail", "resume"]).exactOptional(),
  timeouts: z
    .strictObject({
      queuedMs: z.number().exactOptional(),
      runningMs: z.number().exactOptional(),
      progressMs: z.number().exactOptional(),
    })
    .exactOptional(),
});

/** Many at once, all or none; with `run`, as one new run. */
export const createTasksSchema = z.strictObject({
  tasks: z.array(taskSpecSchema).min(1),
  run: z
    .strictObject({
      title: z.string(),
      /** 0: unlimited. */
      limit: z.number().exactOptional(),
    })
    .exactOptional(),
});

export const createdTaskSchema = z.object({
  taskId: z.string(),
  taskRunId: z.string(),
  status: z.enum(["PENDING", "AVAILABLE"]),
});

export const createdTasksSchema = z.object({
  runId: z.string().nullable(),
  /** In the order of the request. */
  taskRuns: z.array(createdTaskSchema),
});

export type TaskSpec = z.infer<typeof taskSpecSchema>;
export type CreateTasks = z.infer<typeof createTasksSchema>;
export type CreatedTask = z.infer<typeof createdTaskSchema>;
export type CreatedTasks = z.infer<typeof createdTasksSchema>;
