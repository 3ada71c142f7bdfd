/** What an outside job answers whoever polls it, and what the oracle makes of that. */

import type { Outcome } from "../../packages/core/src/domain/settlement.ts";
import type { ExecutionTools } from "../../packages/core/src/engine/execution-tools.ts";
import { type HeldClaim, stopExecution } from "../../packages/core/src/engine/held-claims.ts";
import { execute } from "../../packages/core/src/engine/runner.ts";
import type { PollAnswer } from "../../packages/core/src/executors/answers.ts";
import type { Executor } from "../../packages/core/src/executors/executor.ts";
import { took } from "./coverage.ts";
import { DONE, failed, type Meaning, STOPPED } from "./meanings.ts";
import type { Hold, ModelTaskRun } from "./model.ts";
import type { Scene } from "./scene.ts";
import { DEADLINE_MS, type OutcomeName } from "./steps.ts";

const HOUR_MS = 3_600_000;
/** What cannot be asked is asked again after this. */
const AFTER_A_PROBLEM_MS = 10_000;

const AT_ONCE: PollAnswer = { kind: "running", pollInMs: 0 };
const LATER: PollAnswer = { kind: "running", pollInMs: HOUR_MS };

/** "throws": nothing is learned of the job, and a cancel of it fails. */
const ANSWERS: Readonly<Record<OutcomeName, PollAnswer | "throws">> = {
  success: { kind: "succeeded", output: 1 },
  plainSuccess: { kind: "succeeded" },
  failure: { kind: "failed", message: "no" },
  failureForGood: { kind: "failed", message: "never", retry: "fail" },
  failureForLater: { kind: "failed", message: "not now", retry: { afterMs: HOUR_MS } },
  deferral: AT_ONCE,
  deferralForLater: LATER,
  letGo: LATER,
  letGoAtOnce: AT_ONCE,
  letGoTooLong: { kind: "running", pollInMs: 2 * DEADLINE_MS },
  stopped: "throws",
  stuck: "throws",
  stuckInShutdown: "throws",
  shutdown: "throws",
};

/** As the product does it: by the executor of its kind. */
export async function ask(held: HeldClaim, name: OutcomeName): Promise<Outcome> {
  if (isShutdown(name) && held.stop.because === null) stopExecution(held, "shutdown");
  const { kind } = held.claim;
  return await execute(held, new Map([[kind, executorOf(kind, name)]]), "one", TOOLS);
}

function executorOf(kind: string, name: OutcomeName): Executor {
  const answer = ANSWERS[name];
  return {
    kind,
    execute: refuse,
    poll: async () => (answer === "throws" ? await refuse() : answer),
    cancelOutside: async () => {
      if (answer === "throws") await refuse();
    },
  };
}

async function refuse(): Promise<never> {
  throw new Error("nobody answers");
}

const TOOLS: ExecutionTools = {
  log: () => {},
  processes: { makeFolder: refuse, start: refuse },
  keepHandle: refuse,
  end: () => null,
};

function isShutdown(name: OutcomeName): boolean {
  return name === "shutdown" || name === "stuckInShutdown";
}

export function meaningOfPoll(
  scene: Scene,
  taskRun: ModelTaskRun,
  name: OutcomeName,
  { told, job }: Pick<Hold, "told" | "job">,
): Meaning {
  const asked: Asked = {
    answer: ANSWERS[name],
    isBrokenOff: told || isShutdown(name),
    isOverdue: job?.overdue === true,
  };
  if (job?.cancelRequested === true) return meaningOfCancel(scene, asked);
  return meaningOfAnswer(scene, taskRun, asked);
}

interface Asked {
  readonly answer: PollAnswer | "throws";
  /** Whoever asks was told to stop. */
  readonly isBrokenOff: boolean;
  readonly isOverdue: boolean;
}

function meaningOfCancel({ coverage }: Scene, { answer, isBrokenOff, isOverdue }: Asked): Meaning {
  if (answer !== "throws") return STOPPED;
  took(coverage, "outside job could not be ended");
  if (isBrokenOff) return { sort: "polled", afterMs: 0, answered: false };
  // What cannot be ended must not stay for ever.
  return isOverdue ? STOPPED : { sort: "polled", afterMs: AFTER_A_PROBLEM_MS, answered: false };
}

function meaningOfAnswer({ coverage }: Scene, taskRun: ModelTaskRun, asked: Asked): Meaning {
  const { answer, isBrokenOff, isOverdue } = asked;
  if (answer === "throws") took(coverage, "outside job could not be asked");
  else if (answer.kind === "succeeded") return DONE;
  else if (answer.kind === "failed") return failedOutside(taskRun, answer);
  // Its deadline has passed and it still runs: it is ended.
  if (isOverdue && !isBrokenOff) {
    took(coverage, "outside job ended at its deadline");
    return failed(taskRun, "OUTSIDE_JOB_TIMEOUT", { later: false, keeps: false });
  }
  if (answer !== "throws") return { sort: "polled", afterMs: answer.pollInMs, answered: true };
  return { sort: "polled", afterMs: isBrokenOff ? 0 : AFTER_A_PROBLEM_MS, answered: false };
}

function failedOutside(taskRun: ModelTaskRun, { retry }: Extract<PollAnswer, { kind: "failed" }>): Meaning {
  const code = "OUTSIDE_JOB_FAILED";
  if (retry === "fail") return { sort: "end", status: "FAILED", outcome: code, next: null };
  return failed(taskRun, code, { later: typeof retry === "object", keeps: false });
}
