import type { TaskRun } from "@signalbox/contract";

/** Those FAILED whose task has no later attempt among what is known. Newest first, as they came. Pure. */
export function lastFailures(taskRuns: readonly TaskRun[]): readonly TaskRun[] {
  const newest = new Map<string, number>();
  for (const { taskId, attempt } of taskRuns) newest.set(taskId, Math.max(attempt, newest.get(taskId) ?? 0));
  return taskRuns.filter(
    ({ status, taskId, attempt }) => status === "FAILED" && newest.get(taskId) === attempt,
  );
}
