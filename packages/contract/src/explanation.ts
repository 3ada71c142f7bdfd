/** The answer to "why is it not running?": every gate, passed or blocking, with what blocks it. */

import { z } from "zod";
import { instant } from "./instant.ts";
import { taskRunStatus, taskStatus } from "./status.ts";
import { waitingCause, waitingCode } from "./waiting-cause.ts";

export const blocker = z.object({
  taskRunId: z.string(),
  taskId: z.string(),
  title: z.string(),
  status: taskRunStatus,
  instanceName: z.string().nullable(),
  since: instant,
});

const explainedCause = z.object({
  cause: waitingCause,
  blockers: z.array(blocker),
  /** 1 is next. Null where this gate has no line. */
  position: z.int().nullable(),
  lineLength: z.int().nullable(),
  /** Null where it is not known; never guessed. */
  earliestAt: instant.nullable(),
});

const gateReport = z.object({
  code: waitingCode,
  state: z.enum(["passed", "blocking", "not_applicable"]),
  causes: z.array(explainedCause),
});

const unattendedCause = z.discriminatedUnion("code", [
  z.object({ code: z.literal("NOT_CLAIMED"), freeSlots: z.int() }),
  z.object({ code: z.literal("NO_FREE_SLOT"), instances: z.int() }),
  z.object({ code: z.literal("NO_EXECUTOR"), kind: z.string() }),
  z.object({ code: z.literal("RULES_CHANGED"), queue: z.string() }),
  z.object({ code: z.literal("WINDOW_CLOSED"), closedAt: instant }),
  z.object({ code: z.literal("NOT_POLLED"), pollAt: instant, deadline: instant }),
  z.object({ code: z.literal("NO_POLLER"), kind: z.string(), deadline: instant }),
  z.object({ code: z.literal("LEASE_OVER"), leaseUntil: instant.nullable() }),
  z.object({
    code: z.literal("NOT_IN_WORK_SET"),
    workSet: z.enum(["waiting", "ready", "outside_job"]),
  }),
]);

export const explanationSchema = z.object({
  taskRunId: z.string().nullable(),
  taskId: z.string(),
  runId: z.string().nullable(),
  title: z.string(),
  kind: z.string(),
  attempt: z.int().nullable(),
  status: taskStatus,
  since: instant,
  computedAt: instant,
  blockedOn: waitingCode.nullable(),
  blockedSince: instant.nullable(),
  cancelRequestedAt: instant.nullable(),
  cancelRequestedBy: z.string().nullable(),
  cancelReason: z.string().nullable(),
  outcome: z.string().nullable(),
  message: z.string().nullable(),
  /** Empty unless it is PENDING. */
  gates: z.array(gateReport),
  /** Why nobody is at work on it although no gate holds it; null: a gate does, somebody is, or it has ended. */
  unattended: unattendedCause.nullable(),
  /** Whose claim could take it, while it is AVAILABLE. With no free slot an instance takes nothing for now. */
  claimableBy: z.array(
    z.object({
      instanceId: z.string(),
      name: z.string(),
      slots: z.int(),
      running: z.int(),
      freeSlots: z.int(),
    }),
  ),
  /** Who has it, while it is RUNNING. */
  claimedBy: z.object({ instanceId: z.string(), name: z.string(), leaseUntil: instant }).nullable(),
});

export type Blocker = z.infer<typeof blocker>;
export type ExplainedCause = z.infer<typeof explainedCause>;
export type Explanation = z.infer<typeof explanationSchema>;
export type GateReport = z.infer<typeof gateReport>;
export type UnattendedCause = z.infer<typeof unattendedCause>;
export type WaitingCause = z.infer<typeof waitingCause>;
