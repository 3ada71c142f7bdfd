import type { WaitingCode } from "@signalbox/core/domain";
import { z } from "zod";
import { instant } from "./instant.ts";

const WAITING_CODES = {
  RUN_AT: "RUN_AT",
  VERSION_ORDER: "VERSION_ORDER",
  RUN_LIMIT: "RUN_LIMIT",
  RESOURCE_BUSY: "RESOURCE_BUSY",
} as const satisfies { readonly [Code in WaitingCode]: Code };

export const waitingCode = z.enum(WAITING_CODES);

export const resourceMode = z.enum(["exclusive", "shared"]);

export const waitingCause = z.discriminatedUnion("code", [
  z.object({ code: z.literal("RUN_AT"), runAt: instant }),
  z.object({
    code: z.literal("VERSION_ORDER"),
    resource: z.string(),
    version: z.string(),
    blocker: z.string(),
    blockerVersion: z.string(),
  }),
  z.object({ code: z.literal("RUN_LIMIT"), runId: z.string(), limit: z.int(), active: z.int() }),
  z.object({
    code: z.literal("RESOURCE_BUSY"),
    resource: z.string(),
    mode: resourceMode,
    because: z.enum(["held", "reserved", "line"]),
    blockers: z.array(z.string()),
    reservedFor: z.string().nullable(),
  }),
]);
