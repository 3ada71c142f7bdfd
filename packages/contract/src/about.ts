import { z } from "zod";
import { instant } from "./instant.ts";

export const aboutSchema = z.object({
  version: z.string(),
  /** What people call this environment; null where nobody named it. */
  environmentName: z.string().nullable(),
  mode: z.enum(["dev", "serve"]),
  /** By the clock of the process that answers. */
  serverTime: instant,
});

export type About = z.infer<typeof aboutSchema>;
