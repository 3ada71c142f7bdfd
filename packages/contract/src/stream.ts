import { z } from "zod";
import { instant } from "./instant.ts";
import { problemSchema } from "./problem.ts";

/** The first event of a stream: by `serverTime` a client knows how far its own clock is off. */
export const streamHelloSchema = z.object({ serverTime: instant, serverId: z.string() });

/** What a topic answers now, whole. */
export const streamBodySchema = z.object({ topic: z.string(), at: instant, body: z.unknown() });

/** A list of which only what has changed is said: the order of all its rows, and those that are new or newer. */
export const streamRowsSchema = z.object({
  topic: z.string(),
  at: instant,
  ids: z.array(z.string()),
  rows: z.array(z.looseObject({ rowVersion: z.int() })),
  /** Of the page; null: it is the last one. */
  next: z.string().nullable(),
});

export const streamChangeSchema = z.union([streamRowsSchema, streamBodySchema]);

/** A topic that cannot be read now. It is tried again, and the next change says that it can be. */
export const streamTroubleSchema = z.object({ topic: z.string(), problem: problemSchema });

export type StreamHello = z.infer<typeof streamHelloSchema>;
export type StreamBody = z.infer<typeof streamBodySchema>;
export type StreamRows = z.infer<typeof streamRowsSchema>;
export type StreamChange = z.infer<typeof streamChangeSchema>;
export type StreamTrouble = z.infer<typeof streamTroubleSchema>;
