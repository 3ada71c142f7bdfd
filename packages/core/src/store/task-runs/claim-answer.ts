/**
 * What a claim answers, read for every task: one row with a list for each member, where a row for each task would be taken apart
 * member by member. A part of the claim.
 */

import { asRunId, asTaskId, asTaskRunId } from "../../domain/ids.ts";
import type { RetryPolicy } from "../../domain/settlement.ts";
import type { Claim, Offer } from "./claim.ts";

/** Texts with commas between, and lists of JSON; of each as many as were claimed. */
export interface ClaimedRow {
  /** Null: nothing was claimed. */
  readonly taskRunIds: string | null;
  readonly claimNo: string;
  readonly taskIds: string;
  /** Left out: none is of a run. */
  readonly runIds?: readonly (string | null)[];
  /** A letter for each, t or f. Left out: each is. */
  readonly gated?: string;
  readonly kinds: readonly string[];
  /** Null: as its kind. */
  readonly titles: readonly (string | null)[];
  /** Null: the first attempt, never deferred. */
  readonly counts: readonly (readonly [attempt: number, interruptions: number, deferrals: number] | null)[];
  readonly waitedMs: readonly number[];
  /** Null: as long as it waited. */
  readonly availableMs: readonly (number | null)[];
  readonly inputs: readonly unknown[];
  /** Null: the one that is known. */
  readonly policies: readonly (RetryPolicy | null)[];
  /** Not of each that was claimed, but of each kind in each queue; null: of none. */
  readonly offers?: readonly Offer[] | null;
}

export interface KnownPolicy {
  /** JSON. */
  readonly text: string;
  readonly policy: RetryPolicy;
}

const FIRST = [1, 0, 0] as const;

export function toClaims(row: ClaimedRow, taskRunIds: string, known: KnownPolicy | null): readonly Claim[] {
  notePolicies(row.policies);
  const claimNo = Number(row.claimNo);
  const { gated } = row;
  const taskIds = row.taskIds.split(",");
  return taskRunIds.split(",").map((taskRunId, index) => {
    const kind = at(row.kinds, index);
    const runId = row.runIds === undefined ? null : at(row.runIds, index);
    const [attempt, interruptions, deferrals] = at(row.counts, index) ?? FIRST;
    const waitedMs = at(row.waitedMs, index);
    return {
      taskRunId: asTaskRunId(taskRunId),
      taskId: asTaskId(at(taskIds, index)),
      runId: runId === null ? null : asRunId(runId),
      kind,
      title: at(row.titles, index) ?? kind,
      attempt,
      interruptions,
      deferrals,
      gated: gated === undefined || gated[index] === "t",
      claimNo,
      input: at(row.inputs, index),
      policy: at(row.policies, index) ?? policyOf(known),
      waitedMs,
      availableMs: at(row.availableMs, index) ?? waitedMs,
      job: null,
    };
  });
}

function policyOf(known: KnownPolicy | null): RetryPolicy {
  if (known === null) throw new Error("A policy that nobody knows was not told");
  return known.policy;
}

/** The lists of one row are of one length. */
function at<Item>(list: readonly Item[], index: number): Item {
  return list[index] as Item;
}

/** Nearly all tasks have the same one: one that was told is not told again. */
let lastPolicy: KnownPolicy | null = null;

/** To be asked before a claim is sent, and kept until its answer is there: that of another claim may change it meanwhile. */
export function knownPolicy(): KnownPolicy | null {
  return lastPolicy;
}

function notePolicies(policies: ClaimedRow["policies"]): void {
  for (const policy of policies) {
    if (policy === null) continue;
    lastPolicy = { text: JSON.stringify(policy), policy };
    return;
  }
}
