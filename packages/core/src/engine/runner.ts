/** Executes one claim and says what it came to. */

import { SchedulerError } from "../domain/errors.ts";
import { problemWithJson } from "../domain/json-value.ts";
import type { Outcome } from "../domain/settlement.ts";
import { NonRetryableError } from "../executors/define-task.ts";
import {
  type ExecutionContext,
  ExecutionFailedError,
  ExecutionStoppedError,
  type Executor,
} from "../executors/executor.ts";
import type { HeldClaim } from "./held-claims.ts";

const LONGEST_MESSAGE = 2_000;

/** What an instance lends to an execution. */
export interface ExecutionTools extends Pick<ExecutionContext, "log" | "processes"> {
  /** Resolves when all that was logged is stored: once the outcome is, nothing more can be. */
  readonly endLog: () => Promise<void>;
}

export async function execute(
  held: HeldClaim,
  executors: ReadonlyMap<string, Executor>,
  instanceName: string,
  tools: ExecutionTools,
): Promise<Outcome> {
  try {
    return await outcomeOf(held, executors, instanceName, tools);
  } finally {
    await tools.endLog();
  }
}

async function outcomeOf(
  { claim, stop }: HeldClaim,
  executors: ReadonlyMap<string, Executor>,
  instanceName: string,
  { log, processes }: ExecutionTools,
): Promise<Outcome> {
  const executor = executors.get(claim.kind);
  if (executor === undefined) {
    const error = new SchedulerError("UNKNOWN_EXECUTOR", { kind: claim.kind, known: [...executors.keys()] });
    return { kind: "failed", code: error.code, message: error.message, retryable: false };
  }
  try {
    const output: unknown = await executor.execute(claim.input, {
      taskRunId: claim.taskRunId,
      taskId: claim.taskId,
      attempt: claim.attempt,
      fence: claim.claimNo,
      signal: stop.signal,
      log,
      processes,
    });
    return succeeded(output);
  } catch (error) {
    return stopped(stop.signal, error, instanceName) ?? failed(error);
  }
}

function succeeded(output: unknown): Outcome {
  const poison = problemWithJson(output ?? null);
  // A copy: what the handler does with its object afterwards must not reach the database unchecked.
  if (poison === null)
    return { kind: "succeeded", output: JSON.parse(JSON.stringify(output ?? null)) as unknown };
  const where = poison.at === "" ? "The output" : `The output at ${poison.at}`;
  return {
    kind: "failed",
    code: "OUTPUT_NOT_STORABLE",
    message: `${where} ${poison.problem}`,
    retryable: false,
  };
}

/** It threw because it was told to stop: that says nothing about the task. */
function stopped(signal: AbortSignal, error: unknown, instanceName: string): Outcome | null {
  // An executor can learn of the lost lease before the instance does.
  const isFenced = error instanceof ExecutionStoppedError && error.because === "fence";
  if (!signal.aborted && !isFenced) return null;
  const because = signal.reason instanceof ExecutionStoppedError ? signal.reason.because : "fence";
  if (because === "cancel") return { kind: "stopped" };
  return { kind: "instance_lost", code: because === "shutdown" ? "SHUTDOWN" : "LEASE_LOST", instanceName };
}

function failed(error: unknown): Outcome {
  if (error instanceof ExecutionFailedError)
    return { kind: "failed", code: error.code, message: messageOf(error), retryable: error.retryable };
  const refused = error instanceof SchedulerError && error.code === "INVALID_INPUT";
  const retryable = !refused && !(error instanceof NonRetryableError);
  const code = error instanceof SchedulerError ? error.code : "HANDLER_FAILED";
  return { kind: "failed", code, message: messageOf(error), retryable };
}

function messageOf(error: unknown): string {
  let text: string;
  try {
    text = String(error instanceof Error ? error.message : error);
  } catch {
    text = "threw something that cannot be shown";
  }
  // What a handler throws is its own business, but it must be storable: cut first, a cut can halve a pair.
  return text
    .slice(0, LONGEST_MESSAGE)
    .replaceAll("\u0000", "\uFFFD")
    .replace(/\p{Surrogate}/gu, "\uFFFD");
}
