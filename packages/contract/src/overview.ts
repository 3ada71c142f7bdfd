import { z } from "zod";
import { instanceView } from "./instance.ts";
import { instant } from "./instant.ts";
import { waitingCode } from "./waiting-cause.ts";

export const overviewSchema = z.object({
  computedAt: instant,
  /** Of the database. Another one: a standby was promoted, and what was known of rows before may have been undone. */
  timeline: z.int(),
  /** Where each count ends: as many as this means as many or more. */
  countedUpTo: z.int(),
  /** PENDING task runs by the gate under which they are parked; NOT_EVALUATED: nobody has looked yet. */
  waiting: z.partialRecord(z.enum([...waitingCode.options, "NOT_EVALUATED"]), z.int()),
  available: z.int(),
  running: z.int(),
  instances: z.array(instanceView),
});

export type Overview = z.infer<typeof overviewSchema>;
