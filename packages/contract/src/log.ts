import { LOG_STREAMS } from "@signalbox/core/domain";
import { z } from "zod";
import { count } from "./count.ts";
import { instant } from "./instant.ts";
import { wholeNumber } from "./query-text.ts";

const logStream = z.enum(LOG_STREAMS);

export const logEntry = z.object({
  stream: logStream,
  text: z.string(),
  at: instant,
  /** Where it begins, in bytes as they were printed, all streams together. */
  offset: z.int(),
  /** Bytes that were printed before it and are not kept. */
  leftOutBytes: z.int(),
});

export const logPageSchema = z.object({
  taskRunId: z.string(),
  entries: z.array(logEntry),
  /** Give it as `from` to read on. */
  next: z.int(),
  /** The task run has ended and there is nothing behind these entries. */
  ended: z.boolean(),
});

export const logMatch = z.object({
  stream: logStream,
  /** The line; of a long one the part around the text. */
  text: z.string(),
  at: instant,
  /** Where the line begins, in bytes as they were printed. */
  offset: z.int(),
  /** Where its entry begins: give it as `from`, without `search`, to read there. */
  entryOffset: z.int(),
});

export const logSearchSchema = z.object({
  taskRunId: z.string(),
  matches: z.array(logMatch),
  /** How many lines of the whole log; counted up to 10,000. */
  total: count,
  /** Give it as `from` to get the next ones; null: these are the last. */
  next: z.int().nullable(),
  /** The task run has ended: nothing more is printed. */
  ended: z.boolean(),
});

/** With `search`, the lines that contain it, whatever its case; without, the entries from `from` on. */
export const logQuerySchema = z.strictObject({
  from: wholeNumber(0, Number.MAX_SAFE_INTEGER).exactOptional(),
  limit: wholeNumber(1, 1_000).exactOptional(),
  search: z.string().exactOptional(),
});

export type LogEntry = z.infer<typeof logEntry>;
export type LogPage = z.infer<typeof logPageSchema>;
export type LogMatch = z.infer<typeof logMatch>;
export type LogSearch = z.infer<typeof logSearchSchema>;
export type LogQuery = z.infer<typeof logQuerySchema>;
