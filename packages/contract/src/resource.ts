import { z } from "zod";
import { count } from "./count.ts";
import { blocker } from "./explanation.ts";
import { instant } from "./instant.ts";
import { wholeNumber } from "./query-text.ts";
import { resourceMode } from "./waiting-cause.ts";
import { rulesOn } from "./window.ts";

/** `since`: when it was given to it. */
export const holder = blocker.extend({ mode: resourceMode });

/** Who waits for the resource and for nothing else. `since`: when it came to wait there. */
export const inLine = blocker.extend({
  mode: resourceMode,
  /** 1 is next. */
  position: z.int(),
  version: z.string().nullable(),
});

export const resourceView = z.object({
  resource: z.string(),
  ...rulesOn,
  /** The first five; of a single one the first hundred. */
  holders: z.array(holder),
  holderCount: z.int(),
  inLine: count,
  /** The task for which it is kept since its instance or its warden was lost; null: for none. */
  reservedFor: z.string().nullable(),
});

export const resourceDetailSchema = resourceView.extend({
  computedAt: instant,
  /** The first hundred. */
  line: z.array(inLine),
});

export const resourcePageSchema = z.object({
  computedAt: instant,
  resources: z.array(resourceView),
  /** Give it as `after` to get the next page; null on the last one. */
  next: z.string().nullable(),
});

/** By name. `search`: how the name begins. */
export const resourceQuerySchema = z.strictObject({
  search: z.string().exactOptional(),
  limit: wholeNumber(1, 500).exactOptional(),
  after: z.string().exactOptional(),
});

export type Holder = z.infer<typeof holder>;
export type InLine = z.infer<typeof inLine>;
export type ResourceView = z.infer<typeof resourceView>;
export type ResourceDetail = z.infer<typeof resourceDetailSchema>;
export type ResourcePage = z.infer<typeof resourcePageSchema>;
export type ResourceQuery = z.infer<typeof resourceQuerySchema>;
