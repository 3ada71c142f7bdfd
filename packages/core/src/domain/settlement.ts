/** Decides what an outcome makes of a task run, and whether a new attempt follows. Pure. */

import { type Backoff, backoffMs } from "./backoff.ts";
import type { ResourceName } from "./resource.ts";
import type { TerminalStatus } from "./task-status.ts";
import type { Version } from "./version.ts";

/** What an execution came to. Losing its instance, its warden or the record of its end is an outcome too, seen by somebody else. */
export type Outcome =
  | { readonly kind: "succeeded"; readonly output: unknown }
  | {
      readonly kind: "failed";
      readonly code: string;
      readonly message: string;
      readonly retryable: boolean;
      /** Instead of what the backoff says. */
      readonly retryInMs?: number;
    }
  | { readonly kind: "stopped" }
  /** It was told to stop, did not, and still runs. `interrupted`: the reason was none of its own. */
  | { readonly kind: "stuck"; readonly message: string; readonly interrupted: boolean }
  | {
      readonly kind: "instance_lost";
      readonly code: "LEASE_LOST" | "SHUTDOWN" | "WARDEN_LOST" | "END_LOST";
      readonly instanceName: string;
    }
  /** It asks for a later time. */
  | { readonly kind: "deferred"; readonly delayMs: number; readonly reason: string | null }
  /** An outside job goes on with it. */
  | ({ readonly kind: "let_go" } & NewOutsideJob)
  | PollAgain;

/** The outside job still runs, as far as is known. */
export interface PollAgain {
  readonly kind: "poll_again";
  readonly pollInMs: number;
  /** Whoever was asked has answered. */
  readonly answered: boolean;
  /** Why there is no answer; null also where the asking was broken off. */
  readonly problem: string | null;
}

export interface NewOutsideJob {
  /** By which any instance finds it again; JSON. */
  readonly handle: unknown;
  readonly pollInMs: number;
  readonly deadlineInMs: number;
}

/** What ends a task run. */
export type Ending = Exclude<Outcome, { readonly kind: "deferred" | "let_go" | "poll_again" }>;

/** How long a task run may wait, run, and run without a sign of progress. What is missing has no bound. */
export interface Timeouts {
  readonly queuedMs?: number;
  readonly runningMs?: number;
  readonly progressMs?: number;
}

export interface RetryPolicy {
  /** Attempts in all, the first included. */
  readonly attempts: number;
  readonly backoff: Backoff;
  /** What follows when the instance that ran it is lost. Without a handle to go on from, `resume` is `retry`. */
  readonly onLost: "retry" | "fail" | "resume";
  readonly timeouts?: Timeouts;
}

/** How often a task may lose its instance before it is taken for the reason. */
export const MAX_INTERRUPTIONS = 3;
/** How often a task run may ask for a later time. */
export const MAX_DEFERRALS = 100;

/** The place of a task run in the chain of attempts of its task. */
export interface AttemptCount {
  readonly attempt: number;
  /** How many of the attempts before this one ended because their instance or its warden was lost. */
  readonly interruptions: number;
}

export interface Settlement {
  readonly status: TerminalStatus;
  /** A stable code that says how it ended. */
  readonly outcome: string;
  readonly output: unknown;
  readonly error: { readonly code: string; readonly message: string } | null;
  /** Not inserted where a cancel was requested: whoever writes it looks at the row. */
  readonly nextAttempt: NextAttempt | null;
}

export interface NextAttempt {
  readonly delayMs: number;
  readonly interruptions: number;
  /**
   * From now on the resources held alone are kept for this task until it ends: the lost attempt may still be
   * at work. What is kept already stays so, whatever this says.
   */
  readonly keepsExclusiveHolds: boolean;
}

/** What is to be written: an end, or one of the ways to go on as the same task run. */
export type Decision =
  | { readonly kind: "end"; readonly settlement: Settlement }
  | Extract<Outcome, { readonly kind: "deferred" | "let_go" | "poll_again" }>;

export function decide(
  outcome: Outcome,
  policy: RetryPolicy,
  count: AttemptCount & { readonly deferrals: number },
  random: number,
): Decision {
  switch (outcome.kind) {
    case "let_go":
    case "poll_again":
      return outcome;
    case "deferred":
      if (count.deferrals < MAX_DEFERRALS) return outcome;
      return { kind: "end", settlement: settle(TOO_MANY_DEFERRALS, policy, count, random) };
    case "succeeded":
    case "failed":
    case "stopped":
    case "stuck":
    case "instance_lost":
      return { kind: "end", settlement: settle(outcome, policy, count, random) };
  }
}

