import type { TaskRunId } from "./ids.ts";

/**
 * Where a task run stands among those that wait. Microseconds since 1970, because a Date would drop
 * the part that tells two task runs of one batch apart.
 */
export interface LinePlace {
  readonly taskRunId: TaskRunId;
  /** 0 is the most urgent, 9 the least; -1 is a task that goes on after its instance was lost. */
  readonly priority: number;
  readonly enqueuedUs: number;
}

export function comparePlaces(a: LinePlace, b: LinePlace): number {
  if (a.priority !== b.priority) return a.priority - b.priority;
  if (a.enqueuedUs !== b.enqueuedUs) return a.enqueuedUs - b.enqueuedUs;
  if (a.taskRunId === b.taskRunId) return 0;
  return a.taskRunId < b.taskRunId ? -1 : 1;
}

export function isAhead(a: LinePlace, b: LinePlace): boolean {
  return comparePlaces(a, b) < 0;
}
