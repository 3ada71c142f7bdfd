/** What an execution came to, and what the oracle makes of it. */

import type { Outcome } from "../../packages/core/src/domain/settlement.ts";
import { goesOnOutside, POLL_AT_ONCE } from "../../packages/core/src/engine/execution-limits.ts";
import type { HeldClaim } from "../../packages/core/src/engine/held-claims.ts";
import { took } from "./coverage.ts";
import { DONE, failed, lost, type Meaning, STOPPED } from "./meanings.ts";
import { type Hold, isHeldBy, type ModelTaskRun } from "./model.ts";
import { backToPending, end } from "./moves.ts";
import { type JobAsked, letGoIt, returnIt } from "./outside-jobs.ts";
import { ask, meaningOfPoll } from "./poll-answers.ts";
import type { Scene } from "./scene.ts";
import { DEADLINE_MS, type OutcomeName } from "./steps.ts";

const HOUR_MS = 3_600_000;

const LET_GO: Readonly<Record<"letGo" | "letGoAtOnce" | "letGoTooLong", JobAsked>> = {
  letGo: { handle: "job", pollInMs: HOUR_MS, deadlineInMs: DEADLINE_MS },
  letGoAtOnce: { handle: "short job", pollInMs: 0, deadlineInMs: DEADLINE_MS },
  letGoTooLong: { handle: "long job", pollInMs: 2 * DEADLINE_MS, deadlineInMs: DEADLINE_MS },
};

const OUTCOMES: Readonly<Record<OutcomeName, Outcome>> = {
  success: { kind: "succeeded", output: 1 },
  plainSuccess: { kind: "succeeded", output: null },
  failure: { kind: "failed", code: "HANDLER_FAILED", message: "no", retryable: true },
  failureForGood: { kind: "failed", code: "HANDLER_FAILED", message: "never", retryable: false },
  failureForLater: {
    kind: "failed",
    code: "HANDLER_FAILED",
    message: "not now",
    retryable: true,
    retryInMs: HOUR_MS,
  },
  deferral: { kind: "deferred", delayMs: 0, reason: null },
  deferralForLater: { kind: "deferred", delayMs: HOUR_MS, reason: null },
  stopped: { kind: "stopped" },
  stuck: { kind: "stuck", message: "still there", interrupted: false },
  stuckInShutdown: { kind: "stuck", message: "still there", interrupted: true },
  shutdown: { kind: "instance_lost", code: "SHUTDOWN", instanceName: "one" },
  letGo: { kind: "let_go", ...LET_GO.letGo },
  letGoAtOnce: { kind: "let_go", ...LET_GO.letGoAtOnce },
  letGoTooLong: { kind: "let_go", ...LET_GO.letGoTooLong },
};

export async function outcomeOf(held: HeldClaim, name: OutcomeName): Promise<Outcome> {
  if (held.claim.job !== null) return await ask(held, name);
  const isParting = name === "shutdown" || name === "stuckInShutdown";
  return isParting && goesOnOutside(held) ? POLL_AT_ONCE : OUTCOMES[name];
}

const MEANINGS: Readonly<Record<OutcomeName, (taskRun: ModelTaskRun) => Meaning>> = {
  success: () => DONE,
  plainSuccess: () => DONE,
  stopped: () => STOPPED,
  failure: (taskRun) => failed(taskRun, "HANDLER_FAILED", { later: false, keeps: false }),
  failureForLater: (taskRun) => failed(taskRun, "HANDLER_FAILED", { later: true, keeps: false }),
  failureForGood: () => ({ sort: "end", status: "FAILED", outcome: "HANDLER_FAILED", next: null }),
  // It may still be at work.
  stuck: (taskRun) => failed(taskRun, "HANDLER_STUCK", { later: false, keeps: true }),
  stuckInShutdown: (taskRun) => lost(taskRun, "HANDLER_STUCK", true),
  shutdown: (taskRun) => lost(taskRun, "SHUTDOWN", false),
  deferral: () => ({ sort: "deferred", later: false }),
  deferralForLater: () => ({ sort: "deferred", later: true }),
  letGo: () => ({ sort: "let go", job: LET_GO.letGo }),
  letGoAtOnce: () => ({ sort: "let go", job: LET_GO.letGoAtOnce }),
  letGoTooLong: () => ({ sort: "let go", job: LET_GO.letGoTooLong }),
};

