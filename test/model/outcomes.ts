/** What an execution came to, and what the oracle makes of it. */

import type { Outcome } from "../../packages/core/src/domain/settlement.ts";
import { took } from "./coverage.ts";
import type { ModelTaskRun } from "./model.ts";
import { backToPending, end, type Next } from "./moves.ts";
import type { Scene } from "./scene.ts";
import type { OutcomeName } from "./steps.ts";

const HOUR_MS = 3_600_000;
const MOST_INTERRUPTIONS = 3;

const OUTCOMES: Readonly<Record<OutcomeName, Outcome>> = {
  success: { kind: "succeeded", output: 1 },
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
  stuck: { kind: "stuck", message: "still there", byShutdown: false },
  stuckInShutdown: { kind: "stuck", message: "still there", byShutdown: true },
  shutdown: { kind: "instance_lost", code: "SHUTDOWN", instanceName: "one" },
};

export function outcomeOf(name: OutcomeName): Outcome {
  return OUTCOMES[name];
}

interface Claimed {
  readonly claimNo: number;
  readonly by: string;
}

/** Answers what the settler must tell: the status it wrote, that it was deferred, or that it was refused. */
export function settleIt(scene: Scene, taskRun: ModelTaskRun, name: OutcomeName, claimed: Claimed): string {
  if (!isCurrent(taskRun, claimed)) return refuse(scene, taskRun, name, claimed);
  if (isDeferral(name)) return deferIt(scene, taskRun, name === "deferralForLater");
  const settlement = SETTLED[name](taskRun);
  if (settlement.status === "FAILED" && taskRun.canceling) {
    end(taskRun, "CANCELED", "CANCELED");
    return "CANCELED";
  }
  end(taskRun, settlement.status, settlement.outcome, settlement.next);
  if (taskRun.task.kept.size > 0) took(scene.coverage, "resource kept");
  return settlement.status;
}

function isCurrent({ status, claimNo, claimedBy }: ModelTaskRun, claimed: Claimed): boolean {
  return status === "RUNNING" && claimNo === claimed.claimNo && claimedBy === claimed.by;
}

function refuse({ coverage }: Scene, taskRun: ModelTaskRun, name: OutcomeName, claimed: Claimed): string {
  took(coverage, "settle refused");
  // What was canceled under this very claim, by whoever rescued it, is no surprise to it.
  const knows = taskRun.claimNo === claimed.claimNo && taskRun.status === "CANCELED";
  return knows && !isDeferral(name) ? "CANCELED" : "refused";
}

type Deferral = "deferral" | "deferralForLater";

function isDeferral(name: OutcomeName): name is Deferral {
  return name === "deferral" || name === "deferralForLater";
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

interface Settled {
  readonly status: "DONE" | "FAILED" | "CANCELED";
  readonly outcome: string;
  readonly next: Next | null;
}

const SETTLED: Readonly<Record<Exclude<OutcomeName, Deferral>, (taskRun: ModelTaskRun) => Settled>> = {
  success: () => ({ status: "DONE", outcome: "SUCCEEDED", next: null }),
  stopped: () => ({ status: "CANCELED", outcome: "CANCELED", next: null }),
  failure: (taskRun) => failed(taskRun, "HANDLER_FAILED", { later: false, keeps: false }),
  failureForLater: (taskRun) => failed(taskRun, "HANDLER_FAILED", { later: true, keeps: false }),
  failureForGood: () => ({ status: "FAILED", outcome: "HANDLER_FAILED", next: null }),
  // It may still be at work.
  stuck: (taskRun) => failed(taskRun, "HANDLER_STUCK", { later: false, keeps: true }),
  stuckInShutdown: (taskRun) => lost(taskRun, "HANDLER_STUCK", true),
  shutdown: (taskRun) => lost(taskRun, "SHUTDOWN", false),
};

/** Attempts that ended with their instance do not count as failures. */
function failed(
  { attempt, interruptions, task }: ModelTaskRun,
  outcome: string,
  { later, keeps }: { readonly later: boolean; readonly keeps: boolean },
): Settled {
  const again = attempt - interruptions < task.wish.attempts;
  const next = again ? { interruptions, later: later || task.wish.backsOff, keeps } : null;
  return { status: "FAILED", outcome, next };
}

function lost({ interruptions, task }: ModelTaskRun, outcome: string, keeps: boolean): Settled {
  if (task.wish.onLost === "fail") return { status: "FAILED", outcome, next: null };
  if (interruptions >= MOST_INTERRUPTIONS)
    return { status: "FAILED", outcome: "TOO_MANY_INTERRUPTIONS", next: null };
  return { status: "FAILED", outcome, next: { interruptions: interruptions + 1, later: false, keeps } };
}
