/** Rules: which are in force, and what changes them. */

import { z } from "zod";
import { asked } from "./asked.ts";
import { instant } from "./instant.ts";
import { wholeNumber } from "./query-text.ts";
import { pausable, windowed, windowNow, windowSpec } from "./window.ts";

/** When it was changed last; null: nobody remembers. */
const since = instant.nullable();

const queueRule = z.object({ queue: z.string(), limit: z.int(), weight: z.int(), since });
const keyLimitRule = z.object({ concurrencyKey: z.string(), limit: z.int(), since });
const rateRule = z.object({
  rate: z.string(),
  amount: z.int(),
  perMs: z.number(),
  /** How many may start now; null: not counted. */
  free: z.int().nullable(),
  since,
});
const pauseRule = z.object({
  what: pausable,
  by: z.string().nullable(),
  reason: z.string().nullable(),
  since: instant,
});
const windowRule = z.object({ what: windowed, windows: z.array(windowSpec), now: windowNow, since });
const stopRule = z.object({
  taskId: z.string(),
  code: z.string(),
  detail: z.string().nullable(),
  since: instant,
});
const reservation = z.object({ resource: z.string(), taskId: z.string() });

export const rulesInForceSchema = z.object({
  computedAt: instant,
  queues: z.array(queueRule),
  keyLimits: z.array(keyLimitRule),
  rates: z.array(rateRule),
  pauses: z.array(pauseRule),
  windows: z.array(windowRule),
  /** Those of the newest tasks first. */
  stops: z.array(stopRule),
  reservations: z.array(reservation),
  /** Which of these lists have more than `limit`, and were cut there. */
  cut: z.array(z.enum(["queues", "keyLimits", "rates", "pauses", "windows", "stops", "reservations"])),
});

/** `limit`: how many rules of each list. */
export const rulesQuerySchema = z.strictObject({ limit: wholeNumber(1, 10_000).exactOptional() });

/** `limit` 0: unlimited. One of both must be given. */
export const queueChangeSchema = z.strictObject({
  limit: z.number().exactOptional(),
  weight: z.number().exactOptional(),
});

export const keyLimitSchema = z.strictObject({ limit: z.number() });

/** At most `amount` starts in any period of `perMs`. */
export const rateSchema = z.strictObject({ amount: z.number(), perMs: z.number() });

/** Replaces all windows; an empty list takes them off. */
export const windowsChangeSchema = z.strictObject({ what: windowed, windows: z.array(windowSpec) });

export const pauseRequestSchema = z.strictObject({ what: pausable, ...asked });

export const stopSchema = z.strictObject({ detail: z.string().exactOptional() });

export type RulesInForce = z.infer<typeof rulesInForceSchema>;
export type RulesQuery = z.infer<typeof rulesQuerySchema>;
export type QueueChange = z.infer<typeof queueChangeSchema>;
export type KeyLimit = z.infer<typeof keyLimitSchema>;
export type Rate = z.infer<typeof rateSchema>;
export type WindowsChange = z.infer<typeof windowsChangeSchema>;
export type PauseRequest = z.infer<typeof pauseRequestSchema>;
export type Stop = z.infer<typeof stopSchema>;
