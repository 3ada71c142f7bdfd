import { isGated, type ResolvedTask } from "../../domain/task-spec.ts";

/** One statement writes all there is of them: they bring no run, need no rate, and have no bound for their waiting. */
export function isPlain({ rate, policy }: ResolvedTask): boolean {
  return rate === null && policy.timeouts?.queuedMs === undefined;
}

/** Nothing that it says by itself keeps it from being AVAILABLE at once. */
export function isUngated(task: ResolvedTask): boolean {
  return isPlain(task) && !isGated(task, false);
}
