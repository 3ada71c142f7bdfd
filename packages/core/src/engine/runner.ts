/** Executes one claim and says what it came to. */

import { SchedulerError } from "../domain/errors.ts";
import { writeJson } from "../domain/json-value.ts";
import type { Outcome } from "../domain/settlement.ts";
import {
  DeferError,
  LetGo,
  type PollAnswer,
  type RetryDecision,
  RetryLaterError,
  requireDelay,
} from "../executors/answers.ts";
import { NonRetryableError } from "../executors/define-task.ts";
import {
  type ExecutionContext,
  ExecutionFailedError,
  ExecutionStoppedError,
  type Executor,
} from "../executors/executor.ts";
import type { ClaimedJob } from "../store/task-runs/claim.ts";
import { messageOf, storable } from "./error-message.ts";
import { contextOf } from "./execution-context.ts";
import { goesOnOutside, limitExecution, NO_LIMITS, POLL_AT_ONCE } from "./execution-limits.ts";
import type { ExecutionTools } from "./execution-tools.ts";
import type { HeldClaim } from "./held-claims.ts";
import { ignoreRejection } from "./ignore-rejection.ts";
import { sentenceOn } from "./not-json.ts";

/** What others build on: short, and safe in a log, a metric and a terminal. */
const CODE = /^[A-Z][A-Z0-9_]{0,99}$/;
/** An outside job that could not be asked is asked again after this. */
const POLL_AGAIN_MS = 10_000;

/** Not async, and neither is `run`: of the promises that this makes for every task, each has a reason. */
export function execute(
  held: HeldClaim,
  executors: ReadonlyMap<string, Executor>,
  instanceName: string,
  tools: ExecutionTools,
): Promise<Outcome> {
  const { claim } = held;
  const executor = executors.get(claim.kind);
  if (executor === undefined) {
    const error = new SchedulerError("UNKNOWN_EXECUTOR", { kind: claim.kind, known: [...executors.keys()] });
    return Promise.resolve({ kind: "failed", code: error.code, message: error.message, retryable: false });
  }
  const limits = limitExecution(held);
  const context = contextOf(held, executor, limits.progress, tools);
  const work =
    claim.job === null ? run(held, executor, context, instanceName) : ask(claim.job, executor, context);
  return limits === NO_LIMITS ? work : work.finally(limits.clear);
}

function run(
  held: HeldClaim,
  executor: Executor,
  context: ExecutionContext,
  instanceName: string,
): Promise<Outcome> {
  const failedBy = (error: unknown): Outcome =>
    stopped(held, error, instanceName) ?? deferred(error) ?? failed(error, executor, held.claim.attempt);
  const endedWith = (output: unknown): Outcome => {
    try {
      return output instanceof LetGo ? letGo(output, executor) : succeeded(output);
    } catch (error) {
      return failedBy(error);
    }
  };
  return answerOf(executor, held.claim.input, context).then(endedWith, failedBy);
}

/** Also where an executor of somebody else's throws, or answers something else than a promise. */
function answerOf(executor: Executor, input: unknown, context: ExecutionContext): Promise<unknown> {
  try {
    return Promise.resolve(executor.execute(input, context));
  } catch (error) {
    return Promise.reject(error);
  }
}

function letGo({ job }: LetGo, executor: Executor): Outcome {
  const refuse = (message: string): Outcome => ({
    kind: "failed",
    code: "CANNOT_LET_GO",
    message,
    retryable: false,
  });
  if (executor.poll === undefined)
    return refuse(`"${executor.kind}" let go and has no poll: nobody could ask`);
  const handle = writeJson(job.handle);
  if (handle.kind === "problem") return refuse(sentenceOn("The handle", handle));
  return { kind: "let_go", ...job, handle: JSON.parse(handle.text) as unknown };
}

/** Asks how an outside job is doing. Whatever goes wrong with the asking says nothing about the job. */
async function ask(job: ClaimedJob, executor: Executor, context: ExecutionContext): Promise<Outcome> {
  if (job.cancelRequested) return await endOutside(job, executor, context, { kind: "stopped" });
  const outcome = await pollOutcome(job, executor, context);
  if (outcome.kind !== "poll_again" || !job.overdue || context.signal.aborted) return outcome;
  return await endOutside(job, executor, context, {
    kind: "failed",
    code: "OUTSIDE_JOB_TIMEOUT",
    message: "The outside job did not end before its deadline",
    retryable: true,
  });
}

async function pollOutcome(job: ClaimedJob, executor: Executor, context: ExecutionContext): Promise<Outcome> {
  try {
    const answer = await executor.poll?.(job.handle, context);
    if (answer === undefined) throw new TypeError(`The poll of "${executor.kind}" answered nothing`);
    return outcomeOf(answer);
  } catch (error) {
    if (context.signal.aborted) return POLL_AT_ONCE;
    if (error instanceof NonRetryableError) return failed(error, executor, context.attempt);
    return unanswered(error);
  }
}

function unanswered(error: unknown): Outcome {
  return { kind: "poll_again", pollInMs: POLL_AGAIN_MS, answered: false, problem: messageOf(error) };
}

