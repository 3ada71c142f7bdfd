/**
 * The answer to "why is it not running?": every gate, passed or blocking, with what blocks it. Built
 * from the same gate functions that promote, so that what is shown is what decides.
 */

import { type Candidate, type GateView, ruledOf, type WindowView } from "./gates/gate.ts";
import { GATE_CODES, GATES } from "./gates/gates.ts";
import { windowed } from "./gates/window.ts";
import type { InstanceId, RunId, TaskId, TaskRunId } from "./ids.ts";
import { queueScope } from "./scope.ts";
import type { TaskRunStatus, TaskStatus } from "./task-status.ts";
import type { UnattendedCause } from "./unattended.ts";
import type { GateCode, WaitingCause, WaitingCode } from "./waiting-cause.ts";

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

/** One gate's verdict. */
export interface GateReport {
  readonly code: WaitingCode;
  /** `not_applicable`: the task does not name what this gate is about. */
  readonly state: "passed" | "blocking" | "not_applicable";
  readonly causes: readonly ExplainedCause[];
}

/** One reason why a gate blocks, with who stands in the way. */
export interface ExplainedCause {
  readonly cause: WaitingCause;
  readonly blockers: readonly Blocker[];
  /** 1 is next. Null where this gate has no line. */
  readonly position: number | null;
  readonly lineLength: number | null;
  /** Known only where time alone opens the gate (RUN_AT, WINDOW, RATE_LIMIT); never guessed. */
  readonly earliestAt: Date | null;
}

/** The answer of `explain`: where a task is, since when, and what every gate says about it. */
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
  /** Why nobody is at work on it although no gate holds it; null: a gate does, somebody is, or it has ended. */
  readonly unattended: UnattendedCause | null;
  /** For an AVAILABLE task run that a claim would take: whose claim could be. */
  readonly claimableBy: readonly ClaimableBy[];
  /** For a RUNNING task run: who has it. */
  readonly claimedBy: {
    readonly instanceId: InstanceId;
    readonly name: string;
    readonly leaseUntil: Date;
  } | null;
}

/** A live instance that has an executor for the kind. */
export interface ClaimableBy {
  readonly instanceId: InstanceId;
  readonly name: string;
  readonly slots: number;
  /** What takes up its slots, as far as the database knows. A poll takes none. */
  readonly running: number;
  /** 0: it can claim nothing before something of it has ended. */
  readonly freeSlots: number;
}

/** Which gates are about something that this candidate names. */
const APPLIES: Readonly<Record<GateCode, (candidate: Candidate, view: GateView) => boolean>> = {
  RUN_AT: ({ runAt }) => runAt !== null,
  STOPPED: ({ taskId }, view) => view.stops(taskId).length > 0,
  PAUSED: () => true,
  NO_EXECUTOR: () => true,
  WINDOW: (candidate, view) => windowed(ruledOf(candidate)).some((scope) => hasWindow(view.window(scope))),
  OUT_OF_ORDER: ({ version, outOfOrder }) => version !== null && !outOfOrder,
  VERSION_ORDER: ({ version }) => version !== null,
  RUN_LIMIT: ({ runId }) => runId !== null,
  QUEUE_LIMIT: ({ queue }, view) => view.limit(queueScope(queue)).limit > 0,
  KEY_LIMIT: ({ concurrencyKey }) => concurrencyKey !== null,
  FAIR_SHARE: ({ runId }) => runId !== null,
  RATE_LIMIT: ({ rate }) => rate !== null,
  RESOURCE_BUSY: ({ resources }) => resources.length > 0,
};

function hasWindow(state: WindowView): boolean {
  return state.kind === "closed" || state.until !== null;
}

interface Verdict {
  readonly code: WaitingCode;
  readonly state: GateReport["state"];
  readonly causes: readonly WaitingCause[];
}

/** Every gate's verdict on one candidate, without what only the store can add (titles, places in line). */
export function judge(candidate: Candidate, view: GateView): readonly Verdict[] {
  const verdicts = GATE_CODES.map((code): Verdict => {
    const causes = GATES[code](candidate, view);
    if (causes.length > 0) return { code, state: "blocking", causes };
    return { code, state: APPLIES[code](candidate, view) ? "passed" : "not_applicable", causes };
  });
  if (verdicts.some(({ state }) => state === "blocking")) return verdicts;
  const enqueuedAt = new Date(candidate.enqueuedUs / 1_000);
  const { runAt } = candidate;
  const since = runAt !== null && runAt.getTime() > enqueuedAt.getTime() ? runAt : enqueuedAt;
  const cause: WaitingCause = { code: "NOT_EVALUATED", since };
  return [...verdicts, { code: "NOT_EVALUATED", state: "blocking", causes: [cause] }];
}

/** Everyone a set of causes names. */
export function namedIn(causes: readonly WaitingCause[]): readonly TaskRunId[] {
  return causes.flatMap((cause) => {
    if (cause.code === "VERSION_ORDER") return [cause.blocker];
    return cause.code === "RESOURCE_BUSY" ? cause.blockers : [];
  });
}
