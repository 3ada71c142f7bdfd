import type { TaskRun } from "@signalbox/contract";

export interface Rescued {
  readonly lost: TaskRun;
  /** The attempt that followed, where it is among what is known. */
  readonly next: TaskRun | null;
}

/** How what a dead instance left behind was settled. */
const LOST: ReadonlySet<string> = new Set(["LEASE_LOST", "TOO_MANY_INTERRUPTIONS", "SHUTDOWN"]);
const SHOWN = 20;

export function rescuedOf(taskRuns: readonly TaskRun[]): readonly Rescued[] {
  return taskRuns
    .filter(({ outcome }) => outcome !== null && LOST.has(outcome))
    .slice(0, SHOWN)
    .map((lost) => ({
      lost,
      next:
        taskRuns.find(({ taskId, attempt }) => taskId === lost.taskId && attempt === lost.attempt + 1) ??
        null,
    }));
}