export function meaningOf(scene: Scene, taskRun: ModelTaskRun, name: OutcomeName, hold: Hold): Meaning {
  if (hold.job !== null) return meaningOfPoll(scene, taskRun, name, hold);
  const isParting = name === "shutdown" || name === "stuckInShutdown";
  if (isParting && hold.handle === "kept" && taskRun.task.wish.onLost === "resume") {
    took(scene.coverage, "left to others by its handle");
    return { sort: "polled", afterMs: 0, answered: false };
  }
  return MEANINGS[name](taskRun);
}

interface Claimed {
  readonly claimNo: number;
  readonly by: string;
  /** Takes up in how many ms a job is polled next. */
  readonly nextPolls: Map<ModelTaskRun, number>;
}

/** Answers what the settler must tell: the status it wrote, how it parted from it, or that it was refused. */
export function settleIt(scene: Scene, taskRun: ModelTaskRun, meaning: Meaning, claimed: Claimed): string {
  if (!isHeldBy(taskRun, claimed.by, claimed)) return refuse(scene, taskRun, meaning, claimed);
  switch (meaning.sort) {
    case "end":
      return endIt(scene, taskRun, meaning);
    case "deferred":
      return deferIt(scene, taskRun, meaning.later);
    case "let go":
      took(scene.coverage, taskRun.canceling ? "let go under a cancel" : "let go");
      claimed.nextPolls.set(taskRun, letGoIt(taskRun, meaning.job));
      return meaning.sort;
    case "polled":
      pollAgain(scene, taskRun, meaning, claimed);
      return meaning.sort;
  }
}

function pollAgain(
  { coverage }: Scene,
  taskRun: ModelTaskRun,
  { afterMs, answered }: Extract<Meaning, { sort: "polled" }>,
  { nextPolls }: Claimed,
): void {
  const nextMs = returnIt(taskRun, afterMs);
  if (nextMs !== null) nextPolls.set(taskRun, nextMs);
  // Whoever got an answer lives: the losses before were no fault of the asking.
  if (answered && taskRun.job !== null) taskRun.job.losses = 0;
  took(coverage, "polled again");
}

function refuse({ coverage }: Scene, taskRun: ModelTaskRun, { sort }: Meaning, claimed: Claimed): string {
  took(coverage, "settle refused");
  if (taskRun.claimNo !== claimed.claimNo || taskRun.task.pruned) return "refused";
  // What was canceled under this very claim, by whoever rescued it, is no surprise to it. That others poll on is one: nobody
  // took what it let go or was answered.
  return sort === "end" && taskRun.status === "CANCELED" ? "CANCELED" : "refused";
}

function endIt(
  { coverage }: Scene,
  taskRun: ModelTaskRun,
  { status, outcome, next }: Extract<Meaning, { sort: "end" }>,
): string {
  if (taskRun.letGo) took(coverage, "outside job ended");
  if (status === "FAILED" && taskRun.canceling) {
    end(taskRun, "CANCELED", "CANCELED");
    return "CANCELED";
  }
  end(taskRun, status, outcome, next);
  if (taskRun.task.kept.size > 0) took(coverage, "resource kept");
  return status;
}

function deferIt({ coverage }: Scene, taskRun: ModelTaskRun, later: boolean): string {
  taskRun.deferrals += 1;
  if (taskRun.canceling) {
    end(taskRun, "CANCELED", "CANCELED");
    return "CANCELED";
  }
  backToPending(taskRun, later);
  took(coverage, "deferred");
  return "deferred";
}
