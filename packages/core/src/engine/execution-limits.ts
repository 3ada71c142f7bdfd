/** How long an execution may go on: tells it to stop in time, and gives up on one that does not. */

import type { Outcome, PollAgain } from "../domain/settlement.ts";
import { LEFT_BEHIND_GRACE_MS, type ProcessTerms } from "../executors/process/processes.ts";
import type { LeaseSource } from "../executors/process/running-process.ts";
import { namedOf } from "./finished.ts";
import { type HeldClaim, stopExecution } from "./held-claims.ts";
import type { Emit } from "./telemetry.ts";

/** A look at an outside job is short; a longer one is given up and done again. */
const LONGEST_POLL_MS = 30_000;

export interface ExecutionLimits {
  readonly progress: () => void;
  readonly clear: () => void;
}

/** Of most. */
export const NO_LIMITS: ExecutionLimits = { progress: () => {}, clear: () => {} };

/** On the main loop. While that is blocked, the lease's thread and the warden watch the running timeout instead. */
export function limitExecution(held: HeldClaim): ExecutionLimits {
  const runningMs = runningMsOf(held);
  const progressMs = held.claim.job === null ? held.claim.policy.timeouts?.progressMs : undefined;
  if (runningMs === undefined && progressMs === undefined) return NO_LIMITS;
  const running = after(runningMs, () => stopExecution(held, "run_timeout"));
  let judging: NodeJS.Immediate | undefined;
  const idle = after(progressMs, () => {
    // A loop that was blocked has not read yet what was printed or answered meanwhile; by then it has.
    judging = setImmediate(() => stopExecution(held, "no_progress"));
  });
  return {
    progress: () => {
      clearImmediate(judging);
      idle?.refresh();
    },
    clear: () => {
      clearTimeout(running);
      clearTimeout(idle);
      clearImmediate(judging);
    },
  };
}

function runningMsOf({ claim }: HeldClaim): number | undefined {
  return claim.job === null ? claim.policy.timeouts?.runningMs : LONGEST_POLL_MS;
}

export interface ExecutionStart {
  readonly obeyMs: number;
  /** Monotonic time at which it began. */
  readonly begunAtMs: number;
}

/**
 * Under which an execution has processes. An executor that always ends is told to by theirs; anything else
 * may still need them after its signal, until it is taken for stuck.
 */
export function processTerms(
  held: HeldClaim,
  { lease, emit }: { readonly lease: LeaseSource; readonly emit: Emit },
  { obeyMs, begunAtMs }: ExecutionStart,
): ProcessTerms {
  const { claim } = held;
  const runningMs = runningMsOf(held);
  const [obeyedMs, maxGraceMs] = Number.isFinite(obeyMs)
    ? [obeyMs, LEFT_BEHIND_GRACE_MS]
    : [0, Number.POSITIVE_INFINITY];
  return {
    lease,
    deadline: runningMs === undefined ? null : { atMs: begunAtMs + runningMs + obeyedMs, maxGraceMs },
    onEnded: (because) => stopExecution(held, STOPPED_BECAUSE[because]),
    tell: (event) => emit({ ...event, ...namedOf(claim), claimNo: claim.claimNo }),
  };
}

/** Whoever looks at processes may know it before the instance does. */
const STOPPED_BECAUSE = { lease: "fence", run_timeout: "run_timeout", warden_lost: "warden_lost" } as const;

function after(ms: number | undefined, act: () => void): NodeJS.Timeout | undefined {
  return ms === undefined ? undefined : setTimeout(act, ms);
}

export interface ExecutionEnd {
  readonly outcome: Outcome;
  /** It was told to stop `obeyMs` ago and still runs. */
  readonly isStuck: boolean;
}

export interface Execution {
  readonly work: Promise<Outcome>;
  readonly obeyMs: number;
  readonly instanceName: string;
}

/**
 * Tells once what an execution came to; of one that does not obey, what is to become of it while it still runs. By a call
 * and not by a promise: it is done for every task.
 */
export function onEnd(
  held: HeldClaim,
  { work, obeyMs, instanceName }: Execution,
  tell: (end: ExecutionEnd) => void,
): void {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const end = (outcome: Outcome): void => {
    clearTimeout(timer);
    if (!isOver) tell({ outcome, isStuck: false });
    isOver = true;
  };
  held.stop.onStop(() => {
    if (!Number.isFinite(obeyMs)) return;
    timer = setTimeout(() => {
      isOver = true;
      tell({ outcome: outcomeOfStuck(held, obeyMs, instanceName), isStuck: true });
    }, obeyMs);
  });
  // Whatever a handler does is an outcome, also what nobody thought of.
  work.then(end, () => end(STRANGE));
}

const STRANGE: Outcome = {
  kind: "failed",
  code: "HANDLER_FAILED",
  message: "threw something strange",
  retryable: true,
};

/** What becomes of one that goes on outside when its instance parts from it. */
export const POLL_AT_ONCE: PollAgain = {
  kind: "poll_again",
  pollInMs: 0,
  answered: false,
  problem: null,
};

/** When its instance leaves, gives up its lease or loses its warden, others take it from here. A new attempt would begin beside it. */
export function goesOnOutside({ claim, handle }: HeldClaim): boolean {
  return handle === "kept" && (claim.job !== null || claim.policy.onLost === "resume");
}

function outcomeOfStuck(held: HeldClaim, obeyMs: number, instanceName: string): Outcome {
  const { claim } = held;
  const because = held.stop.because ?? "fence";
  const message = `It was told to stop (${because}), did not within ${obeyMs} ms, and still runs on ${instanceName}`;
  // The job is elsewhere and unharmed; only the asking hangs.
  if (claim.job !== null && !claim.job.overdue) return { ...POLL_AT_ONCE, problem: message };
  const interrupted = because === "fence" || because === "shutdown" || because === "warden_lost";
  if (interrupted && goesOnOutside(held)) return POLL_AT_ONCE;
  if (because === "fence") return { kind: "instance_lost", code: "LEASE_LOST", instanceName };
  return { kind: "stuck", message, interrupted };
}