function outcomeOf(answer: PollAnswer): Outcome {
  switch (answer.kind) {
    case "succeeded":
      return succeeded(answer.output);
    case "failed": {
      const { message, retry = "retry" } = answer;
      return { kind: "failed", code: "OUTSIDE_JOB_FAILED", message: storable(message), ...inAnswer(retry) };
    }
    case "running": {
      const pollInMs = requireDelay("pollInMs", answer.pollInMs);
      return { kind: "poll_again", pollInMs, answered: true, problem: null };
    }
    default:
      // Not by its type, but a poll passes on what others answer.
      throw new TypeError(`A poll answers running, succeeded or failed, not ${String(answer)}`);
  }
}

async function endOutside(
  job: ClaimedJob,
  executor: Executor,
  context: ExecutionContext,
  outcome: Outcome,
): Promise<Outcome> {
  try {
    await executor.cancelOutside?.(job.handle, context);
  } catch (error) {
    // Broken off, which says nothing about the job; unless it took too long.
    const because = becauseOf(context.signal, error);
    if (because !== null && because !== "run_timeout") return POLL_AT_ONCE;
    // It may still be at work. Until its deadline that is tried again; a job that cannot be ended must not stay for ever.
    if (!job.overdue) return unanswered(error);
  }
  return outcome;
}

const NOTHING_TO_TELL: Outcome = { kind: "succeeded", output: null };

function succeeded(output: unknown): Outcome {
  if (output === undefined || output === null) return NOTHING_TO_TELL;
  const written = writeJson(output);
  // A copy: what the handler does with its object afterwards must not reach the database unchecked.
  if (written.kind === "written") return { kind: "succeeded", output: JSON.parse(written.text) as unknown };
  const message = sentenceOn("The output", written);
  return { kind: "failed", code: "OUTPUT_NOT_STORABLE", message, retryable: false };
}

/** It threw because it was told to stop: that says nothing about the task, unless it took too long. */
function stopped(held: HeldClaim, error: unknown, instanceName: string): Outcome | null {
  const because = becauseOf(held.stop.signal, error);
  switch (because) {
    case null:
      return null;
    case "cancel":
      return { kind: "stopped" };
    case "run_timeout":
    case "no_progress":
      return timedOut(held, because);
    case "shutdown":
    case "fence":
    case "warden_lost":
      if (goesOnOutside(held)) return POLL_AT_ONCE;
      return { kind: "instance_lost", code: INTERRUPTED[because], instanceName };
  }
}

const INTERRUPTED = { fence: "LEASE_LOST", shutdown: "SHUTDOWN", warden_lost: "WARDEN_LOST" } as const;

/** Why it was told to stop; null when it was not. */
function becauseOf(signal: AbortSignal, error: unknown): ExecutionStoppedError["because"] | null {
  if (signal.aborted) return signal.reason instanceof ExecutionStoppedError ? signal.reason.because : "fence";
  // An executor can learn of the lost lease before the instance does.
  return error instanceof ExecutionStoppedError && error.because === "fence" ? "fence" : null;
}

function timedOut({ claim }: HeldClaim, because: "run_timeout" | "no_progress"): Outcome {
  const { runningMs, progressMs } = claim.policy.timeouts ?? {};
  const [code, message] =
    because === "run_timeout"
      ? ["RUN_TIMEOUT", `It ran for more than ${runningMs} ms`]
      : ["NO_PROGRESS", `It made no progress for ${progressMs} ms`];
  return { kind: "failed", code, message, retryable: true };
}

function deferred(error: unknown): Outcome | null {
  if (!(error instanceof DeferError)) return null;
  return { kind: "deferred", delayMs: error.delayMs, reason: messageOf(error) };
}

function failed(error: unknown, executor: Executor, attempt: number): Outcome {
  return {
    kind: "failed",
    code: codeOf(error),
    message: messageOf(error),
    ...inAnswer(decisionOn(error, executor, attempt)),
  };
}

/** What is no code would be no outcome: the schema demands one. */
function codeOf(error: unknown): string {
  const says = error instanceof SchedulerError || error instanceof ExecutionFailedError;
  return says && CODE.test(String(error.code)) ? error.code : "HANDLER_FAILED";
}

/** What an error says by itself goes before what its kind makes of errors. */
function decisionOn(error: unknown, executor: Executor, attempt: number): RetryDecision {
  if (isFinal(error)) return "fail";
  if (error instanceof RetryLaterError) return { afterMs: error.afterMs };
  try {
    const decision = executor.decideRetry?.(error, attempt) ?? "retry";
    ignoreRejection(decision);
    if (typeof decision === "object") requireDelay("afterMs", decision.afterMs);
    return decision;
  } catch {
    // A decision that cannot be made must not decide: the task's own policy does.
    return "retry";
  }
}

function isFinal(error: unknown): boolean {
  if (error instanceof SchedulerError) return error.code === "INVALID_INPUT";
  return error instanceof NonRetryableError || (error instanceof ExecutionFailedError && !error.retryable);
}

function inAnswer(decision: RetryDecision): { readonly retryable: boolean; readonly retryInMs?: number } {
  if (typeof decision === "object") return { retryable: true, retryInMs: Math.round(decision.afterMs) };
  // What is none of the decisions decides nothing either.
  return { retryable: decision !== "fail" };
}
