import { z } from "zod";
import { instant } from "./instant.ts";
import { waitingCode } from "./waiting-cause.ts";

const instanceView = z.object({
  instanceId: z.string(),
  name: z.string(),
  state: z.enum(["LIVE", "DRAINING", "DEAD"]),
  kinds: z.array(z.string()),
  slots: z.int(),
  running: z.int(),
  startedAt: instant,
  beatAt: instant,
  leaseUntil: instant,
  /** Who has asked it to drain, when and why; null: nobody. */
  drainRequest: z
    .object({ since: instant, by: z.string().nullable(), reason: z.string().nullable() })
    .nullable(),
});

export const overviewSchema = z.object({
  computedAt: instant,
  /** Where each count ends: as many as this means as many or more. */
  countedUpTo: z.int(),
  /** PENDING task runs by the gate under which they are parked; NOT_EVALUATED: nobody has looked yet. */
  waiting: z.partialRecord(z.enum([...waitingCode.options, "NOT_EVALUATED"]), z.int()),
  available: z.int(),
  running: z.int(),
  instances: z.array(instanceView),
});

export type InstanceView = z.infer<typeof instanceView>;
export type Overview = z.infer<typeof overviewSchema>;
