/** Decides what an outcome makes of a task run, and whether a new attempt follows. Pure. */

import { type Backoff, backoffMs } from "./backoff.ts";
import type { TerminalStatus } from "./task-status.ts";

/** What an execution came to. Losing its instance is an outcome too, seen by somebody else. */
export type Outcome =
  | { readonly kind: "succeeded"; readonly output: unknown }
  | { readonly kind: "failed"; readonly code: string; readonly message: string; readonly retryable: boolean }
  | { readonly kind: "stopped" }
  | {
      readonly kind: "instance_lost";
      readonly code: "LEASE_LOST" | "SHUTDOWN";
      readonly instanceName: string;
    };

export interface RetryPolicy {
  /** Attempts in all, the first included. */
  readonly attempts: number;
  readonly backoff: Backoff;
  /** What follows when the instance that ran it is lost. */
  readonly onLost: "retry" | "fail";
}

/** How often a task may lose its instance before it is taken for the reason. */
export const MAX_INTERRUPTIONS = 3;

/** The place of a task run in the chain of attempts of its task. */
export interface AttemptCount {
  readonly attempt: number;
  /** How many of the attempts before this one ended because their instance was lost. */
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

export function settle(
  outcome: Outcome,
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
    case "instance_lost":
      return lost(outcome, policy, count);
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
      ? { delayMs: backoffMs(policy.backoff, failures, random), interruptions, keepsExclusiveHolds: false }
      : null,
  };
}

function lost(
  { code, instanceName }: Extract<Outcome, { kind: "instance_lost" }>,
  policy: RetryPolicy,
  { interruptions }: AttemptCount,
): Settlement {
  const again = policy.onLost === "retry" && interruptions < MAX_INTERRUPTIONS;
  const outcome = policy.onLost === "retry" && !again ? "TOO_MANY_INTERRUPTIONS" : code;
  const message =
    code === "SHUTDOWN"
      ? `${instanceName} was shut down while it ran this`
      : `The lease of ${instanceName} ran out while it ran this`;
  return {
    status: "FAILED",
    outcome,
    output: null,
    error: { code: outcome, message },
    nextAttempt: again
      ? { delayMs: 0, interruptions: interruptions + 1, keepsExclusiveHolds: code === "LEASE_LOST" }
      : null,
  };
}
