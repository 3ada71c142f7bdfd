import type { TaskRun } from "@signalbox/contract";

interface Rescued {
  readonly lost: TaskRun;
  /** The attempt that followed, where it is among what is known. */
  readonly next: TaskRun | null;
}

/** What dead instances left behind, each with the attempt that followed. */
export function rescuedOf(lost: readonly TaskRun[], known: readonly TaskRun[]): readonly Rescued[] {
  return lost.map((each) => ({
    lost: each,
    next:
      [...known, ...lost].find(
        ({ taskId, attempt }) => taskId === each.taskId && attempt === each.attempt + 1,
      ) ?? null,
  }));
}
