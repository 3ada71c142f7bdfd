/** How long an execution may go on: tells it to stop in time, and gives up on one that does not. */

import type { Outcome, PollAgain } from "../domain/settlement.ts";
import { ExecutionStoppedError } from "../executors/executor.ts";
import { type HeldClaim, stopExecution } from "./held-claims.ts";

/** A look at an outside job is short; a longer one is given up and done again. */
const LONGEST_POLL_MS = 30_000;

export interface ExecutionLimits {
  readonly progress: () => void;
  readonly clear: () => void;
}

/** On the main loop. While that is blocked, the lease's thread watches the running timeout instead. */
export function limitExecution(held: HeldClaim): ExecutionLimits {
  const { timeouts = {} } = held.claim.policy;
  const runningMs = held.claim.job === null ? timeouts.runningMs : LONGEST_POLL_MS;
  const progressMs = held.claim.job === null ? timeouts.progressMs : undefined;
  const running = after(runningMs, () => stopExecution(held, "run_timeout"));
  const idle = after(progressMs, () => stopExecution(held, "no_progress"));
  return {
    progress: () => void idle?.refresh(),
    clear: () => {
      clearTimeout(running);
      clearTimeout(idle);
    },
  };
}

function after(ms: number | undefined, act: () => void): NodeJS.Timeout | undefined {
  return ms === undefined ? undefined : setTimeout(act, ms);
}

/** What became of an execution that was told to stop `obeyMs` ago and still runs; never, for one that obeys. */
export async function stuckOutcome(
  held: HeldClaim,
  work: Promise<unknown>,
  obeyMs: number,
  instanceName: string,
): Promise<Outcome | null> {
  const { signal } = held.stop;
  let timer: NodeJS.Timeout | undefined;
  const stuck = new Promise<void>((resolve) => {
    const wait = (): void => {
      if (Number.isFinite(obeyMs)) timer = setTimeout(resolve, obeyMs);
    };
    if (signal.aborted) wait();
    else signal.addEventListener("abort", wait, { once: true });
  });
  const isStuck = await Promise.race([stuck.then(() => true), work.then(() => false)]);
  clearTimeout(timer);
  return isStuck ? outcomeOfStuck(held, obeyMs, instanceName) : null;
}

/** What becomes of one that goes on outside when its instance parts from it. */
export const POLL_AT_ONCE: PollAgain = {
  kind: "poll_again",
  pollInMs: 0,
  answered: false,
  problem: null,
};

/** When its instance leaves or gives up its lease, others take it from here. A new attempt would begin beside it. */
export function goesOnOutside({ claim, handle }: HeldClaim): boolean {
  return handle === "kept" && (claim.job !== null || claim.policy.onLost === "resume");
}

function outcomeOfStuck(held: HeldClaim, obeyMs: number, instanceName: string): Outcome {
  const { claim } = held;
  const { reason } = held.stop.signal;
  const because = reason instanceof ExecutionStoppedError ? reason.because : "fence";
  const message = `It was told to stop (${because}), did not within ${obeyMs} ms, and still runs on ${instanceName}`;
  // The job is elsewhere and unharmed; only the asking hangs.
  if (claim.job !== null && !claim.job.overdue) return { ...POLL_AT_ONCE, problem: message };
  const isParting = because === "fence" || because === "shutdown";
  if (isParting && goesOnOutside(held)) return POLL_AT_ONCE;
  if (because === "fence") return { kind: "instance_lost", code: "LEASE_LOST", instanceName };
  return { kind: "stuck", message, byShutdown: because === "shutdown" };
}
