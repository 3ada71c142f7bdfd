/**
 * The answer to "why is it not running?": every gate, passed or blocking, with what blocks it. Built
 * from the same gate functions that promote, so that what is shown is what decides.
 */

import type { Candidate, GateView } from "./gates/gate.ts";
import { GATE_CODES, GATES } from "./gates/gates.ts";
import type { InstanceId, RunId, TaskId, TaskRunId } from "./ids.ts";
import type { TaskRunStatus, TaskStatus } from "./task-status.ts";
import type { WaitingCause, WaitingCode } from "./waiting-cause.ts";

/** A task run as others see it when it stands in their way. */
export interface Blocker {
  readonly taskRunId: TaskRunId;
  readonly taskId: TaskId;
  readonly title: string;
  readonly status: TaskRunStatus;
  /** The instance that runs it, by its display name. */
  readonly instanceName: string | null;
  /** Since when it has been in that status. */
  readonly since: Date;
}

export interface GateReport {
  readonly code: WaitingCode;
  /** `not_applicable`: the task does not name what this gate is about. */
  readonly state: "passed" | "blocking" | "not_applicable";
  readonly causes: readonly ExplainedCause[];
}

export interface ExplainedCause {
  readonly cause: WaitingCause;
  readonly blockers: readonly Blocker[];
  /** 1 is next. Null where this gate has no line. */
  readonly position: number | null;
  readonly lineLength: number | null;
  /** Known only for RUN_AT; never guessed. */
  readonly earliestAt: Date | null;
}

export interface Explanation {
  readonly taskRunId: TaskRunId | null;
  readonly taskId: TaskId;
  readonly runId: RunId | null;
  readonly title: string;
  readonly kind: string;
  readonly attempt: number | null;
  readonly status: TaskStatus;
  /** Since when it has been in that status. */
  readonly since: Date;
  /** The database's clock when this was computed. */
  readonly computedAt: Date;
  /** The gate under which it is parked; null: no pass has looked at it since it was enqueued or woken. */
  readonly blockedOn: WaitingCode | null;
  readonly blockedSince: Date | null;
  readonly cancelRequestedAt: Date | null;
  readonly cancelRequestedBy: string | null;
  readonly cancelReason: string | null;
  readonly outcome: string | null;
  /** What the error said, where it ended with one. */
  readonly message: string | null;
  /** Empty unless it is PENDING: waiting causes exist nowhere else. */
  readonly gates: readonly GateReport[];
  /** For an AVAILABLE task run: who could claim it. */
  readonly claimableBy: readonly ClaimableBy[];
  /** For a RUNNING task run: who has it. */
  readonly claimedBy: {
    readonly instanceId: InstanceId;
    readonly name: string;
    readonly leaseUntil: Date;
  } | null;
}

export interface ClaimableBy {
  readonly instanceId: InstanceId;
  readonly name: string;
  readonly slots: number;
  readonly running: number;
}

/** Which gates are about something that this candidate names. */
function applies(code: WaitingCode, candidate: Candidate): boolean {
  switch (code) {
    case "RUN_AT":
      return candidate.runAt !== null;
    case "VERSION_ORDER":
      return candidate.version !== null;
    case "RUN_LIMIT":
      return candidate.runId !== null;
    case "RESOURCE_BUSY":
      return candidate.resources.length > 0;
  }
}

/** Every gate's verdict on one candidate, without what only the store can add (titles, places in line). */
export function judge(
  candidate: Candidate,
  view: GateView,
): readonly {
  readonly code: WaitingCode;
  readonly state: GateReport["state"];
  readonly causes: readonly WaitingCause[];
}[] {
  return GATE_CODES.map((code) => {
    const causes = GATES[code](candidate, view);
    if (causes.length > 0) return { code, state: "blocking", causes };
    return { code, state: applies(code, candidate) ? "passed" : "not_applicable", causes };
  });
}

/** Everyone a set of causes names. */
export function namedIn(causes: readonly WaitingCause[]): readonly TaskRunId[] {
  return causes.flatMap((cause) => {
    switch (cause.code) {
      case "VERSION_ORDER":
        return [cause.blocker];
      case "RESOURCE_BUSY":
        return cause.blockers;
      case "RUN_AT":
      case "RUN_LIMIT":
        return [];
    }
  });
}
