/** Executes one claim and says what it came to. */

import { SchedulerError } from "../domain/errors.ts";
import { problemWithJson } from "../domain/json-value.ts";
import type { Outcome } from "../domain/settlement.ts";
import { NonRetryableError } from "../executors/define-task.ts";
import type { Executor } from "../executors/executor.ts";
import type { HeldClaim, StopReason } from "./held-claims.ts";

const LONGEST_MESSAGE = 2_000;

export async function execute(
  { claim, stop }: HeldClaim,
  executors: ReadonlyMap<string, Executor>,
  instanceName: string,
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
    });
    return succeeded(output);
  } catch (error) {
    return stopped(stop.signal, instanceName) ?? failed(error);
  }
}

function succeeded(output: unknown): Outcome {
  const poison = problemWithJson(output ?? null);
  if (poison === null) return { kind: "succeeded", output: output ?? null };
  const where = poison.at === "" ? "The output" : `The output at ${poison.at}`;
  return {
    kind: "failed",
    code: "OUTPUT_NOT_STORABLE",
    message: `${where} ${poison.problem}`,
    retryable: false,
  };
}

/** It threw because it was told to stop: that says nothing about the task. */
function stopped(signal: AbortSignal, instanceName: string): Outcome | null {
  if (!signal.aborted) return null;
  const reason = signal.reason as StopReason;
  if (reason === "cancel") return { kind: "stopped" };
  return { kind: "instance_lost", code: reason === "shutdown" ? "SHUTDOWN" : "LEASE_LOST", instanceName };
}

function failed(error: unknown): Outcome {
  const retryable = !(error instanceof NonRetryableError || error instanceof SchedulerError);
  const code = error instanceof SchedulerError ? error.code : "HANDLER_FAILED";
  return { kind: "failed", code, message: messageOf(error), retryable };
}

function messageOf(error: unknown): string {
  let text: string;
  try {
    text = error instanceof Error ? error.message : String(error);
  } catch {
    text = "threw something that cannot be shown";
  }
  // What a handler throws is its own business, but it must be storable.
  return text
    .replaceAll("\u0000", "\uFFFD")
    .replace(/\p{Surrogate}/gu, "\uFFFD")
    .slice(0, LONGEST_MESSAGE);
}
