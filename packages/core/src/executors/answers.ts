/** What an executor can say about its task run, besides an output and an error. */

import { numberOrCalled } from "../domain/called.ts";
import { SchedulerError } from "../domain/errors.ts";
import { requireMembers } from "../domain/require-shape.ts";
import type { NewOutsideJob } from "../domain/settlement.ts";
import { anything, number, objectOf } from "../domain/shape.ts";
import { MAX_DELAY_MS } from "../domain/task-spec.ts";

/** `retry` waits as the task's backoff says; with `afterMs` it waits that long. Both only while attempts are left. */
export type RetryDecision = "retry" | "fail" | { readonly afterMs: number };

/** How an outside job is doing. */
export type PollAnswer =
  | { readonly kind: "running"; readonly pollInMs: number }
  | { readonly kind: "succeeded"; readonly output?: unknown }
  | { readonly kind: "failed"; readonly message: string; readonly retry?: RetryDecision };

/** Thrown by a task whose next attempt must wait that long, whatever its backoff says. It spends an attempt. */
export class RetryLaterError extends Error {
  override readonly name = "RetryLaterError";
  readonly afterMs: number;

  constructor(afterMs: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.afterMs = requireDelay("afterMs", afterMs);
  }
}

/** Thrown by a task that cannot go on now and wants to begin again later. It spends no attempt; see MAX_DEFERRALS. */
export class DeferError extends Error {
  override readonly name = "DeferError";
  readonly delayMs: number;

  constructor(delayMs: number, reason = "asked for a later time") {
    super(reason);
    this.delayMs = requireDelay("delayMs", delayMs);
  }
}

/** Not an output: the work goes on outside. Made by `letGo`. */
export class LetGo {
  readonly job: NewOutsideJob;

  constructor(job: NewOutsideJob) {
    this.job = job;
  }
}

const JOB = objectOf<NewOutsideJob>({ handle: anything, pollInMs: number, deadlineInMs: number }, [
  "pollInMs",
  "deadlineInMs",
]);

/**
 * Returned by a task whose work goes on elsewhere. Its slot is free; its resources stay held. Any instance that knows the
 * kind asks `poll` from time to time, until the job has ended or its deadline has passed.
 */
export function letGo(job: NewOutsideJob): LetGo {
  requireMembers("INVALID_ARGUMENT", "job", job, JOB);
  return new LetGo({
    handle: job.handle,
    pollInMs: requireDelay("pollInMs", job.pollInMs),
    deadlineInMs: requireDelay("deadlineInMs", job.deadlineInMs),
  });
}

export function requireDelay(name: string, ms: number): number {
  if (typeof ms === "number" && ms >= 0 && ms <= MAX_DELAY_MS) return Math.round(ms);
  const problem = `${numberOrCalled(ms)} is not between 0 and ${MAX_DELAY_MS} milliseconds`;
  throw new SchedulerError("INVALID_ARGUMENT", { at: name, problem });
}
