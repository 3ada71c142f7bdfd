import { z } from "zod";

export const healthSchema = z.object({
  status: z.literal("ok"),
  product: z.literal("signalbox"),
  version: z.string(),
  /** Random per start: tells a server from the one that had its port before. */
  serverId: z.string(),
});

export type Health = z.infer<typeof healthSchema>;
