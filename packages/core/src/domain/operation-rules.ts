/** What an operation can do about a task run, and why not. Pure: the dialog, the count and each bite ask the same. */

import { countUpTo } from "./count.ts";
import type {
  OperationExpectation,
  OperationFilter,
  OperationGroup,
  OperationVerb,
  SkipReason,
} from "./operation.ts";
import { OPEN_STATUSES, type TaskRunStatus } from "./task-status.ts";

/** What the rules look at. */
export interface LookedAt {
  readonly status: TaskRunStatus;
  /** No other attempt of its task followed it. */
  readonly isNewest: boolean;
  /** Somebody has asked it to stop. */
  readonly isCanceling: boolean;
}

/** Null: something can be done about it. */
export function whyNot(verb: OperationVerb, { status, isNewest, isCanceling }: LookedAt): SkipReason | null {
  const isOpen = OPEN_STATUSES.includes(status);
  switch (verb) {
    case "cancel":
      if (!isOpen) return "ENDED";
      return isCanceling ? "CANCELING" : null;
    case "retry":
      if (isOpen) return "OPEN";
      if (status === "DONE") return "DONE";
      return isNewest ? null : "LATER_ATTEMPT";
  }
}

const CAN_BE: Readonly<Record<OperationVerb, readonly TaskRunStatus[]>> = {
  cancel: OPEN_STATUSES,
  retry: ["FAILED", "CANCELED"],
};

/** The statuses that the filter wants and the verb can do something about. */
export function statusesFor(verb: OperationVerb, { status }: OperationFilter): readonly TaskRunStatus[] {
  return CAN_BE[verb].filter((each) => status?.includes(each) ?? true);
}

export interface CountedGroup extends LookedAt {
  readonly count: number;
}

/** `unknownIds` are of no task run. `isCut`: the count stopped at its bound, and there may be more. */
export function expectationOf(
  verb: OperationVerb,
  counted: readonly CountedGroup[],
  { unknownIds, isCut }: { readonly unknownIds: number; readonly isCut: boolean },
): OperationExpectation {
  const groups = new Map<string, OperationGroup>();
  const add = ({ status, reason, count }: OperationGroup): void => {
    const key = `${status} ${reason}`;
    groups.set(key, { status, reason, count: (groups.get(key)?.count ?? 0) + count });
  };
  for (const group of counted) add({ status: group.status, reason: whyNot(verb, group), count: group.count });
  if (unknownIds > 0) add({ status: null, reason: "NOT_FOUND", count: unknownIds });
  // What is done stands first, then the most of what is not.
  const all = [...groups.values()].toSorted(
    (a, b) => Number(a.reason !== null) - Number(b.reason !== null) || b.count - a.count,
  );
  const count = (those: readonly OperationGroup[]): OperationExpectation["matched"] => {
    const sum = those.reduce((total, each) => total + each.count, 0);
    return countUpTo(sum, isCut ? sum + 1 : sum);
  };
  return { matched: count(all), eligible: count(all.filter(({ reason }) => reason === null)), groups: all };
}

/** What one bite came to, to be added to what the operation has done so far. */
export interface BiteResult {
  readonly done: number;
  readonly skipped: readonly { readonly taskRunId: string; readonly reason: SkipReason }[];
  readonly failed: readonly {
    readonly taskRunId: string;
    readonly reason: string;
    readonly detail: string;
  }[];
}

export function countReasons(
  before: Readonly<Partial<Record<SkipReason, number>>>,
  skipped: BiteResult["skipped"],
): Readonly<Partial<Record<SkipReason, number>>> {
  const counts = { ...before };
  for (const { reason } of skipped) counts[reason] = (counts[reason] ?? 0) + 1;
  return counts;
}

/** As whoever locks several task runs takes them. */
export function inOrderOfTaskRuns<Met extends { readonly taskRunId: string }>(
  met: readonly Met[],
): readonly Met[] {
  return met.toSorted((a, b) => (a.taskRunId < b.taskRunId ? -1 : 1));
}

/** As whoever locks several tasks takes them. */
export function inOrderOfTasks<Met extends { readonly taskId: string }>(met: readonly Met[]): readonly Met[] {
  return met.toSorted((a, b) => (a.taskId < b.taskId ? -1 : 1));
}
