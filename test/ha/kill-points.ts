/**
 * Every act of an instance that writes, by the statement that marks it: a process can be killed when that was sent, before
 * its transaction commits and after it has. `kill-points.ha.test.ts` sees to it that no statement is missing here.
 */

import type { ReturnRequest } from "../../packages/core/src/store/outside-jobs/let-go.ts";
import type { DyingPoint } from "./instance-messages.ts";
import { readStatements } from "./store-statements.ts";

interface Mark {
  /** The statement's name in the store. */
  readonly statement: string;
  /** Only where this is among its values. */
  readonly value?: ReturnRequest["how"];
  /** Only in this thread. Default: the main one. */
  readonly thread?: "lease";
}

export const ACTS = {
  "an enqueue": { statement: "insertTasks" },
  "an enqueue of one ungated task": { statement: "insertUngatedTask" },
  "an enqueue of many ungated tasks": { statement: "insertManyUngated" },
  "an enqueue under a key": { statement: "takeKey" },
  "a bulk cancel": { statement: "lockTaskRuns" },
  "a cancel": { statement: "cancelTaskRun" },
  "a retry by hand": { statement: "recordRetries" },
  "a deferral by hand": { statement: "deferByHand" },
  "the start of an operation": { statement: "insertOperation" },
  "a bite of an operation": { statement: "moveOperation" },
  "an abort of an operation": { statement: "abortOperation" },
  "the gate lock": { statement: "tryGateLock" },
  "a promotion": { statement: "promoteTaskRuns" },
  "the parking": { statement: "parkTaskRuns" },
  "a refusal of a late version": { statement: "refuseTaskRuns" },
  "a demotion": { statement: "demoteTaskRuns" },
  "a claim": { statement: "claimTaskRuns" },
  "a claim of few": { statement: "claimFew" },
  "a settlement": { statement: "settleTaskRuns" },
  "a settlement of successes": { statement: "succeedTaskRuns" },
  "a hand-off": { statement: "handOff" },
  "a turn of a line": { statement: "goOnInLines" },
  "a settlement by the lease's thread": { statement: "settleTaskRuns", thread: "lease" },
  "a deferral": { statement: "deferTaskRuns" },
  "a kept handle": { statement: "keepHandle" },
  "a let-go": { statement: "letGoTaskRuns" },
  "the taking of outside jobs": { statement: "takeOutsideJobs" },
  "the return of a polled job": { statement: "returnOutsideJobs", value: "answered" },
  "the resumption of a lost job": { statement: "returnOutsideJobs", value: "lost" },
  "the log": { statement: "writeLogs" },
  "a renewal": { statement: "renewLease", thread: "lease" },
  "the reconciliation": { statement: "forgetEndedBatches" },
  "a hand-back": { statement: "handBackTaskRuns" },
  "the search for the lost": { statement: "markLost" },
  "the search for gone neighbours": { statement: "expireGone" },
  "a rescue": { statement: "recordRescue" },
  "the end of a rescue": { statement: "forgetLostBatches" },
  "a queue timeout": { statement: "failOverdue" },
  "a deadline that was kept": { statement: "forgetInTime" },
  "a prune": { statement: "deleteTaskRuns" },
  "the joining": { statement: "joinCluster" },
  "the draining": { statement: "markDraining" },
  "the leaving": { statement: "leaveCluster" },
  "a change of a queue": { statement: "changeQueue" },
  "a change of a key limit": { statement: "changeKeyLimit" },
  "a change of a rate": { statement: "changeRate" },
  "a change of a run limit": { statement: "changeRunLimit" },
  "a change of windows": { statement: "changeWindows" },
  "a pause": { statement: "writePause" },
  "the end of a recall": { statement: "endRecall" },
  "a stop": { statement: "putStop" },
  "the end of a stop": { statement: "takeOffStop" },
  "the release of a reservation": { statement: "standInLineAgain" },
  "a drain request": { statement: "requestDrain" },
  "the end of a drain request": { statement: "endDrain" },
} as const satisfies Record<string, Mark>;

export type ActName = keyof typeof ACTS;

/** Statements that write in a transaction of one of these acts and nowhere else, by what they are about. */
export const ALONG: Readonly<Record<string, readonly string[]>> = {
  enqueueing: ["rememberAnswer", "insertRun", "setQueueDeadlines"],
  ready: [
    "leaveReady",
    "leaveReadyAgain",
    "leaveReadyClosed",
    "leaveReadyStray",
    "leaveReadyNow",
    "leaveReadyOverdue",
  ],
  waiting: ["enterWaiting", "leaveWaiting", "joinLines", "leaveLines", "parkBehindVersions"],
  "holds taken": ["takeHolds", "takeReservedHolds", "countResourceUse", "takeRateSlots"],
  "holds given back": [
    "releaseHolds",
    "keepReservedHolds",
    "reserveHolds",
    "unmarkReserved",
    "dropReserved",
    "discountExclusiveUse",
    "discountSharedUse",
    "leaveRateSlots",
  ],
  rules: ["holdForRunning", "markRunningInQueue", "outdateReady", "beginRecall", "goOnAfter"],
  wakes: ["wakeGates", "wakeGatesAt", "takeWakes"],
  "successes of several claims, where else those of one are": ["succeedMixedTaskRuns"],
  ends: [
    "storeResults",
    "storeOutputsOfDone",
    "insertNextAttempts",
    "closeVersions",
    "forgetBatches",
    "countDownRuns",
    "recordRunEnd",
    "reopenRuns",
  ],
  "outside jobs": ["forgetOutsideJobs", "hastenPolls"],
  operations: ["insertOperationItems", "passOver"],
  logs: ["leaveOutOfLogs"],
  rescue: ["forgetDead"],
  joining: ["carryDrain"],
  retention: [
    "forgetKeys",
    "forgetOperations",
    "deleteStops",
    "deleteTasks",
    "deleteResults",
    "deleteLogs",
    "deleteWaitTimes",
    "deleteQueueDeadlines",
    "deleteOutsideJobs",
    "deleteEmptyRuns",
    "deletePauses",
    "deleteEvents",
    "forgetRanges",
    "rememberRange",
    "endOldWalk",
    "rememberWalk",
    "rememberRest",
  ],
  // With a joining or a renewal after a failover, which the mix does not have.
  timeline: ["knowTimeline", "raiseClaimNo"],
};

export interface KillPoint {
  readonly act: ActName | null;
  readonly point: DyingPoint;
}

const MOMENTS = {
  sent: "after sending",
  "before commit": "before the commit of",
  "after commit": "after the commit of",
};

export function killPoints(): readonly KillPoint[] {
  const texts = new Map(readStatements().map(({ name, text }) => [name, text]));
  const ofActs = Object.entries(ACTS).flatMap(([act, mark]: [string, Mark]) => {
    const { statement, ...where } = mark;
    const text = texts.get(statement);
    if (text === undefined) throw new Error(`The store has no statement ${statement}`);
    return (["sent", "before commit", "after commit"] as const).map((at): KillPoint => {
      const name = `killed ${MOMENTS[at]} ${act}`;
      return { act: act as ActName, point: { name, at, text, ...where } };
    });
  });
  return [
    ...ofActs,
    { act: null, point: { name: "killed at the start of an execution", at: "start" } },
    { act: null, point: { name: "killed after an effect", at: "effect" } },
  ];
}