const TOO_MANY_DEFERRALS: Ending = {
  kind: "failed",
  code: "TOO_MANY_DEFERRALS",
  message: `It asked for a later time more than ${MAX_DEFERRALS} times`,
  retryable: false,
};

export function settle(
  outcome: Ending,
  policy: RetryPolicy,
  count: AttemptCount,
  random: number,
): Settlement {
  switch (outcome.kind) {
    case "succeeded":
      return { status: "DONE", outcome: "SUCCEEDED", output: outcome.output, error: null, nextAttempt: null };
    case "stopped":
      return { status: "CANCELED", outcome: "CANCELED", output: null, error: null, nextAttempt: null };
    case "failed":
      return failed(outcome, policy, count, random);
    case "stuck":
      return stuck(outcome, policy, count, random);
    case "instance_lost":
      return lost(outcome.code, lostMessage(outcome), policy, count);
  }
}

function failed(
  outcome: Extract<Outcome, { kind: "failed" }>,
  policy: RetryPolicy,
  { attempt, interruptions }: AttemptCount,
  random: number,
): Settlement {
  // Attempts that ended with their instance say nothing about the task: they do not count against it.
  const failures = attempt - interruptions;
  const again = outcome.retryable && failures < policy.attempts;
  return {
    status: "FAILED",
    outcome: outcome.code,
    output: null,
    error: { code: outcome.code, message: outcome.message },
    nextAttempt: again
      ? {
          delayMs: outcome.retryInMs ?? backoffMs(policy.backoff, failures, random),
          interruptions,
          keepsExclusiveHolds: false,
        }
      : null,
  };
}

/** It may still be at work: until its task ends, nobody else gets what it held alone. */
function stuck(
  { message, interrupted }: Extract<Outcome, { kind: "stuck" }>,
  policy: RetryPolicy,
  count: AttemptCount,
  random: number,
): Settlement {
  const code = "HANDLER_STUCK";
  // A shutdown or a lost warden is no fault of the task, even if its end came late.
  if (interrupted) return lost(code, message, policy, count);
  const settlement = failed({ kind: "failed", code, message, retryable: true }, policy, count, random);
  const { nextAttempt } = settlement;
  return { ...settlement, nextAttempt: nextAttempt && { ...nextAttempt, keepsExclusiveHolds: true } };
}

function lostMessage({ code, instanceName }: Extract<Outcome, { kind: "instance_lost" }>): string {
  switch (code) {
    case "SHUTDOWN":
      return `${instanceName} was shut down while it ran this`;
    case "LEASE_LOST":
      return `The lease of ${instanceName} ran out while it ran this`;
    case "WARDEN_LOST":
      return `The warden of ${instanceName} was lost while it ran this, and its processes were ended (out of memory?)`;
    case "END_LOST":
      return `${instanceName} ran this to its end, and a failover of the database lost the record of how it ended`;
  }
}

function lost(
  code: Extract<Outcome, { kind: "instance_lost" }>["code"] | "HANDLER_STUCK",
  message: string,
  policy: RetryPolicy,
  { interruptions }: AttemptCount,
): Settlement {
  const goesOn = policy.onLost !== "fail";
  const again = goesOn && interruptions < MAX_INTERRUPTIONS;
  const outcome = goesOn && !again ? "TOO_MANY_INTERRUPTIONS" : code;
  return {
    status: "FAILED",
    outcome,
    output: null,
    error: { code: outcome, message },
    nextAttempt: again
      ? { delayMs: 0, interruptions: interruptions + 1, keepsExclusiveHolds: code !== "SHUTDOWN" }
      : null,
  };
}

/** It never started: a larger version is DONE on the resource. To try again would change nothing. */
export function settleTooSmall(given: {
  readonly resource: ResourceName;
  readonly version: Version;
  readonly doneVersion: Version;
}): Settlement {
  const done = `version ${given.doneVersion} is DONE on "${given.resource}"`;
  const message = `Version ${given.version} comes too late: ${done}. Give it a larger version, or allow it with outOfOrder.`;
  const code = "OUT_OF_ORDER";
  return { status: "FAILED", outcome: code, output: null, error: { code, message }, nextAttempt: null };
}
