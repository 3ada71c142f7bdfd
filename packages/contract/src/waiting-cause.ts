import type { WaitingCode } from "@signalbox/core/domain";
import { z } from "zod";
import { instant } from "./instant.ts";

const WAITING_CODES = {
  RUN_AT: "RUN_AT",
  STOPPED: "STOPPED",
  PAUSED: "PAUSED",
  NO_EXECUTOR: "NO_EXECUTOR",
  WINDOW: "WINDOW",
  OUT_OF_ORDER: "OUT_OF_ORDER",
  VERSION_ORDER: "VERSION_ORDER",
  RUN_LIMIT: "RUN_LIMIT",
  QUEUE_LIMIT: "QUEUE_LIMIT",
  KEY_LIMIT: "KEY_LIMIT",
  FAIR_SHARE: "FAIR_SHARE",
  RATE_LIMIT: "RATE_LIMIT",
  RESOURCE_BUSY: "RESOURCE_BUSY",
  NOT_EVALUATED: "NOT_EVALUATED",
} as const satisfies { readonly [Code in WaitingCode]: Code };

export const waitingCode = z.enum(WAITING_CODES);

export const resourceMode = z.enum(["exclusive", "shared"]);

const ofQueue = z.templateLiteral(["queue:", z.string()]);
const ofRun = z.templateLiteral(["run:", z.string()]);
const ofResource = z.templateLiteral(["resource:", z.string()]);

export const waitingCause = z.discriminatedUnion("code", [
  z.object({ code: z.literal("RUN_AT"), runAt: instant }),
  z.object({
    code: z.literal("STOPPED"),
    taskId: z.string(),
    /** The code that the package which put the stop gave it. */
    stop: z.string(),
    detail: z.string().nullable(),
    since: instant,
  }),
  z.object({
    code: z.literal("PAUSED"),
    scope: z.union([ofQueue, ofRun, ofResource]),
    since: instant,
    by: z.string().nullable(),
    reason: z.string().nullable(),
  }),
  z.object({ code: z.literal("NO_EXECUTOR"), kind: z.string() }),
  z.object({
    code: z.literal("WINDOW"),
    scope: z.union([ofQueue, ofResource]),
    window: z.enum(["maintenance", "freeze"]),
    opensAt: instant.nullable(),
  }),
  z.object({
    code: z.literal("OUT_OF_ORDER"),
    resource: z.string(),
    version: z.string(),
    doneVersion: z.string(),
  }),
  z.object({
    code: z.literal("VERSION_ORDER"),
    resource: z.string(),
    version: z.string(),
    blocker: z.string(),
    blockerVersion: z.string(),
  }),
  z.object({ code: z.literal("RUN_LIMIT"), runId: z.string(), limit: z.int(), active: z.int() }),
  z.object({ code: z.literal("QUEUE_LIMIT"), queue: z.string(), limit: z.int(), active: z.int() }),
  z.object({ code: z.literal("KEY_LIMIT"), concurrencyKey: z.string(), limit: z.int(), active: z.int() }),
  z.object({ code: z.literal("FAIR_SHARE"), runId: z.string(), share: z.int(), available: z.int() }),
  z.object({
    code: z.literal("RATE_LIMIT"),
    rate: z.string(),
    amount: z.int(),
    perMs: z.number(),
    freeAt: instant.nullable(),
  }),
  z.object({
    code: z.literal("RESOURCE_BUSY"),
    resource: z.string(),
    mode: resourceMode,
    because: z.enum(["held", "reserved", "line"]),
    blockers: z.array(z.string()),
    reservedFor: z.string().nullable(),
  }),
  z.object({ code: z.literal("NOT_EVALUATED"), since: instant }),
]);
